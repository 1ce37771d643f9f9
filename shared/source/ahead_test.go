package source_test

import (
	"testing"
	"time"

	"docent/shared/source"
)

// TestASyncThatAClockAheadPlanned: a source that was read, or that was to wait for its provider, while the clock was a year ahead is read
// again when the day's round after that finds it, and at once for one who asks.
func TestASyncThatAClockAheadPlanned(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	for name, limited := range map[string]bool{"read": false, "limited": true} {
		for way, again := range map[string]func(l *library) error{
			"the day's round": func(l *library) error { return l.syncer.PlanMissing(l.t.Context(), l.team) },
			"sync now": func(l *library) error {
				_, err := l.syncer.SyncNow(l.t.Context(), l.team, l.id)
				return err
			},
		} {
			t.Run(name+", "+way, func(t *testing.T) {
				t.Parallel()
				l := newLibrary(t, newShelf())
				l.clock.Advance(year)
				if limited {
					l.shelf.at["a 0"] = func() error {
						return &source.SyncError{Code: source.RateLimited, RetryAt: l.clock.Now().Add(time.Hour)}
					}
				}
				l.work()
				if got := code(l.shown()) == source.RateLimited; got != limited {
					t.Fatalf("limited: %t", got)
				}
				l.clock.Advance(-year)
				l.shelf.asked = nil
				if err := again(l); err != nil {
					t.Fatal(err)
				}
				l.swept()
				if l.work(); len(l.shelf.asked) == 0 {
					t.Error("it is not read")
				}
				if next := l.shown().Sync.Next; !next.Equal(l.clock.Now().Add(15 * time.Minute)) {
					t.Errorf("the next sync is at %s", next)
				}
			})
		}
	}
}
