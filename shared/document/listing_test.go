package document_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/document"
	"docent/shared/search"
	"docent/shared/table"
)

// walked returns the titles of the issues as a sync finds them, or as a rebuild of the index does.
func (h *fixture) walked(titles map[string]string, rebuild bool) string {
	h.t.Helper()
	var found []string
	if !rebuild {
		for e, err := range h.Items(h.t.Context(), teamID, h.issue, search.Issues, true) {
			if err != nil {
				h.t.Fatal(err)
			}
			found = append(found, e.Title)
		}
		return strings.Join(found, " ")
	}
	for after := ""; ; {
		page, err := document.Corpus{Service: h.Service}.List(h.t.Context(), teamID, h.issue, search.Issues, after, 1)
		if err != nil {
			h.t.Fatal(err)
		}
		if len(page) == 0 {
			return strings.Join(found, " ")
		}
		found, after = append(found, titles[page[0].Document.String()]), page[0].Place
	}
}

// TestADamagedEntryHidesNoItem: who lists a source to remove what is gone, to take readers away or to index anew finds a document
// whose entry in the list is damaged, and the list has it again.
func TestADamagedEntryHidesNoItem(t *testing.T) {
	t.Parallel()
	for name, rebuild := range map[string]bool{"a sync": false, "a rebuild": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			var ids []string
			titles := map[string]string{}
			for _, title := range []string{"oldest", "middle", "newest"} {
				in := h.item(title, "body", h.clock.Now())
				in.Created = h.clock.Now()
				id, _ := h.put(in)
				ids, titles[id] = append(ids, id), title
				h.clock.Advance(time.Hour)
			}
			keys, reported := h.ruin(listsOf(ids[1])), h.reports()
			h.ruin(listsOf(ids[2]))
			for range 2 {
				if all := h.walked(titles, rebuild); all != "newest middle oldest" {
					t.Errorf("found %q", all)
				}
			}
			if !slices.Contains(*reported, keys[0]) {
				t.Errorf("reported %v", *reported)
			}
			if _, err := h.Table.Get(t.Context(), keys[0]); err != nil {
				t.Errorf("the entry: %v", err)
			}
			h.ruin(func(i table.Item) bool { return recordOf(ids[1])(i) || listsOf(ids[1])(i) })
			if all := h.walked(titles, rebuild); all != "newest oldest" {
				t.Errorf("with a damaged record: found %q", all)
			}
		})
	}
}
