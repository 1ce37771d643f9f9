package dir_test

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"docent/shared/blob"
)

func TestPutFromStoresWhatItReads(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := open(t, folder)
	content := bytes.Repeat([]byte("a page of a file\n"), 50_000)
	if err := s.PutFrom(t.Context(), "a/b", iotest.HalfReader(bytes.NewReader(content))); err != nil {
		t.Fatal(err)
	}
	file, size, err := s.Open(t.Context(), "a/b")
	if err != nil || size != int64(len(content)) {
		t.Fatalf("%d bytes, %v", size, err)
	}
	got, err := io.ReadAll(file)
	if err := errors.Join(err, file.Close()); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := s.PutFrom(t.Context(), "a/b", strings.NewReader("other")); !errors.Is(err, blob.ErrExists) {
		t.Errorf("a second time: %v", err)
	}
	broken := errors.New("the client is gone")
	if err := s.PutFrom(t.Context(), "a/c", io.MultiReader(strings.NewReader("a part"), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("of a broken reader: %v", err)
	}
	if _, _, err := s.Open(t.Context(), "a/c"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("a part is an object: %v", err)
	}
	if err := s.PutFrom(t.Context(), "../c", strings.NewReader("")); !errors.Is(err, blob.ErrInvalid) {
		t.Errorf("a name outside of the store: %v", err)
	}
	if left := entries(t, filepath.Join(folder, "unfinished")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestOneOfManyPutFromWins(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	var wait sync.WaitGroup
	var mu sync.Mutex
	var won []string
	for _, text := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		wait.Go(func() {
			err := s.PutFrom(t.Context(), "file", strings.NewReader(strings.Repeat(text, 100_000)))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won = append(won, text)
			} else if !errors.Is(err, blob.ErrExists) {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	got, err := s.Get(t.Context(), "file")
	if err != nil || len(won) != 1 || string(got) != strings.Repeat(won[0], 100_000) {
		t.Errorf("won %q, stored %d bytes, %v", won, len(got), err)
	}
}
