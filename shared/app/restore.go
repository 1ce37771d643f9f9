package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/shared/audit"
	"docent/shared/blob/dir"
	"docent/shared/table/bolt"
	"docent/shared/team"
)

// unfinishedFolder holds data within a data directory until all of it is there. A directory
// with this folder is never opened.
const unfinishedFolder = "unfinished"

var (
	// ErrNotEmpty means that the directory to restore into holds files.
	ErrNotEmpty = errors.New("the folder is not empty")
	// ErrUnfinished means that a restore or an export into the data directory did not finish.
	ErrUnfinished = errors.New("the data is incomplete: a restore or an export into this folder has not finished")
)

const (
	// restoredAtOnce bounds the objects that Restore writes at the same time.
	restoredAtOnce = 8
	// restoredWhole is the size up to which they are read into memory for that; larger ones are streamed.
	restoredWhole = 1 << 20
)

// Restore makes dataDir from a backup, as of now. The directory must be empty or missing. If
// Restore fails, it is empty again; if the process is killed, OpenLocal refuses the directory.
func Restore(ctx context.Context, dataDir string, now time.Time, backup io.Reader) (report BackupReport, err error) {
	if err := makeEmpty(dataDir); err != nil {
		return report, err
	}
	unfinished := filepath.Join(dataDir, unfinishedFolder)
	if err := os.Mkdir(unfinished, 0o700); err != nil {
		return report, fmt.Errorf("restore: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(unfinished))
		}
	}()
	if report, err = unpack(ctx, unfinished, backup); err != nil {
		return report, err
	}
	if err := continueFeeds(ctx, filepath.Join(unfinished, databaseFile), now); err != nil {
		return report, err
	}
	return report, publish(dataDir)
}

// makeEmpty makes the directory, or returns ErrNotEmpty if it holds anything.
func makeEmpty(dataDir string) error {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return fmt.Errorf("create the data directory: %w", err)
	}
	entries, err := os.ReadDir(dataDir)
	if err != nil {
		return fmt.Errorf("read the data directory: %w", err)
	}
	for _, e := range entries {
		switch e.Name() {
		case "lost+found": // of a file system that is mounted there
		case unfinishedFolder:
			return fmt.Errorf("%w; remove what is in %s, and try again", ErrUnfinished, dataDir)
		default:
			return fmt.Errorf("%w: %s holds %s", ErrNotEmpty, dataDir, e.Name())
		}
	}
	return nil
}

// unpack writes the files of a backup into folder, durably.
func unpack(ctx context.Context, folder string, backup io.Reader) (BackupReport, error) {
	objects, err := dir.Open(filepath.Join(folder, blobsFolder))
	if err != nil {
		return BackupReport{}, err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(restoredAtOnce)
	report, err := ReadBackup(backup, func(name string, size int64, content io.Reader) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if object, ok := strings.CutPrefix(name, blobsFolder+"/"); ok {
			if size > restoredWhole {
				return objects.PutFrom(ctx, object, backupFile{content})
			}
			data, err := io.ReadAll(content)
			if err != nil {
				return fmt.Errorf("%w: %w", errBackupIncomplete, err)
			}
			group.Go(func() error { return objects.Put(ctx, object, data) })
			return nil
		}
		if name != databaseFile && name != keyFile {
			return fmt.Errorf("%w: it holds the unknown file %q", errBackupIncomplete, name)
		}
		return writeNew(filepath.Join(folder, name), backupFile{content})
	})
	if put := group.Wait(); put != nil {
		err = put // the other error is that ctx ended, or a second one
	}
	return report, errors.Join(err, objects.Close())
}

// backupFile is a file of a backup whose early end means that the backup is incomplete.
type backupFile struct{ io.Reader }

func (w backupFile) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", errBackupIncomplete, err)
	}
	return n, err
}

// writeNew is writeOnce for content of any size.
func writeNew(path string, content io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Sync(), f.Close())
}

// continueFeeds opens the restored database, which it checks thereby, and makes every team's feed of
// security events continue above all numbers that may have been used since the backup.
func continueFeeds(ctx context.Context, file string, now time.Time) (err error) {
	store, err := bolt.Open(file, bolt.Options{Remove: []string{queueTable}, Now: func() time.Time { return now }})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	ids, err := team.IDs(ctx, store)
	if err != nil {
		return err
	}
	return audit.SkipNumbers(ctx, store, now, ids)
}

// publish moves complete data from the unfinished folder to dataDir. It continues where an
// interrupted one has stopped.
func publish(dataDir string) error {
	unfinished := filepath.Join(dataDir, unfinishedFolder)
	if err := syncFolder(unfinished); err != nil {
		return err
	}
	for _, name := range []string{blobsFolder, keyFile, databaseFile} {
		final := filepath.Join(dataDir, name)
		err := os.Rename(filepath.Join(unfinished, name), final)
		if errors.Is(err, fs.ErrNotExist) {
			_, err = os.Lstat(final) // it was moved before
		}
		if err != nil {
			return fmt.Errorf("publish the data: %w", err)
		}
	}
	if err := syncFolder(dataDir); err != nil {
		return err
	}
	if err := os.RemoveAll(unfinished); err != nil {
		return fmt.Errorf("publish the data: %w", err)
	}
	return syncFolder(dataDir)
}

// syncFolder makes the entries of a folder durable.
func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return fmt.Errorf("sync %s: %w", folder, err)
	}
	err = f.Sync()
	if runtime.GOOS == "windows" { // it has no such call
		err = nil
	}
	return errors.Join(err, f.Close())
}

// refuseUnfinished returns ErrUnfinished for a directory whose data is incomplete.
func refuseUnfinished(dataDir string) error {
	_, err := os.Lstat(filepath.Join(dataDir, unfinishedFolder))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look at the data directory: %w", err)
	}
	return fmt.Errorf("%w: %s", ErrUnfinished, dataDir)
}
