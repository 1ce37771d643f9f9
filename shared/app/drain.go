package app

import (
	"context"
	"errors"
	"fmt"

	"docent/shared/queue"
)

// Drain does the waiting work until there is none. It retries failed work at once, up
// to its last delivery. It is for tests and for commands; Serve has its own workers.
func (l *Local) Drain(ctx context.Context) error {
	for {
		extracted, err := drainOnce(ctx, l.extractQueue, l.extracting.Batch, 1)
		if err != nil {
			return err
		}
		indexed, err := drainOnce(ctx, l.documentQueue, l.indexing.Batch, queue.MaxBatch)
		if err != nil {
			return err
		}
		answered, err := drainOnce(ctx, l.questionQueue, l.answering.Batch, 1)
		if err != nil {
			return err
		}
		rebuilt, err := drainOnce(ctx, l.rebuildQueue, l.rebuilder(0, nil).Batch, 1)
		if err != nil {
			return err
		}
		if extracted+indexed+answered+rebuilt == 0 {
			return nil
		}
	}
}

// drainOnce handles one batch and returns its size.
func drainOnce(ctx context.Context, q queue.Queue, h queue.Handler, size int) (int, error) {
	batch, err := q.Receive(ctx, size, 0)
	if err != nil || len(batch) == 0 {
		return 0, err
	}
	failed, err := queue.Attempt(ctx, h, batch)
	if err != nil {
		return 0, fmt.Errorf("handle batch: %w", err)
	}
	again := map[string]bool{}
	for _, m := range failed {
		again[m.ID] = true
	}
	for _, m := range batch {
		if again[m.ID] {
			err = errors.Join(err, q.Retry(ctx, 0, m))
		} else {
			err = errors.Join(err, q.Done(ctx, m))
		}
	}
	return len(batch), err
}
