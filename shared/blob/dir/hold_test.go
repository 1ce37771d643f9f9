package dir_test

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"docent/shared/blob"
	"docent/shared/blob/dir"
)

func TestAHoldKeepsWhatIsDeleted(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	put := func(name, content string) {
		t.Helper()
		if err := s.Put(t.Context(), name, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	put("a/1", "first")
	put("a/2", "second")
	hold, err := s.Hold()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Hold(); !errors.Is(err, dir.ErrHeld) {
		t.Errorf("a second Hold: %v", err)
	}
	if err := s.Delete(t.Context(), "a/1", "a/missing"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "a/1"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("a deleted object is read: %v", err)
	}
	put("a/3", "third")
	names, err := hold.Names(t.Context())
	if err != nil || !slices.Equal(names, []string{"a/1", "a/2", "a/3"}) {
		t.Errorf("Names = %q, %v", names, err)
	}
	for name, want := range map[string]string{"a/1": "first", "a/2": "second"} {
		file, size, err := hold.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(file)
		if err := errors.Join(err, file.Close()); err != nil || string(got) != want || size != int64(len(want)) {
			t.Errorf("%s = %q of %d bytes, %v", name, got, size, err)
		}
	}
	if _, _, err := hold.Open("a/missing"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("a missing object: %v", err)
	}
	if err := hold.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := s.Hold()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := again.Open("a/1"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("an object deleted before the Hold: %v", err)
	}
	if err := hold.Release(); err != nil { // released already: the second Hold stays
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "a/2"); err != nil {
		t.Fatal(err)
	}
	if file, _, err := again.Open("a/2"); err != nil || file.Close() != nil {
		t.Errorf("the second Hold lost an object: %v", err)
	}
	if err := again.Release(); err != nil {
		t.Fatal(err)
	}
}

// TestAHoldNeedsNoRoom: the disk may be full when it is copied. No folder is made, also not for what is deleted.
func TestAHoldNeedsNoRoom(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := open(t, folder)
	if err := s.Put(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	before := entries(t, folder)
	for range 2 {
		hold, err := s.Hold()
		if err != nil {
			t.Fatal(err)
		}
		if after := entries(t, folder); !slices.Equal(before, after) {
			t.Errorf("the Hold made %q of %q", after, before)
		}
		if err := s.Delete(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if after := entries(t, folder); !slices.Equal(before, after) {
			t.Errorf("a deletion made %q of %q", after, before)
		}
		if err := hold.Release(); err != nil {
			t.Error(err)
		}
		if after := entries(t, folder); !slices.Equal(before, after) {
			t.Errorf("the end of the Hold made %q of %q", after, before)
		}
		if left := entries(t, filepath.Join(folder, "held")); len(left) > 0 {
			t.Errorf("%q are left", left)
		}
	}
}
