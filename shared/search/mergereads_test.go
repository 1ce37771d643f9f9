package search_test

import (
	"fmt"
	"testing"

	"docent/shared/search"
)

// TestAMergeReadsEachPartOfASegmentOnce: the list of documents is needed twice, for their current versions and to renumber.
func TestAMergeReadsEachPartOfASegmentOnce(t *testing.T) {
	t.Parallel()
	const documents = 20_000 // of a segment: their list is larger than what is read at once
	x, lib, _ := newIndex(t)
	x.ReadByRange(1)
	blobs := &counting{Store: x.Blobs}
	x.Blobs = blobs
	for n := range 10 {
		var docs []search.Document
		for i := range documents {
			docs = append(docs, doc("wiki", fmt.Sprint(n, " ", i), "zebra", 1))
		}
		publish(t, x, lib, docs...)
	}
	size := int64(0)
	for f, err := range x.Blobs.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		size += f.Size
	}
	blobs.bytes.Store(0)
	if n := merge(t, x); n != 10 {
		t.Fatalf("merged %d", n)
	}
	if read := blobs.bytes.Load(); read > size*5/4 {
		t.Errorf("read %d bytes of %d", read, size)
	}
}
