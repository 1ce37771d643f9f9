package source_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"docent/shared/source"
)

// circle is a provider whose pages lead back to an earlier one after some.
type circle struct {
	*failing
	pages, back int
	read        int
}

func (c *circle) Read(_ context.Context, _ source.Access, _ string, at []byte) iter.Seq2[source.SyncPage, error] {
	return source.Pages(func(yield func(source.SyncPage) bool) error {
		next := 0
		if _, err := fmt.Sscan(string(at), &next); at != nil && err != nil {
			return err
		}
		for c.read < 1000 {
			c.read++
			if next++; next == c.pages {
				if c.back < 0 {
					yield(source.SyncPage{Checkpoint: []byte("0"), Last: true})
					return nil
				}
				next = c.back
			}
			for range 2 { // of which one may have only readers
				if !yield(source.SyncPage{Checkpoint: fmt.Append(nil, next)}) {
					return source.ErrStopped
				}
			}
		}
		return nil
	})
}

// TestPagesThatLeadBackToAnEarlierOneAreAFailure: the sync would go on for ever, and the source show that it reads.
func TestPagesThatLeadBackToAnEarlierOneAreAFailure(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		back int
		code string
	}{"to the first": {1, source.Unreadable}, "to a later one": {7, source.Unreadable}, "to none": {-1, ""}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &circle{failing: &failing{}, pages: 10, back: tt.back}
			l := newLibrary(t, newShelf())
			opened := l.syncer.Connections["shelf"]
			opened.Connector = c
			l.syncer.Connections["shelf"] = opened
			l.mustSync()
			if got := code(l.shown()); got != tt.code || c.read > 20 {
				t.Errorf("%q after %d pages", got, c.read)
			}
		})
	}
}

// TestACircleOfPagesThatIsLongerThanATurnIsAFailure, too. That a connector begins again once, because its cursor has expired, is none.
func TestACircleOfPagesThatIsLongerThanATurnIsAFailure(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		back   int
		ending bool // the second time there are more pages
		code   string
	}{"to the first": {1, false, source.Unreadable}, "to a later one": {7, false, source.Unreadable}, "once": {1, true, ""}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &circle{failing: &failing{}, pages: 10, back: tt.back}
			l := newLibrary(t, newShelf())
			opened := l.syncer.Connections["shelf"]
			opened.Connector = c
			l.syncer.Connections["shelf"] = opened
			finished := false
			for run := 0; !finished && run < 200; run++ {
				if tt.ending && c.read == 15 {
					c.back = -1
				}
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // too short for another page
				_, err := l.syncer.Sync(ctx, l.team, l.id, nil)
				cancel()
				if finished = err == nil; !finished && !errors.Is(err, source.ErrUnfinished) {
					t.Fatal(err)
				}
			}
			if got := code(l.shown()); got != tt.code || !finished {
				t.Errorf("%q after %d pages", got, c.read)
			}
		})
	}
}
