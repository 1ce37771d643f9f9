package dir_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"docent/shared/blob"
	"docent/shared/blob/dir"
)

func wantRange(t *testing.T, s *dir.Store, name, want string) {
	t.Helper()
	if got, err := s.GetRange(t.Context(), name, 1, int64(len(want))); err != nil || string(got) != want {
		t.Errorf("range of %s: %q, %v, want %q", name, got, err, want)
	}
}

func wantNoRange(t *testing.T, s *dir.Store, name string) {
	t.Helper()
	if got, err := s.GetRange(t.Context(), name, 0, 1); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("range of the removed %s: %q, %v", name, got, err)
	}
}

func TestAnObjectThatWasReadByRangeCanBeReplaced(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	reader, other := open(t, folder), open(t, folder)
	for _, remover := range []*dir.Store{reader, other} {
		if err := other.Put(t.Context(), "a/b", []byte("first")); err != nil {
			t.Fatal(err)
		}
		wantRange(t, reader, "a/b", "irs")
		wantRange(t, reader, "a/b", "ir")
		if err := remover.Delete(t.Context(), "a/b"); err != nil {
			t.Fatal(err)
		}
		wantNoRange(t, reader, "a/b")
		if err := other.Put(t.Context(), "a/b", []byte("second")); err != nil {
			t.Fatal(err)
		}
		wantRange(t, reader, "a/b", "econd")
		if err := remover.Delete(t.Context(), "a/b"); err != nil {
			t.Fatal(err)
		}
		wantNoRange(t, reader, "a/b")
	}
}

// A copy of the folder by hard links gives each file a second name, so that removing the object
// leaves one.
func TestARemovedObjectWithASecondNameIsMissing(t *testing.T) {
	t.Parallel()
	for _, linked := range []string{"before the first read", "after it"} {
		folder := t.TempDir()
		reader, other := open(t, folder), open(t, folder)
		if err := other.Put(t.Context(), "a", []byte("first")); err != nil {
			t.Fatal(err)
		}
		if linked == "after it" {
			wantRange(t, reader, "a", "irst")
		}
		if err := os.Link(filepath.Join(folder, dir.PathOf("a")), filepath.Join(folder, "copy")); err != nil {
			t.Fatal(err)
		}
		wantRange(t, reader, "a", "irst")
		if err := other.Delete(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		wantNoRange(t, reader, "a")
	}
}

func TestFewFilesStayOpen(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	const objects = 3 * dir.MaxKept
	for i := range objects {
		if err := s.Put(t.Context(), fmt.Sprint("o", i), fmt.Append(nil, " content of ", i)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		for i := range objects {
			wantRange(t, s, fmt.Sprint("o", i), fmt.Sprint("content of ", i))
			if n := s.Kept(); n > dir.MaxKept {
				t.Fatalf("%d files are open", n)
			}
		}
	}
	if n := s.Kept(); n == 0 {
		t.Error("no file stays open")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := s.Kept(); n != 0 {
		t.Errorf("%d files are open after Close", n)
	}
	if _, err := s.GetRange(t.Context(), "o1", 0, 1); err == nil {
		t.Error("GetRange after Close succeeded")
	}
}

func TestRangesAreReadWhileObjectsAreDeleted(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	for round := range 50 {
		name := fmt.Sprint("o", round%3)
		want := fmt.Sprint("content of round ", round)
		if err := s.Put(t.Context(), name, []byte(" "+want)); err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				for {
					got, err := s.GetRange(t.Context(), name, 1, int64(len(want)))
					if errors.Is(err, blob.ErrNotFound) {
						return
					}
					if err != nil || string(got) != want {
						t.Errorf("range of %s: %q, %v", name, got, err)
						return
					}
				}
			})
		}
		if err := s.Delete(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		wait.Wait()
	}
}
