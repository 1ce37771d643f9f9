package bolt_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"docent/shared/table"
	"docent/shared/table/bolt"
)

// TestNothingIsAcknowledgedWhenTheFileIsGone: the open file takes writes, and they are gone with it.
func TestNothingIsAcknowledgedWhenTheFileIsGone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows moves and removes no open file")
	}
	folder := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := bolt.Open(filepath.Join(folder, "docent.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	put := func(sort string) error {
		return s.Write(t.Context(), table.Put{Item: table.Item{Key: spareKey(sort)}})
	}
	moved := func(when string) {
		t.Helper()
		freeing := s.Write(table.Freeing(t.Context()), table.Delete{Key: spareKey("a")})
		for _, err := range []error{put("b"), freeing, s.CheckRoom(t.Context()), s.CheckRoom(table.Freeing(t.Context()))} {
			if !errors.Is(err, table.ErrMoved) || !table.IsUnwritable(err) {
				t.Errorf("%s: %v", when, err)
			}
		}
		if _, err := s.Get(t.Context(), spareKey("a")); err != nil {
			t.Errorf("%s, a read: %v", when, err)
		}
	}
	if err := put("a"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(folder, folder+".old"); err != nil {
		t.Fatal(err)
	}
	moved("moved away")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	other, err := bolt.Open(filepath.Join(folder, "docent.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	moved("replaced")
	if err := errors.Join(os.RemoveAll(folder), os.Rename(folder+".old", folder)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(put("b"), s.CheckRoom(t.Context())); err != nil {
		t.Errorf("put back: %v", err)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	moved("removed")
}
