package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"docent/shared/table"
	"docent/shared/table/bolt"
)

// fullDisk is a store on a disk that has room only while the spare file is gone.
type fullDisk struct {
	t      *testing.T
	s      *bolt.Store
	spare  string
	full   atomic.Bool
	noRoom atomic.Bool  // even while the spare file is gone
	now    atomic.Int64 // in seconds
}

func newFullDisk(t *testing.T) *fullDisk {
	t.Helper()
	return openFullDisk(t, filepath.Join(t.TempDir(), "docent.db"))
}

// newDiskWithoutSpare returns a store on a disk that has less room than the spare takes when the store is opened.
func newDiskWithoutSpare(t *testing.T) *fullDisk {
	t.Helper()
	const full = "/dev/full" // a write to it fails as one on a full disk
	if _, err := os.Stat(full); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("this system has no file that is always full")
	}
	path := filepath.Join(t.TempDir(), "docent.db")
	if err := os.Symlink(full, path+bolt.SpareSuffix); err != nil {
		t.Fatal(err)
	}
	return openFullDisk(t, path)
}

func openFullDisk(t *testing.T, path string) *fullDisk {
	t.Helper()
	d := &fullDisk{t: t, spare: path + bolt.SpareSuffix}
	s, err := bolt.Open(path, bolt.Options{Spare: 1 << 20, Now: func() time.Time { return time.Unix(1_800_000_000+d.now.Load(), 0) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	d.s = s
	s.Fill(func() error {
		if d.noRoom.Load() || d.full.Load() && d.hasSpare() {
			return &fs.PathError{Op: "write", Path: path, Err: syscall.ENOSPC}
		}
		return nil
	})
	return d
}

func (d *fullDisk) hasSpare() bool {
	_, err := os.Stat(d.spare)
	return err == nil
}

func spareKey(sort string) table.Key {
	return table.Key{Table: table.Documents, Partition: "team", Sort: sort}
}

func (d *fullDisk) put(sort string) error {
	return d.s.Write(d.t.Context(), table.Put{Item: table.Item{Key: spareKey(sort)}})
}

func (d *fullDisk) remove(ctx context.Context, sort string) error {
	return d.s.Write(ctx, table.Delete{Key: spareKey(sort)})
}

// TestOnAFullDiskDataIsRemoved and nothing else is written until there is room again.
func TestOnAFullDiskDataIsRemoved(t *testing.T) {
	t.Parallel()
	d := newFullDisk(t)
	freeing := table.Freeing(t.Context())
	for _, sort := range []string{"a", "b", "c"} {
		if err := d.put(sort); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(d.spare); err != nil || info.Size() != 1<<20 {
		t.Fatalf("spare file: %v, %v", info, err)
	}
	d.full.Store(true)
	if err := d.put("d"); !errors.Is(err, syscall.ENOSPC) || !d.hasSpare() {
		t.Errorf("a put: %v; spare %t", err, d.hasSpare())
	}
	if err := d.remove(t.Context(), "a"); !errors.Is(err, syscall.ENOSPC) || !d.hasSpare() {
		t.Errorf("a delete that is no removal of data: %v", err)
	}
	if err := d.remove(freeing, "a"); err != nil || d.hasSpare() {
		t.Errorf("a removal: %v; spare %t", err, d.hasSpare())
	}
	if err := d.put("d"); !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, table.ErrFull) || !strings.Contains(err.Error(), "less than 1 MB are free") {
		t.Errorf("a put takes the room of removals: %v", err)
	}
	if err := d.s.CheckRoom(t.Context()); !errors.Is(err, table.ErrFull) {
		t.Errorf("there is room for other files: %v", err)
	}
	if err := d.s.CheckRoom(freeing); err != nil {
		t.Errorf("there is none for removals: %v", err)
	}
	if err := d.remove(freeing, "b"); err != nil {
		t.Errorf("a second removal: %v", err)
	}
	d.full.Store(false) // somebody has made room
	d.now.Add(1)
	if err := d.s.CheckRoom(t.Context()); err != nil || !d.hasSpare() {
		t.Errorf("room for other files: %v; spare %t", err, d.hasSpare())
	}
	if err := d.put("d"); err != nil {
		t.Errorf("a put with room: %v", err)
	}
}

// TestADiskWithLessThanTheSpareIsWrittenTo until it is full.
func TestADiskWithLessThanTheSpareIsWrittenTo(t *testing.T) {
	t.Parallel()
	d := newDiskWithoutSpare(t)
	if err := errors.Join(d.put("a"), d.s.CheckRoom(t.Context())); err != nil || d.hasSpare() {
		t.Fatalf("a put: %v; spare %t", err, d.hasSpare())
	}
	d.noRoom.Store(true)
	if err := d.put("b"); !errors.Is(err, syscall.ENOSPC) || errors.Is(err, table.ErrFull) {
		t.Errorf("a put that the disk has no room for: %v", err)
	}
	d.noRoom.Store(false)
	if err := d.put("b"); !errors.Is(err, table.ErrFull) || d.hasSpare() {
		t.Errorf("a put takes what is left: %v", err)
	}
	if err := d.remove(table.Freeing(t.Context()), "a"); err != nil {
		t.Errorf("a removal: %v", err)
	}
	d.now.Add(1)
	if err := d.put("b"); err != nil || !d.hasSpare() {
		t.Errorf("a put with room: %v; spare %t", err, d.hasSpare())
	}
}

// TestTheSpareIsMadeLater than Open, when there is room for it.
func TestTheSpareIsMadeLater(t *testing.T) {
	t.Parallel()
	d := newDiskWithoutSpare(t)
	d.now.Add(60)
	if err := d.put("a"); err != nil || d.hasSpare() {
		t.Errorf("a put within minutes: %v; spare %t", err, d.hasSpare())
	}
	d.now.Add(600)
	if err := d.put("b"); err != nil || !d.hasSpare() {
		t.Errorf("a put after minutes: %v; spare %t", err, d.hasSpare())
	}
}

// TestARemovalOutlivesAPutOfItsTransaction that the disk has no room for.
func TestARemovalOutlivesAPutOfItsTransaction(t *testing.T) {
	t.Parallel()
	d := newFullDisk(t)
	if err := d.put("a"); err != nil {
		t.Fatal(err)
	}
	d.full.Store(true)
	release, err := d.s.HoldWriter(table.Put{Item: table.Item{Key: spareKey("held")}})
	if err != nil {
		t.Fatal(err)
	}
	put, removed := make(chan error, 1), make(chan error, 1)
	go func() { put <- d.put("b") }()
	go func() { removed <- d.remove(table.Freeing(t.Context()), "a") }()
	for d.s.Waiting() < 2 {
		runtime.Gosched()
	}
	_ = release() // the disk is full
	if err := <-removed; err != nil {
		t.Errorf("the removal: %v", err)
	}
	if err := <-put; !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("the put: %v", err)
	}
}

// TestOnAFullDiskWhatHasExpiredIsRemoved.
func TestOnAFullDiskWhatHasExpiredIsRemoved(t *testing.T) {
	t.Parallel()
	d := newFullDisk(t)
	if err := d.s.Write(t.Context(), table.Put{Item: table.Item{Key: spareKey("a"), Expires: time.Unix(1_800_000_001, 0)}}); err != nil {
		t.Fatal(err)
	}
	d.full.Store(true)
	d.now.Add(10)
	if removed, err := d.s.Sweep(t.Context()); err != nil || removed != 1 || d.hasSpare() {
		t.Errorf("removed %d, %v; spare %t", removed, err, d.hasSpare())
	}
}

// TestAFileThatMustNotBecomeLarger is answered as a full disk, although bbolt keeps only the text of the error. The spare file is
// another file, so it stays.
func TestAFileThatMustNotBecomeLarger(t *testing.T) {
	t.Parallel()
	d := newFullDisk(t)
	d.s.Fill(func() error {
		return fmt.Errorf("file resize error: %s", &fs.PathError{Op: "truncate", Path: "docent.db", Err: syscall.EFBIG}) //nolint:errorlint // as bbolt does
	})
	for name, err := range map[string]error{"a put": d.put("a"), "a removal": d.remove(table.Freeing(t.Context()), "a")} {
		if !errors.Is(err, syscall.EFBIG) || !d.hasSpare() {
			t.Errorf("%s: %v; spare %t", name, err, d.hasSpare())
		}
	}
	d.s.Fill(func() error { return nil })
	if err := d.put("a"); err != nil {
		t.Errorf("a put when it may: %v", err)
	}
}
