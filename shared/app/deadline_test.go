package app_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/app"
)

func TestLongPollEndsInTimeBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		left   time.Duration // 0: no deadline
		pauses int           // until it ends, at most 30
	}{
		"28 seconds":     {28 * time.Second, 27},
		"just two":       {2 * time.Second, 1},
		"less than two":  {1999 * time.Millisecond, 0},
		"no deadline":    {0, 30},
		"half a second":  {500 * time.Millisecond, 0},
		"three and half": {3500 * time.Millisecond, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if c.left > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.left)
					defer cancel()
				}
				begun, pauses := time.Now(), 0
				for pauses < 30 && app.PausePoll(ctx) == nil {
					pauses++
				}
				if pauses != c.pauses || time.Since(begun) != time.Duration(pauses)*time.Second || ctx.Err() != nil {
					t.Errorf("%d pauses in %s, want %d; context %v", pauses, time.Since(begun), c.pauses, ctx.Err())
				}
			})
		})
	}
}

func TestLongPollEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(300*time.Millisecond, cancel)
		begun := time.Now()
		if err := app.PausePoll(ctx); !errors.Is(err, context.Canceled) || time.Since(begun) != 300*time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
	})
}
