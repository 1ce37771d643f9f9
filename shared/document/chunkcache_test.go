package document_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/uuid"

	"docent/shared/document"
	"docent/shared/search"
	"docent/shared/table"
)

// TestTextsAreKeptInMemory: the second read of a text takes only its record, and gives the same.
func TestTextsAreKeptInMemory(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"in the record": "# Fees\n\nExpenses are paid back.",
		"in chunks":     strings.Repeat("# Fees\n\nExpenses are paid back within a month. ", 200),
	} {
		h := newFixture(t)
		id, version := h.put(h.text("Handbook", body))
		ref := search.Ref{Document: uuid.MustParse(id), Version: version}
		if len(body) > 3<<10 {
			ref.Chunk = 2
		}
		texts := func(refs ...search.Ref) (map[search.Ref]search.Text, float64) {
			ctx, meter := table.WithMeter(t.Context())
			found, err := document.Corpus{Service: h.Service}.Texts(ctx, teamID, refs)
			if err != nil {
				t.Fatal(err)
			}
			return found, meter.Read().ReadUnits
		}
		first, cost := texts(ref)
		if got := first[ref]; len(first) != 1 || !strings.Contains(body, got.Body) || len(got.Passages) == 0 || got.Title != "Handbook" {
			t.Errorf("%s: %+v", name, first)
		}
		again, less := texts(ref)
		if !reflect.DeepEqual(again, first) || ref.Chunk > 0 && less >= cost {
			t.Errorf("%s: again %+v, for %g units after %g", name, again, less, cost)
		}

		in := h.text("Handbook", body)
		in.Title = "Manual"
		_, next := h.put(in)
		now := ref
		now.Version = next
		if got, _ := texts(ref, now); len(got) != 1 || got[now].Title != "Manual" || got[now].Body != first[ref].Body {
			t.Errorf("%s: after a change %+v", name, got)
		}
		if err := h.Service.Delete(t.Context(), teamID, id, "r2", everyone, anyVersion); err != nil {
			t.Fatal(err)
		}
		if got, _ := texts(ref, now); len(got) != 0 {
			t.Errorf("%s: after the deletion %+v", name, got)
		}
	}
}
