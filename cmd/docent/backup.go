package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"docent/shared/app"
)

type backupCmd struct {
	To string `arg:"" help:"The file to write, which must not exist; a folder, which gets docent-TIME.tar; or - for standard output."`
	dataFlags
	JSON bool `name:"json" help:"Print JSON with the file and what it contains."`
}

// Validate checks what the types of the flags cannot.
func (c *backupCmd) Validate() error {
	if c.JSON && c.To == "-" {
		return errors.New("--json and - both use standard output")
	}
	return nil
}

// Help is the long help of docent backup.
func (c *backupCmd) Help() string {
	return `Writes everything that was acknowledged before it begins, also while docent serve runs on the data. Requests continue. The backup is one tar file with the database, the objects and the key that encrypts secrets: keep it as safe as the data folder. It is checked while it is written, and has its name only when it is complete. sha256sum can check the files of the archive by the SHA256SUMS in it.

If the data lacks an object, or one cannot be read, the backup has everything else. Standard error then lists what it lacks, and the exit status is 1. The name of an original file contains the id of its document: put that again. docent index rebuild mends segments and vectors.

Examples:

    docent backup /var/backups/docent
    docent backup --data /var/lib/docent - | ssh vault 'cat > docent.tar'`
}

// backupDone is the JSON of docent backup and docent restore.
type backupDone struct {
	File string `json:"file,omitempty"`
	Data string `json:"data,omitempty"`
	app.BackupReport
}

// Run writes the backup.
func (c *backupCmd) Run(ctx context.Context, con *console) error {
	if err := c.exists(); err != nil {
		return err
	}
	if c.To == "-" {
		report, err := app.BackupData(ctx, c.Data, con.out)
		return errors.Join(ofData(err, c.Data), incomplete(con, report, err))
	}
	file, err := c.file(con)
	if err != nil {
		return err
	}
	report, err := writeBackup(file, func(w io.Writer) (app.BackupReport, error) {
		report, err := app.BackupData(ctx, c.Data, w)
		return report, ofData(err, c.Data)
	})
	if err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(con.out, backupDone{File: file, BackupReport: report})
	} else {
		err = printf(con.out, "Wrote %s: %d bytes, %d objects.\n", file, report.Bytes, report.Objects)
	}
	return errors.Join(err, incomplete(con, report, err))
}

// incomplete prints what a backup lacks. It returns errReported if that is anything, unless failed says that there is no backup.
func incomplete(con *console, report app.BackupReport, failed error) error {
	if failed != nil || len(report.Faults) == 0 {
		return nil
	}
	return errors.Join(listFaults(con, report), errReported)
}

// listFaults prints what a backup lacks.
func listFaults(con *console, report app.BackupReport) error {
	if len(report.Faults) == 0 {
		return nil
	}
	return printf(con.err, "The backup lacks what the data lacked when it was made:\n  %s\n", strings.Join(report.Faults, "\n  "))
}

// file returns the name of the backup, which does not exist.
func (c *backupCmd) file(con *console) (string, error) {
	file := c.To
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		removeLeft(file, ".docent-*.tar"+unfinished, con.now())
		file = filepath.Join(file, "docent-"+con.now().UTC().Format("20060102T150405Z")+".tar")
	}
	if err := c.outside(file); err != nil {
		return "", err
	}
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return "", errors.Join(fmt.Errorf("%s exists already; name another file", file), err)
	}
	removeLeft(filepath.Dir(file), literal.Replace("."+filepath.Base(file))+unfinished, con.now())
	return file, nil
}

// literal makes a pattern of filepath.Match that matches a name alone. Windows has no such names, and no such escapes.
var literal = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// An unfinished backup counts as left by a killed process at a time after its last write: leftUnheld if no process of this host
// holds it, because some folders do not show what another host holds, and leftAfter where no file can be held.
const (
	leftUnheld = time.Hour
	leftAfter  = 24 * time.Hour
)

// removeLeft removes the unfinished backups that match a pattern and that killed processes left in a folder. They are hidden, and as
// large as the data. What cannot be removed does not stop a new backup.
func removeLeft(folder, pattern string, now time.Time) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		info, err := e.Info()
		if ours, _ := filepath.Match(pattern, e.Name()); !ours || err != nil || !info.Mode().IsRegular() {
			continue
		}
		path, age := filepath.Join(folder, e.Name()), now.Sub(info.ModTime())
		if age <= leftUnheld {
			continue
		}
		remove := func() error { return os.Remove(path) }
		if err := ifUnheld(path, remove); err != nil && age > leftAfter {
			_ = remove()
		}
	}
}

