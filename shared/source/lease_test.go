package source_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
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

// waiting is a provider that takes long for a page, without Access.Try.
type waiting struct {
	*failing
	wait func(ctx context.Context) error
}

func (w waiting) Read(ctx context.Context, a source.Access, part string, at []byte) iter.Seq2[source.SyncPage, error] {
	return source.Pages(func(yield func(source.SyncPage) bool) error {
		if err := w.wait(ctx); err != nil {
			return err
		}
		for page, err := range w.failing.Read(ctx, a, part, at) {
			if err != nil || !yield(page) {
				return err
			}
		}
		return nil
	})
}

// waitingLibrary returns a library of a provider that waits for each page. The clock goes with the time of a synctest.
func waitingLibrary(t *testing.T, f *failing, wait func(ctx context.Context, l *library) error) *library {
	l := failingLibrary(t, f)
	c := l.syncer.Connections["shelf"]
	c.Connector = waiting{f, func(ctx context.Context) error { return wait(ctx, l) }}
	l.syncer.Connections["shelf"] = c
	return l
}

// TestAPageThatIsWaitedForKeepsItsLease, whatever the connector waits for: hundreds of lookups, or a limit of requests.
func TestAPageThatIsWaitedForKeepsItsLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		l := waitingLibrary(t, &failing{text: "Text.", reader: "ada"}, func(ctx context.Context, l *library) error {
			if asked++; asked > 1 {
				return nil // of a second sync, which should not have begun
			}
			for range 60 {
				time.Sleep(10 * time.Second)
				l.clock.Advance(10 * time.Second)
				if ctx.Err() != nil {
					return ctx.Err()
				}
			}
			var held *source.LeaseHeldError
			if err := l.sync(); !errors.As(err, &held) {
				t.Errorf("a second sync: %v", err)
			}
			return nil
		})
		l.mustSync()
		if l.wantItems("a/1", "a/2", "a/3"); asked != 1 {
			t.Errorf("%d syncs have read", asked)
		}
	})
}

// TestAPartThatTakesLongerThanATurnHoldsUpNoOther: a run that saves nothing would be repeated for ever. The source says which part it is, and
// the next sync tries it again.
func TestAPartThatTakesLongerThanATurnHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		l := waitingLibrary(t, &failing{parts: 2, text: "Text.", reader: "ada"}, func(ctx context.Context, _ *library) error {
			if asked++; asked == 1 {
				<-ctx.Done()
			}
			return ctx.Err()
		})
		turn := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			defer cancel()
			_, err := l.syncer.Sync(ctx, l.team, l.id, nil)
			return err
		}
		if err := turn(); !errors.Is(err, source.ErrUnfinished) || errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("the first turn: %v", err)
		}
		if err := turn(); err != nil {
			t.Fatalf("the second turn: %v", err)
		}
		if d := l.shown(); d.State != source.Failed || code(d) != source.Unreadable || d.LastError.Detail != "a: The provider did not return the next page within 4m0s." {
			t.Errorf("shown %+v", d.LastError)
		}
		l.wantItems("b/1", "b/2", "b/3")
		l.clock.Advance(2 * time.Minute)
		l.mustSync()
		if l.wantItems("a/1", "a/2", "a/3", "b/1", "b/2", "b/3"); code(l.shown()) != "" {
			t.Errorf("then %+v", l.shown().LastError)
		}
	})
}

// TestARunThatWaitsLongForItsFirstPageGetsFurther: one that reads an archive again up to where it was takes a turn for that alone. Others end
// with their turn.
func TestARunThatWaitsLongForItsFirstPageGetsFurther(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration][]int{0: {6, 12, 12}, 5 * time.Minute: {9, 12}} {
		synctest.Test(t, func(t *testing.T) {
			p := newShelf()
			p.parts = map[string][]string{"a": uris("a", 12*shelfPage)}
			l := newLibrary(t, p)
			l.syncer.Turn = 4 * time.Minute
			pages := 0
			p.during = func(first bool) {
				if pages++; first {
					time.Sleep(wait)
				}
				time.Sleep(45 * time.Second)
			}
			for n, read := range want {
				if l.work(); pages != read {
					t.Fatalf("waiting %v, after turn %d: %d pages", wait, n+1, pages)
				}
			}
			if l.shown().Sync.State != source.SyncWaiting {
				t.Errorf("waiting %v: %+v", wait, l.shown().Sync)
			}
		})
	}
}

// TestARunThatLosesItsLeaseStopsWaiting: a source that is paused, for instance, is not read to the end of a page.
func TestARunThatLosesItsLeaseStopsWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var begun time.Time
		l := waitingLibrary(t, &failing{text: "Text.", reader: "ada"}, func(ctx context.Context, l *library) error {
			begun = time.Now()
			l.clock.Advance(time.Minute)
			l.mustChange(pause(true))
			<-ctx.Done()
			return ctx.Err()
		})
		if err := l.sync(); err == nil || errors.Is(err, context.Canceled) || time.Since(begun) > time.Minute {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
	})
}

// TestAConnectorThatPanicsEndsOnlyItsSync, as one that panics in the goroutine of the sync does.
func TestAConnectorThatPanicsEndsOnlyItsSync(t *testing.T) {
	t.Parallel()
	l := waitingLibrary(t, &failing{text: "Text.", reader: "ada"}, func(context.Context, *library) error { panic("a defect") })
	defer func() {
		if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "a defect") {
			t.Errorf("recovered %v", p)
		}
	}()
	_ = l.sync()
	t.Error("the panic is lost")
}
