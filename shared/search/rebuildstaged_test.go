package search_test

import (
	"context"
	"testing"
	"time"

	"docent/shared/table"
)

func TestStagedSegmentsAreNotTakenForOrphans(t *testing.T) {
	t.Parallel()
	x, lib, clock := newIndex(t)
	fillWiki(t, x, lib, 0, 60)
	eachSlice(t, rebuilder(x), outdate(t, x), func() {
		clock.Advance(25 * time.Hour)
		if _, err := x.Clean(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	x = again(x, 0)
	holds(t, x, lib)
}

// listing calls a function once, after it has listed the segment records of the team.
type listing struct {
	table.Store
	after func()
}

func (s *listing) Query(ctx context.Context, q table.Query) (table.Page, error) {
	page, err := s.Store.Query(ctx, q)
	if q.Table == table.Index && q.Partition == team && s.after != nil {
		after := s.after
		s.after = nil
		after()
	}
	return page, err
}

// TestSegmentsThatAreStagedForADayAreKeptWhenTheyArePublished: while Clean looks for what names a blob, the rebuild that has
// staged it goes on, and at last publishes it.
func TestSegmentsThatAreStagedForADayAreKeptWhenTheyArePublished(t *testing.T) {
	t.Parallel()
	x, lib, clock := newIndex(t)
	fillWiki(t, x, lib, 0, 60)
	b, w := rebuilder(x).SliceOf(20), outdate(t, x)
	b.Turn = time.Nanosecond
	for finished := false; !finished; {
		clock.Advance(25 * time.Hour)
		cleaner := again(x, 0)
		cleaner.Table = &listing{Store: x.Table, after: func() {
			var err error
			if finished, err = b.Run(t.Context(), w); err != nil {
				t.Error(err)
			}
		}}
		if _, err := cleaner.Clean(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	holds(t, again(x, 0), lib)
}
