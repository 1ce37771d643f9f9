// Package pause waits in a way that a context can end, and ends contexts early or late.
package pause

import (
	"context"
	"time"
)

// For waits for d, or until ctx ends, and then returns the error of ctx.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// WithMargin returns a copy of ctx that ends margin before the deadline of ctx, or halfway to it if less time than
// twice the margin is left. Without a deadline the copy has none.
func WithMargin(ctx context.Context, margin time.Duration) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-min(margin, time.Until(deadline)/2)))
}

// WithGrace returns a copy of ctx that ends grace after ctx does, to save what was done until then.
func WithGrace(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		_ = For(later, grace) // it ends sooner if the work is done
		cancel()
	})
	return later, func() {
		stop()
		cancel()
	}
}
