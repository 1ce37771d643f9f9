package bolt_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"docent/shared/table"
	"docent/shared/table/bolt"
)

// TestADamagedPageIsAnError: whichever page of the file is damaged, opening or reading it returns an error and does not panic, so that
// a copy can continue with what can be read.
func TestADamagedPageIsAnError(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "whole.db")
	s, err := bolt.Open(path, bolt.Options{Tables: []string{table.Documents}})
	if err != nil {
		t.Fatal(err)
	}
	const items = 500
	all := make([]table.Item, items)
	for n := range all {
		all[n] = ofDocument(fmt.Sprint(n))
	}
	if err := s.PutAll(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read, page := 0, os.Getpagesize()
	ruined := filepath.Join(t.TempDir(), "ruined.db")
	for at := 2 * page; at < len(whole); at += page { // the first two pages have a checksum
		if !bytes.ContainsFunc(whole[at:at+page], func(c rune) bool { return c != 0 }) {
			continue // it is not used
		}
		damaged := slices.Clone(whole)
		copy(damaged[at:], "\xff\xff\xff\xff\xff\xff\xff\xff")
		if err := os.WriteFile(ruined, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := bolt.Open(ruined, bolt.Options{Tables: []string{table.Documents}})
		if err != nil {
			continue
		}
		n := 0
		for _, err = range s.Scan(t.Context(), table.Documents) {
			if err != nil {
				break
			}
			n++
		}
		if err == nil && n != items {
			t.Errorf("page %d: %d items and no error", at/page, n)
		}
		if err != nil {
			if read++; !errors.Is(err, bolt.ErrDamaged) {
				t.Errorf("page %d: %v", at/page, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if read == 0 {
		t.Error("no damaged page was read")
	}
}
