package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"docent/shared/search"
)

// TestDeletedDocumentsHideNoOthers: many documents that were deleted, but not yet merged away, fit better than all that are left.
func TestDeletedDocumentsHideNoOthers(t *testing.T) {
	t.Parallel()
	for _, deleted := range []int{60, 150, 700} {
		for _, limit := range []int{10, 40} {
			x, lib, _ := newIndex(t)
			var docs []search.Document
			for i := range deleted {
				docs = append(docs, doc("wiki", fmt.Sprint("old", i), "zebra", 1))
			}
			for i := range 5 {
				docs = append(docs, doc("wiki", fmt.Sprint("new", i), "In the grass of the north there is also a zebra, and a lion.", 1))
			}
			publish(t, x, lib, docs...)
			for i := range deleted {
				lib.remove(docs[i].ID)
			}
			titles, _ := ask(t, x, search.Query{Text: "zebra", Limit: limit})
			if slices.Sort(titles); !slices.Equal(titles, []string{"new0", "new1", "new2", "new3", "new4"}) {
				t.Errorf("%d deleted, limit %d: found %q", deleted, limit, titles)
			}
		}
	}
}

// TestDeletedDocumentsHideNoMeaning is the same for documents that are found by their meaning alone.
func TestDeletedDocumentsHideNoMeaning(t *testing.T) {
	t.Parallel()
	x, lib, _ := newMeaningIndex(t)
	var docs []search.Document
	for i := range 120 {
		docs = append(docs, doc("wiki", fmt.Sprint("old", i), "nginx", 1))
	}
	docs = append(docs, doc("wiki", "new", "nginx sends an invoice", 1))
	publishBoth(t, x, lib, docs...)
	for _, d := range docs[:120] {
		lib.remove(d.ID)
	}
	if titles, _ := ask(t, x, search.Query{Text: "proxy"}); !slices.Equal(titles, []string{"new"}) {
		t.Errorf("found %q", titles)
	}
}

// TestFewStalePassagesCostNothing: a question whose page has what it needs reads no further.
func TestFewStalePassagesCostNothing(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	for i := range 3 {
		publish(t, x, lib, doc("wiki", fmt.Sprint("t", i), "zebra", 1))
	}
	publish(t, x, lib, doc("wiki", "t0", "a lion", 2))
	before := lib.calls
	if titles, _ := ask(t, x, search.Query{Text: "zebra"}); len(titles) != 2 || lib.calls != before+1 {
		t.Errorf("found %q in %d reads", titles, lib.calls-before)
	}
}

// TestLongDocumentsTakeNoPlaceOfOthers: a limit is of documents, though many passages of each fit.
func TestLongDocumentsTakeNoPlaceOfOthers(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	for i := range 60 {
		publish(t, x, lib, doc("wiki", fmt.Sprint("t", i), strings.Repeat("## About it\n\nThe zebra eats.\n\n", 6), 1))
	}
	for _, limit := range []int{1, 10, 20, 30, 50} {
		if titles, _ := ask(t, x, search.Query{Text: "zebra", Limit: limit}); len(titles) != limit {
			t.Errorf("limit %d: found %d documents", limit, len(titles))
		}
	}
}
