// Package bolttest opens bolt stores for tests, apart from package bolt so that
// no program links the testing package.
package bolttest

import (
	"path/filepath"
	"testing"
	"time"

	"docent/shared/table/bolt"
)

// Open opens a store with the tables of table.Names in a temporary file. It is
// closed when the test ends.
func Open(t testing.TB) *bolt.Store {
	t.Helper()
	return OpenAt(t, time.Now)
}

// OpenAt is Open with a clock.
func OpenAt(t testing.TB, now func() time.Time) *bolt.Store {
	t.Helper()
	s, err := bolt.Open(filepath.Join(t.TempDir(), "docent.db"), bolt.Options{Now: now, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
	})
	return s
}
