package source_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/source"
)

// TestAQuestionThatIsNeverAnsweredHoldsUpNothing: a run that waits for the answer ends before its deadline, says so, and after an hour
// changes are read again.
func TestAQuestionThatIsNeverAnsweredHoldsUpNothing(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]time.Duration{"long turns": 4 * time.Minute, "short turns": 50 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			l := newLibrary(t, newShelf())
			l.mustSync()
			for _, uri := range uris("a", 7) {
				l.shelf.hide[uri] = true
			}
			l.shelf.ask = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
			l.clock.Advance(25 * time.Hour)
			for run := 0; code(l.shown()) != source.ItemRejected; run++ {
				ctx, cancel := context.WithTimeout(t.Context(), turn)
				if _, err := l.syncer.Sync(ctx, l.team, l.id, nil); err != nil && !errors.Is(err, source.ErrUnfinished) || run > 8 {
					t.Fatalf("%s: run %d: %v", name, run, err)
				}
				cancel()
				l.clock.Advance(20 * time.Minute)
			}
			l.shelf.changed["a"] = []string{"https://shelf.test/a/8"}
			l.mustSync()
			l.wantItems(slices.Insert(slices.Clone(everything), 7, "a/8")...)
		})
	}
}

// TestAQuestionThatIsNeverAnsweredKeepsNoOtherItem: those that are deleted are removed, whatever is asked about before.
func TestAQuestionThatIsNeverAnsweredKeepsNoOtherItem(t *testing.T) {
	t.Parallel()
	for _, hanging := range uris("a", 7)[3:] {
		synctest.Test(t, func(t *testing.T) {
			l := newLibrary(t, newShelf())
			l.mustSync()
			l.shelf.parts["a"] = uris("a", 3)
			l.shelf.ask = func(ctx context.Context) error {
				if l.shelf.asked[len(l.shelf.asked)-1] != hanging {
					return nil
				}
				<-ctx.Done()
				return ctx.Err()
			}
			l.clock.Advance(25 * time.Hour)
			for range 6 {
				ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
				if _, err := l.syncer.Sync(ctx, l.team, l.id, nil); err != nil && !errors.Is(err, source.ErrUnfinished) {
					t.Fatal(err)
				}
				cancel()
				l.clock.Advance(20 * time.Minute)
			}
			l.wantItems("a/1", "a/2", "a/3", strings.TrimPrefix(hanging, "https://shelf.test/"), "b/1", "b/2", "b/3", "b/4")
		})
	}
}
