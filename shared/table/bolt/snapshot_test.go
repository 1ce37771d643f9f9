package bolt_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"docent/shared/table"
	"docent/shared/table/bolt"
)

func TestASnapshotIsTheStoreOfOneMoment(t *testing.T) {
	t.Parallel()
	store, err := bolt.Open(filepath.Join(t.TempDir(), "a.db"), bolt.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	put := func(n int) {
		t.Helper()
		key := table.Key{Table: table.Answers, Partition: "p", Sort: fmt.Sprintf("%04d", n)}
		if err := store.Write(t.Context(), table.Put{Item: table.Item{Key: key, Body: bytes.Repeat([]byte{byte(n)}, 3000)}}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 100 {
		put(n)
	}
	var copied bytes.Buffer
	err = store.Snapshot(t.Context(), func(size int64, database io.WriterTo) error {
		for n := 100; n < 200; n++ {
			put(n)
		}
		written, err := database.WriteTo(&copied)
		if written != size {
			t.Errorf("%d bytes were written, %d announced", written, size)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "b.db")
	if err := os.WriteFile(file, copied.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	second, err := bolt.Open(file, bolt.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	items, err := second.Items(t.Context(), table.Answers)
	if err != nil || len(items) != 100 {
		t.Errorf("%d items, want 100: %v", len(items), err)
	}
}

func TestAFailedSnapshotSaysWhy(t *testing.T) {
	t.Parallel()
	store, err := bolt.Open(filepath.Join(t.TempDir(), "a.db"), bolt.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	if err := store.Snapshot(t.Context(), func(int64, io.WriterTo) error { return full }); !errors.Is(err, full) {
		t.Errorf("Snapshot = %v", err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := store.Snapshot(t.Context(), func(int64, io.WriterTo) error { return nil }); !errors.Is(err, bolt.ErrClosed) {
		t.Errorf("Snapshot of a closed store = %v", err)
	}
}
