package pause_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/pause"
)

func TestWaitsAsLongAsItIsTold(t *testing.T) {
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
