// Package bolt keeps tables in one bbolt file: the storage engine of a single
// machine and of tests. One process owns the file. A Write is on disk before it
// returns, and Writes that wait at the same time share one sync.
//
// Each table is a bucket whose keys are partition, NUL, sort. Neither may contain NUL, so
// partitions cannot overlap, and items within one are in the order of the sort key's bytes.
// One more bucket lists expiring items in order of time, so that Sweep reads only items that it
// removes.
package bolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"

	"docent/shared/table"

	bbolt "go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

var _ table.Store = (*Store)(nil)

// Errors of Open and of a closed store, for errors.Is.
var (
	// ErrInUse: another process, or another Store of this process, has the file open.
	ErrInUse = errors.New("in use by another process")
	// ErrDamaged: the file is not a database, or a part of it is missing. It is left as it is.
	ErrDamaged = errors.New("database file is damaged")
	// ErrClosed: the store was closed before the call.
	ErrClosed = errors.New("store is closed")
)

// lockWait is how long Open waits for another process to release the file.
const lockWait = time.Second

// mapBytes is the size of the mapping at the start. A file that outgrows it is mapped again;
// for that, the writer waits for every reader and blocks new ones.
const mapBytes = 1 << 30

// Options changes how Open works; the zero value is right for production.
type Options struct {
	Tables []string         // the tables that exist; nil: table.Names
	Remove []string         // tables of earlier versions: Open deletes them with their items, none of which may expire
	Now    func() time.Time // decides what has expired; nil: time.Now
	Fresh  bool             // nothing was stored yet: a file that its first Open left unfinished, on a full disk or killed, is made again
	Spare  int64            // bytes that a file next to the database occupies, for Writes of table.Freeing on a full disk; 0: none
	NoSync bool             // leaves syncing to the operating system: a power cut may damage the file; for tests
}

// Store is a storage engine on one file.
type Store struct {
	db     *bbolt.DB
	tables map[string]bool
	now    func() time.Time
	spare  spare
	path   string
	file   fs.FileInfo // what was at path when it was opened
	// pageSize is in bytes. db.Info reads it from the mapping, which the committer may be moving.
	pageSize int64
	full     func() error // of tests: the error of a disk when a transaction is written

	mu      sync.Mutex // guards waiting and closed
	waiting []*request
	closed  bool

	wake      chan struct{} // holds one value when waiting or closed has changed
	committed chan struct{} // closed when the committer has ended
	closing   func() error
}

// Open opens the database at path and creates it if it is missing; its folder must exist. The
// error wraps ErrInUse if another process has the file open, and ErrDamaged if the file is
// damaged.
func Open(path string, o Options) (*Store, error) {
	if o.Tables == nil {
		o.Tables = table.Names
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	db, err := openFile(path, o)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	s := &Store{
		db:        db,
		path:      path,
		tables:    make(map[string]bool, len(o.Tables)),
		now:       o.Now,
		pageSize:  int64(db.Info().PageSize),
		wake:      make(chan struct{}, 1),
		committed: make(chan struct{}),
	}
	if s.file, err = os.Stat(path); err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", path, err), db.Close())
	}
	for _, name := range o.Tables {
		s.tables[name] = true
	}
	s.spare.path, s.spare.bytes = path+spareSuffix, o.Spare
	s.spare.make(o.Now())
	s.closing = sync.OnceValue(s.shut)
	go s.commitLoop()
	return s, nil
}

func openFile(path string, o Options) (db *bbolt.DB, err error) {
	// bbolt panics, or reads past the end of the mapping, on a file with damaged pages.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			db, err = nil, fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}()
	created, err := isNew(path, o.Fresh)
	if err == nil && !created {
		err = inspect(path)
	}
	if err != nil {
		return nil, err
	}
	db, err = bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout:         lockWait,
		FreelistType:    bbolt.FreelistMapType,
		NoSync:          o.NoSync,
		NoGrowSync:      o.NoSync,
		InitialMmapSize: initialMap(),
	})
	if err != nil {
		return nil, openError(path, created, err)
	}
	if err := prepare(db, o); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if created && !o.NoSync {
		if err := syncFolder(filepath.Dir(path)); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return db, nil
}

