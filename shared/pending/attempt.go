package pending

import (
	"context"
	"errors"
	"fmt"
	"time"

	"docent/shared/table"
)

// The numbers of a pending item that Begin keeps.
const (
	attemptsField = "attempts" // how often the work has been begun and not ended
	untilField    = "until"    // Unix milliseconds until which a worker may be at it
)

// Begin records that a worker begins w, which it will have ended or left by until, and returns how often w has
// been begun, from 1. It returns 0 if w is no longer pending or, with others, if another worker has begun it and
// may still be at it. So work that kills its worker is counted, and is not begun forever. Until then the sweeper
// does not send w again.
func Begin(ctx context.Context, store table.Store, w Work, now, until time.Time, others bool) (attempt int64, err error) {
	item, err := store.Get(ctx, w.Key())
	if errors.Is(err, table.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read pending work: %w", err)
	}
	if others && item.Numbers[attemptsField] > 0 && now.UnixMilli() < item.Numbers[untilField] {
		return 0, nil
	}
	item, err = store.Add(ctx, table.Add{Key: w.Key(), If: table.Exists(),
		By: map[string]int64{attemptsField: 1}, Numbers: map[string]int64{untilField: until.UnixMilli(), nextField: until.UnixMilli()}})
	if table.AsConditionFailed(err) != nil {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("begin work: %w", err)
	}
	return item.Numbers[attemptsField], nil
}

// Leave records that a worker has stopped doing w before its end, through no fault of w, so that it does not count. The
// next one may begin it at once.
func Leave(ctx context.Context, store table.Store, w Work) error {
	_, err := store.Add(ctx, table.Add{Key: w.Key(), If: table.Exists(), By: map[string]int64{attemptsField: -1}, Numbers: map[string]int64{untilField: 0, nextField: 0}})
	if err != nil && table.AsConditionFailed(err) == nil {
		return fmt.Errorf("leave work: %w", err)
	}
	return nil
}
