//go:build unix

package bolt_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"go.etcd.io/bbolt"

	"docent/shared/table"
	"docent/shared/table/bolt"
)

// TestAFileThatItsFirstOpenLeftUnfinishedIsMadeAgain cuts a new file short wherever a full disk or a kill may have. If something was
// stored beside it, a short file is damage.
func TestAFileThatItsFirstOpenLeftUnfinishedIsMadeAgain(t *testing.T) {
	t.Parallel()
	made := filepath.Join(t.TempDir(), "docent.db")
	open(t, made)
	whole, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	for _, size := range []int{0, 1, 100, page, 2 * page, 3*page + 5} {
		content := whole[:size]
		path := filepath.Join(t.TempDir(), "docent.db")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := bolt.Open(path, bolt.Options{}); !errors.Is(err, bolt.ErrDamaged) {
			if err == nil {
				s.Close()
			}
			t.Errorf("%d bytes beside other data: %v", size, err)
		}
		if left, err := os.ReadFile(path); err != nil || !bytes.Equal(left, content) {
			t.Errorf("%d bytes were changed: %v", size, err)
		}
		s, err := bolt.Open(path, bolt.Options{Fresh: true})
		if err != nil {
			t.Errorf("%d bytes of a first start: %v", size, err)
			continue
		}
		if err := errors.Join(s.Write(t.Context(), table.Put{Item: item("a", []byte("kept"))}), s.Close()); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
		// Nobody has to know that something is stored now.
		if s, err = bolt.Open(path, bolt.Options{Fresh: true}); err != nil {
			t.Errorf("%d bytes, opened again: %v", size, err)
			continue
		}
		if got, err := s.Get(t.Context(), item("a", nil).Key); err != nil || string(got.Body) != "kept" {
			t.Errorf("%d bytes, opened again: %q, %v", size, got.Body, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestASmallDatabaseOfAnotherMachineIsKept: its pages are smaller than this machine's, or the other way round.
func TestASmallDatabaseOfAnotherMachineIsKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "docent.db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: 1024})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := bolt.Open(path, bolt.Options{Fresh: true}); err == nil {
		s.Close()
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(after, before[:28]) {
		t.Errorf("the file begins with %x, want %x: %v", after[:min(28, len(after))], before[:28], err)
	}
}

// TestOneOfManyFirstOpensMakesTheFile: the others wait for it, or are told that it is in use; none makes the file again.
func TestOneOfManyFirstOpensMakesTheFile(t *testing.T) {
	t.Parallel()
	for range 20 {
		path := filepath.Join(t.TempDir(), "docent.db")
		if err := os.WriteFile(path, []byte("unfinished"), 0o600); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		var opened atomic.Int64
		for range 4 {
			all.Go(func() {
				s, err := bolt.Open(path, bolt.Options{Fresh: true})
				if errors.Is(err, bolt.ErrInUse) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				_, err = s.Add(t.Context(), table.Add{Key: item("n", nil).Key, By: map[string]int64{"n": 1}})
				if err := errors.Join(err, s.Close()); err != nil {
					t.Error(err)
				}
				opened.Add(1)
			})
		}
		all.Wait()
		s := open(t, path)
		got, err := s.Get(t.Context(), item("n", nil).Key)
		if err != nil || got.Numbers["n"] != opened.Load() || opened.Load() == 0 {
			t.Errorf("%d opened, %d counted: %v", opened.Load(), got.Numbers["n"], err)
		}
	}
}