// isNew reports whether there is no database at path yet. If nothing was stored, as fresh says, an unfinished one is none.
func isNew(path string, fresh bool) (bool, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil || !fresh || !info.Mode().IsRegular():
		return false, err
	}
	return emptied(path)
}

// initialMap returns mapBytes on systems where mapping more than the file costs nothing.
// Windows would extend the file, and 32 bits have no room for it.
func initialMap() int {
	if runtime.GOOS == "windows" || strconv.IntSize < 64 {
		return 0
	}
	return mapBytes
}

// inspect compares the file with the length that it records, because bbolt takes an
// empty file for a new database and a shortened one for a complete one.
func inspect(path string) error {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockWait, ReadOnly: true})
	if err != nil {
		return openError(path, false, err)
	}
	defer db.Close()
	tx, err := db.Begin(false)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	defer tx.Rollback()
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() < tx.Size() {
		return fmt.Errorf("%w: it was cut short, %d of %d bytes are left", ErrDamaged, info.Size(), tx.Size())
	}
	return nil
}

// openError returns what err of the file means. A file that this call has created has nothing in it that could be damaged, and a system
// that does not open, read, write or map a file, such as on a disk that is full or read-only, says nothing of what is in it.
func openError(path string, created bool, err error) error {
	if errors.Is(err, bbolterrors.ErrTimeout) {
		return ErrInUse
	}
	var refused *fs.PathError
	var unmapped syscall.Errno // such as for want of address space; errors of other calls are a PathError
	info, statErr := os.Stat(path)
	switch {
	case created || table.IsFull(err) || statErr != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("it is a folder: %w", err)
	case errors.As(err, &refused) && refused.Op != "write": // only an empty file is written to
		return err
	case info.Size() == 0:
		return fmt.Errorf("%w: it is empty; remove it if nothing was stored in it yet", ErrDamaged)
	case errors.As(err, &unmapped):
		return fmt.Errorf("map it into memory: %w", err)
	default:
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
}

// prepare makes the buckets of tables and deletes those of removed ones. It writes only
// when there is something to do, and then in one transaction.
func prepare(db *bbolt.DB, o Options) error {
	ready := false
	err := db.View(func(tx *bbolt.Tx) error {
		ready = tx.Bucket(expiryBucket) != nil
		for _, name := range o.Tables {
			ready = ready && tx.Bucket(bucketName(name)) != nil
		}
		for _, name := range o.Remove {
			ready = ready && tx.Bucket(bucketName(name)) == nil
		}
		return nil
	})
	if err != nil || ready {
		return err
	}
	return db.Update(func(tx *bbolt.Tx) error {
		for _, name := range o.Remove {
			if err := tx.DeleteBucket(bucketName(name)); err != nil && !errors.Is(err, bbolterrors.ErrBucketNotFound) {
				return fmt.Errorf("remove table %q: %w", name, err)
			}
		}
		for _, name := range o.Tables {
			if _, err := tx.CreateBucketIfNotExists(bucketName(name)); err != nil {
				return fmt.Errorf("make table %q: %w", name, err)
			}
		}
		_, err := tx.CreateBucketIfNotExists(expiryBucket)
		return err
	})
}

// syncFolder makes the name of a new file durable.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	if err := folder.Sync(); err != nil && runtime.GOOS != "windows" {
		return errors.Join(err, folder.Close())
	}
	return folder.Close()
}

// Close finishes the Writes that have been accepted, waits for readers and
// releases the file. Calls after it return ErrClosed.
func (s *Store) Close() error { return s.closing() }

func (s *Store) shut() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.signal()
	<-s.committed
	return s.db.Close()
}

// checkTable returns ErrInvalid for a table that the store was not opened with.
func (s *Store) checkTable(name string) error {
	if !s.tables[name] {
		return fmt.Errorf("%w: no table %q", table.ErrInvalid, name)
	}
	return nil
}

// view reads within one transaction, which sees every Write completely or not at all
// and does not wait for writers. It returns an error that wraps ErrDamaged if a page of the file is damaged.
func (s *Store) view(ctx context.Context, read func(*bbolt.Tx) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	// bbolt panics on such a page, or reads past the end of the mapping. Its View ends the transaction nevertheless.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}()
	err = s.db.View(read)
	if errors.Is(err, bbolterrors.ErrDatabaseNotOpen) {
		return ErrClosed
	}
	return err
}
