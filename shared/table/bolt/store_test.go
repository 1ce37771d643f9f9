package bolt_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"docent/shared/table"
	"docent/shared/table/bolt"
)

func open(t *testing.T, path string) *bolt.Store {
	t.Helper()
	s, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func item(sort string, body []byte) table.Item {
	return table.Item{Key: table.Key{Table: table.Documents, Partition: "p", Sort: sort}, Body: body}
}

func TestSecondOpenIsRefusedInTime(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "docent.db")
	s := open(t, path)
	start := time.Now()
	_, err := bolt.Open(path, bolt.Options{})
	if !errors.Is(err, bolt.ErrInUse) || !strings.Contains(err.Error(), "in use by another process") {
		t.Fatalf("second open: %v", err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("second open took %v", took)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, path)
}

func TestDamagedFilesAreReportedAndLeftAlone(t *testing.T) {
	t.Parallel()
	whole := filepath.Join(t.TempDir(), "docent.db")
	s := open(t, whole)
	for _, sort := range []string{"a", "b", "c"} {
		if err := s.Write(t.Context(), table.Put{Item: item(sort, make([]byte, 300<<10))}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 64<<10)
	for n := range noise {
		noise[n] = byte(n * 7)
	}
	blankMetas := append(make([]byte, 8<<10), data[8<<10:]...)
	for name, content := range map[string][]byte{
		"empty":              {},
		"a few bytes":        data[:100],
		"one page":           data[:4096],
		"two pages":          data[:8192],
		"a third":            data[:300<<10],
		"some pages missing": data[:600<<10],
		"another format":     noise,
		"text":               []byte("not a database"),
		"no meta pages":      blankMetas,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "docent.db")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := bolt.Open(path, bolt.Options{})
			if err == nil {
				s.Close()
			}
			if !errors.Is(err, bolt.ErrDamaged) {
				t.Errorf("open: %v", err)
			}
			left, err := os.ReadFile(path)
			if err != nil || string(left) != string(content) {
				t.Errorf("the file was changed: %d bytes, were %d (%v)", len(left), len(content), err)
			}
		})
	}
}

func TestOpenWithoutFolderIsNoDamage(t *testing.T) {
	t.Parallel()
	_, err := bolt.Open(filepath.Join(t.TempDir(), "none", "docent.db"), bolt.Options{})
	if !errors.Is(err, fs.ErrNotExist) || errors.Is(err, bolt.ErrDamaged) {
		t.Errorf("open: %v", err)
	}
	_, err = bolt.Open(t.TempDir(), bolt.Options{})
	if err == nil || errors.Is(err, bolt.ErrDamaged) {
		t.Errorf("open of a folder: %v", err)
	}
}

// TestADiskThatRefusesIsNoDamage checks what is said of a file that cannot be opened, or is empty because the disk is full.
func TestADiskThatRefusesIsNoDamage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "docent.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	full := &fs.PathError{Op: "write", Path: path, Err: syscall.ENOSPC}
	quota := &fs.PathError{Op: "write", Path: path, Err: syscall.EDQUOT}
	for name, c := range map[string]struct {
		created bool
		err     error
		damaged bool
	}{
		"a new file on a full disk": {true, full, false},
		"an old one":                {false, full, false},
		"an old one, and a quota":   {false, quota, false},
		"a new file":                {true, errors.New("it could not be locked"), false},
		"a read-only disk":          {false, &fs.PathError{Op: "open", Path: path, Err: syscall.EROFS}, false},
		"a disk that fails":         {false, &fs.PathError{Op: "read", Path: path, Err: syscall.EIO}, false},
		"an old file that is empty": {false, errors.New("invalid database"), true},
	} {
		if err := bolt.OpenError(path, c.created, c.err); errors.Is(err, bolt.ErrDamaged) != c.damaged || !c.damaged && !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAFileThatCannotBeMappedIsNotDamaged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "docent.db")
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	for _, refused := range []error{syscall.ENOMEM, syscall.ENODEV} { // too little address space; a file system without mapping
		if err := bolt.OpenError(path, false, refused); errors.Is(err, bolt.ErrDamaged) || !errors.Is(err, refused) {
			t.Errorf("%v: %v", refused, err)
		}
	}
}

func TestReopenKeepsEverythingAndAddsTables(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "docent.db")
	s := open(t, path)
	if err := s.Write(t.Context(), table.Put{Item: item("a", []byte("kept"))}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := bolt.Open(path, bolt.Options{Tables: []string{table.Documents, "new"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := s.Get(t.Context(), item("a", nil).Key)
	if err != nil || string(got.Body) != "kept" {
		t.Errorf("after reopening: %q, %v", got.Body, err)
	}
	if err := s.Write(t.Context(), table.Put{Item: table.Item{Key: table.Key{Table: "new", Partition: "p", Sort: "s"}}}); err != nil {
		t.Errorf("the added table: %v", err)
	}
}

func TestOpenRemovesTablesOfEarlierVersions(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "docent.db")
	old := table.Item{Key: table.Key{Table: "old", Partition: "p", Sort: "s"}}
	reopen := func(o bolt.Options) *bolt.Store {
		t.Helper()
		s, err := bolt.Open(path, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	s := reopen(bolt.Options{Tables: []string{table.Documents, "old"}})
	if err := s.Write(t.Context(), table.Put{Item: old}, table.Put{Item: item("a", []byte("kept"))}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // what is removed already is not an error
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = reopen(bolt.Options{Remove: []string{"old"}})
		if got, err := s.Get(t.Context(), item("a", nil).Key); err != nil || string(got.Body) != "kept" {
			t.Errorf("after removing another table: %q, %v", got.Body, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = reopen(bolt.Options{Tables: []string{table.Documents, "old"}})
	if _, err := s.Get(t.Context(), old.Key); !errors.Is(err, table.ErrNotFound) {
		t.Errorf("an item of the removed table: %v", err)
	}
}

func TestCallsAfterCloseReturnErrClosed(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "docent.db"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	k := item("a", nil).Key
	for name, call := range map[string]func(context.Context) error{
		"Get":      func(ctx context.Context) error { _, err := s.Get(ctx, k); return err },
		"BatchGet": func(ctx context.Context) error { _, err := s.BatchGet(ctx, []table.Key{k}); return err },
		"Query": func(ctx context.Context) error {
			_, err := s.Query(ctx, table.Query{Table: k.Table, Partition: "p"})
			return err
		},
		"Add":   func(ctx context.Context) error { _, err := s.Add(ctx, table.Add{Key: k}); return err },
		"Write": func(ctx context.Context) error { return s.Write(ctx, table.Delete{Key: k}) },
		"Sweep": func(ctx context.Context) error { _, err := s.Sweep(ctx); return err },
	} {
		if err := call(t.Context()); !errors.Is(err, bolt.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
