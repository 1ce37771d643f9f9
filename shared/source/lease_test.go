package source_test

import (
	"errors"
	"testing"
	"time"

	"docent/shared/source"
)

func TestASyncHoldsItsLeaseFromItsLastSave(t *testing.T) {
	t.Parallel()
	const lease = 2 * time.Minute
	for name, wait := range map[string]time.Duration{"before its end": lease - time.Millisecond, "at its end": lease} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t, newShelf())
			l.shelf.at["a 3"] = func() error {
				saved := l.clock.Now() // with the page before
				l.clock.Advance(wait)
				err := l.sync()
				var held *source.LeaseHeldError
				switch {
				case wait < lease && (!errors.As(err, &held) || !held.Until.Equal(saved.Add(lease))):
					t.Errorf("a second sync: %v", err)
				case wait == lease && err != nil:
					t.Errorf("a second sync: %v", err)
				}
				return nil
			}
			if err := l.sync(); (err == nil) != (wait < lease) {
				t.Errorf("the first sync: %v", err)
			}
			l.wantItems(everything...)
			// What lost the lease has left nothing to do.
			if d := l.shown(); d.State != source.Ready || !d.Sync.Next.Equal(l.clock.Now().Add(15*time.Minute)) {
				t.Errorf("the source shows %+v %+v", d, d.Sync)
			}
		})
	}
}

// TestALeaseOfAClockThatWasAheadHoldsNobodyUp has a sync die while the clock is an hour ahead, and sets it right.
func TestALeaseOfAClockThatWasAheadHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	l.shelf.at["a 3"] = func() error {
		l.clock.Advance(-time.Hour)
		l.mustSync() // before the first one ends, as if that had died
		return nil
	}
	l.clock.Advance(time.Hour)
	if err := l.sync(); err == nil {
		t.Error("the sync that lost its lease has saved")
	}
	l.wantItems(everything...)
}
