// Package bolttest opens bolt stores for tests, apart from package bolt so that
// no program links the testing package.
package bolttest

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"docent/shared/table"
	"docent/shared/table/bolt"
)

// Open opens a store with the tables of table.Names in a temporary file. It is
// closed when the test ends.
func Open(t testing.TB) *bolt.Store {
	t.Helper()
	return OpenAt(t, time.Now)
}

// OpenAt is Open with a clock and tables beside those of table.Names.
func OpenAt(t testing.TB, now func() time.Time, extraTables ...string) *bolt.Store {
	t.Helper()
	s, err := bolt.Open(filepath.Join(t.TempDir(), "docent.db"), bolt.Options{
		Tables: slices.Concat(table.Names, extraTables),
		Now:    now,
		NoSync: true,
	})
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
