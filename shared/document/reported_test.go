package document_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/document"
	"docent/shared/table"
)

// TestADamagedDocumentIsReportedOnceAnHour, whichever of its items are met, and however often.
func TestADamagedDocumentIsReportedOnceAnHour(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	var ids []string
	for _, name := range []string{"a", "b"} {
		id, _ := h.put(h.text(name, long("word")))
		ids = append(ids, id)
	}
	h.ruin(func(i table.Item) bool {
		return slices.ContainsFunc(ids, func(id string) bool { return chunksOf(id)(i) || listsOf(id)(i) })
	})
	reported := h.reports()
	meet := func() (names string) {
		*reported = nil
		h.listed(document.Filter{}, table.Window{Limit: 10})
		h.whole(ids)
		for n, id := range ids {
			for _, k := range *reported {
				if strings.Contains(k.Partition+k.Sort, id) {
					names += string(rune('a' + n))
				}
			}
		}
		return names
	}
	if names := meet(); names != "ab" {
		t.Errorf("at first %q", names)
	}
	h.clock.Advance(59 * time.Minute)
	if names := meet(); names != "" {
		t.Errorf("within the hour %q", names)
	}
	h.clock.Advance(time.Minute)
	if names := meet(); names != "ab" {
		t.Errorf("after it %q", names)
	}
}

// whole reads documents as a merge does.
func (h *fixture) whole(ids []string) {
	h.t.Helper()
	parsed := make([]uuid.UUID, len(ids))
	for n, id := range ids {
		parsed[n] = uuid.MustParse(id)
	}
	for _, err := range (document.Corpus{Service: h.Service}).Read(h.t.Context(), teamID, parsed) {
		if err != nil {
			h.t.Fatal(err)
		}
	}
}
