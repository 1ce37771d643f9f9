package search_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"docent/shared/search"
)

// TestAFoldThatMeetsDamageLateMakesThePassAgain: a staged segment is damaged in a part that is read after all of them are open, or is gone.
// Nothing of the pass is published, and the documents are read again.
func TestAFoldThatMeetsDamageLateMakesThePassAgain(t *testing.T) {
	t.Parallel()
	const slices, documents = 12, 400 // of a slice
	for name, place := range map[string]func(size int) int{
		"postings":  func(int) int { return 4096 + 100 },
		"documents": func(size int) int { return size - 1000 - 24*documents/2 },
		"missing":   nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, lib, clock := newIndex(t)
			x.ReadByRange(1)
			faults := 0
			x.OnFault = func(context.Context, error) { faults++ }
			var docs []search.Document
			for i := range slices * documents {
				docs = append(docs, doc("wiki", fmt.Sprint(i), fmt.Sprintf("zebra word%d other%d", i, i/7), 1))
			}
			publish(t, x, lib, docs...)
			if asked, err := x.AskRebuild(t.Context(), team, "wiki", search.Documentation); err != nil || !asked {
				t.Fatal(asked, err)
			}
			seen := map[string]bool{}
			for f, err := range x.Blobs.List(t.Context(), "") {
				if err != nil {
					t.Fatal(err)
				}
				seen[f.Name] = true
			}
			staged := 0
			b := rebuilder(x).SliceOf(documents)
			b.Rest = func(context.Context, time.Duration) error { // after each slice
				for f, err := range x.Blobs.List(t.Context(), "") {
					if err != nil {
						t.Fatal(err)
					}
					if seen[f.Name] {
						continue
					}
					seen[f.Name] = true
					if staged++; staged != 5 {
						continue
					}
					if place != nil {
						damage(t, x, f.Name, place)
					} else if err := x.Blobs.Delete(t.Context(), f.Name); err != nil {
						t.Fatal(err)
					}
				}
				if found, _ := ask(t, x, search.Query{Text: "zebra", Limit: 200}); len(found) != 200 {
					t.Errorf("found %d during the rebuild", len(found))
				}
				return nil
			}
			rebuild(t, b)
			if faults != 1 {
				t.Errorf("%d faults", faults)
			}
			if staged < 10+slices {
				t.Errorf("staged %d slices: the pass was not made again", staged)
			}
			holds(t, x, lib)
			clock.Advance(26 * time.Hour)
			if _, err := x.Clean(t.Context()); err != nil || blobCount(t, x) != len(levels(t, x)) {
				t.Errorf("%d blobs of %d segments: %v", blobCount(t, x), len(levels(t, x)), err)
			}
		})
	}
}
