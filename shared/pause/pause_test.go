package pause_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/pause"
)

func TestForWaitsTheWholeTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := pause.For(t.Context(), time.Hour); err != nil || time.Since(start) != time.Hour {
			t.Fatalf("%v after %v", err, time.Since(start))
		}
	})
}

func TestEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		start := time.Now()
		if err := pause.For(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
			t.Fatalf("%v after %v", err, time.Since(start))
		}
	})
}

func TestMarginIsTakenFromTheTimeLeft(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ left, want time.Duration }{
		"much time left":   {time.Minute, 58 * time.Second},
		"little time left": {time.Second, 500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithTimeout(t.Context(), c.left)
				defer stop()
				early, cancel := pause.WithMargin(ctx, 2*time.Second)
				defer cancel()
				if deadline, ok := early.Deadline(); !ok || time.Until(deadline) != c.want {
					t.Errorf("ends in %v, want %v", time.Until(deadline), c.want)
				}
			})
		})
	}
	early, cancel := pause.WithMargin(t.Context(), time.Second)
	if _, ok := early.Deadline(); ok {
		t.Error("a context without a deadline got one")
	}
	if cancel(); early.Err() == nil {
		t.Error("the copy does not end when it is cancelled")
	}
}

func TestGraceBeginsWhenTheContextEnds(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]time.Duration{"it lasts": time.Hour, "its time is over": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				ctx, stop := context.WithTimeout(t.Context(), left)
				defer stop()
				late, cancel := pause.WithGrace(ctx, time.Second)
				defer cancel()
				if err := late.Err(); err != nil {
					t.Fatal(err)
				}
				<-late.Done()
				if got, want := time.Since(start), left+time.Second; got != want {
					t.Errorf("ends after %v, want %v", got, want)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		late, cancel := pause.WithGrace(t.Context(), time.Second)
		if cancel(); late.Err() == nil {
			t.Error("the copy does not end when it is cancelled")
		}
	})
}
