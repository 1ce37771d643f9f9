package dynamo

import (
	"context"
	"time"
)

// SkipWaits makes the waits between attempts take no time.
func (s *Store) SkipWaits() {
	s.wait = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
}