// outside returns an error if file is in the data folder: only Docent may write there.
func (c *backupCmd) outside(file string) error {
	folder, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return fmt.Errorf("write the backup: %w", err)
	}
	data, err := filepath.EvalSymlinks(c.Data)
	if err != nil {
		return fmt.Errorf("find the data folder: %w", err)
	}
	if folder, err = filepath.Abs(folder); err == nil {
		data, err = filepath.Abs(data)
	}
	if err != nil {
		return fmt.Errorf("write the backup: %w", err)
	}
	if below, err := filepath.Rel(data, folder); err == nil && filepath.IsLocal(below) {
		return fmt.Errorf("%s is in the data folder; write the backup to another place", file)
	}
	return nil
}

// unfinished ends the names of backups that are being written.
const unfinished = ".unfinished-*"

// writeBackup writes a new file by write. The file has its name only when it is complete and on disk.
func writeBackup(file string, write func(io.Writer) (app.BackupReport, error)) (report app.BackupReport, err error) {
	temporary, err := newUnfinished(file)
	if err != nil {
		return report, fmt.Errorf("write the backup: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temporary.Name()) // the first error says why
		}
	}()
	report, err = write(temporary)
	if err := errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return report, err
	}
	if err := os.Rename(temporary.Name(), file); err != nil {
		return report, fmt.Errorf("write the backup: %w", err)
	}
	return report, nil
}

// newUnfinished returns a new file, which no other process takes for one that was left, to be renamed to file.
func newUnfinished(file string) (*os.File, error) {
	for {
		f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+unfinished) // with mode 0600
		if err != nil {
			return nil, err
		}
		_ = hold(f) // where a folder does not support it, its age protects the file
		if _, err := os.Lstat(f.Name()); !errors.Is(err, fs.ErrNotExist) {
			return f, nil
		}
		_ = f.Close() // another backup removed it before it was held
	}
}

type restoreCmd struct {
	From string `arg:"" help:"The backup that docent backup wrote, or - for standard input."`
	dataFlags
	JSON bool `name:"json" help:"Print JSON with the folder and what it contains."`
}

// Help is the long help of docent restore.
func (c *restoreCmd) Help() string {
	return `Restores a backup into a data folder that is empty or missing. Every file is compared with its digest before any is used: if the backup is damaged or incomplete, the folder stays empty. No server opens a folder whose restore was interrupted.

The feed of security events continues with much higher numbers, so that no new event has the id of one that was recorded after the backup. Collectors need do nothing.

Access is that of the backup too: keys that were revoked since work again, as do old secrets of rotated keys, people who were deactivated are active, and rules and groups are as they were. Before you start the server, revoke such keys again (docent key list, docent key revoke). Then let the identity provider provision everybody again, and repeat changes of rules. The security events that a collector has received since name all of it.

Example:

    docent restore --data /var/lib/docent /var/backups/docent/docent-20261123T020000Z.tar`
}

// Run restores the backup.
func (c *restoreCmd) Run(ctx context.Context, con *console) (err error) {
	var from io.Reader
	if c.From == "-" {
		from = standardInput(ctx)
	} else {
		file, err := os.Open(c.From)
		if err != nil {
			return fmt.Errorf("read the backup: %w", err)
		}
		defer func() { _ = file.Close() }() // it was only read
		if info, err := file.Stat(); err == nil && info.IsDir() {
			return fmt.Errorf("%s is a folder; name the backup in it, such as the newest docent-TIME.tar", c.From)
		}
		from = file
	}
	report, err := app.Restore(ctx, c.Data, con.now(), from)
	if errors.Is(err, app.ErrNotEmpty) {
		return fmt.Errorf("%w; restore into an empty folder", err)
	}
	if err != nil {
		return err
	}
	if err := listFaults(con, report); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(con.out, backupDone{Data: c.Data, BackupReport: report})
	}
	return printf(con.out, "Restored the backup of %s into %s: %d bytes, %d objects. Start it with: docent serve --data %s\n"+
		"Keys that were revoked since then work again, people who were deactivated are active, and rules are as they were: see docent help restore.\n",
		date(&report.Created), c.Data, report.Bytes, report.Objects, c.Data)
}
