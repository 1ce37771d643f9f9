// Package pause waits in a way that can be called off.
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
