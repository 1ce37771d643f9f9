package app

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/search"
)

// asksPerDay is the number of questions that a benchmark asks on one day.
const asksPerDay = 900

// BenchmarkOperations measures what each operation computes: through the real
// handler, on a file that is not synced, in a team of 600 documents.
func BenchmarkOperations(b *testing.B) {
	c := newCosts(b, batchesPerSource, nil, func(e engines, _ *pace) engines { return e })
	n := 0
	for _, operation := range []struct {
		name string
		run  func()
	}{
		{"GET collection", func() { c.do(c.teamKey, "GET", "/collections/"+c.collections[0], nil, 200) }},
		{"GET document, 3 KB", func() { c.do(c.teamKey, "GET", "/documents/"+c.documentID("page/0"), nil, 200) }},
		{"GET documents, 100", func() { c.do(c.teamKey, "GET", "/documents?limit=100", nil, 200) }},
		{"GET answer", func() { c.do(c.teamKey, "GET", "/answers/"+c.answered, nil, 200) }},
		{"search, 10 sources", func() {
			q := search.Query{Reader: access.Everything(), Text: questionBody["question"], Limit: 10}
			if result, err := c.services.index.Search(b.Context(), c.team.ID, q); err != nil || len(result.Hits) == 0 {
				b.Fatalf("search: %d hits, %v", len(result.Hits), err)
			}
		}},
		{"PUT document, unchanged, 3 KB", func() { c.do(c.teamKey, "PUT", "/documents", c.document("page/0", short), 200) }},
		{"PUT document, new, 3 KB", func() {
			c.do(c.teamKey, "PUT", "/documents", c.document(fmt.Sprint("bench/", n), short), 200)
		}},
		{"PUT answer", func() {
			c.later = time.Duration(n/asksPerDay) * 24 * time.Hour
			c.do(c.teamKey, "PUT", "/answers/"+uuid.NewString(), questionBody, 204)
		}},
		{"401, no key", func() { c.do("", "GET", "/collections", nil, 401) }},
	} {
		b.Run(operation.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n++
				operation.run()
			}
		})
	}
}
