package bolt_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"docent/shared/table"
	"docent/shared/table/bolt"
)

// TestDroppedPagesAreReadAgain: dropping pages from memory during Writes loses no data.
func TestDroppedPagesAreReadAgain(t *testing.T) {
	t.Parallel()
	s, err := bolt.Open(filepath.Join(t.TempDir(), "db"), bolt.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	body := bytes.Repeat([]byte("x"), 100<<10)
	for n := range 50 {
		key := table.Key{Table: table.Documents, Partition: "p", Sort: fmt.Sprint(n)}
		if err := s.Write(t.Context(), table.Put{Item: table.Item{Key: key, Version: 1, Body: body}}); err != nil {
			t.Fatal(err)
		}
		if err := s.DropResident(); err != nil {
			t.Fatal(err)
		}
		item, err := s.Get(t.Context(), key)
		if err != nil || !bytes.Equal(item.Body, body) {
			t.Fatalf("item %d: %d bytes, %v", n, len(item.Body), err)
		}
	}
}
