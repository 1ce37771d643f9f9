package audit

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"docent/shared/table"
)

// parallelCloses limits the tombstones that a reader writes in parallel.
const parallelCloses = 32

// closeThrough closes the empty numbers up to to, and adds what they contain as far as the page
// has room.
func (r *feedReader) closeThrough(ctx context.Context, to int64) error {
	settled, err := r.closeAll(ctx, r.teamID, r.cursor.at+1, to)
	if err != nil {
		return err
	}
	for _, s := range settled {
		if len(r.events) == r.limit {
			break
		}
		if err := r.addSlot(s); err != nil {
			return err
		}
	}
	r.slots.rereadFrom(r.cursor.at + 1)
	return nil
}

// closeAll puts a tombstone at every empty number, and returns the final slots of all.
func (l *Log) closeAll(ctx context.Context, teamID string, from, to int64) ([]slot, error) {
	settled := make([]slot, to-from+1)
	errs := make([]error, len(settled))
	var all sync.WaitGroup
	free := make(chan struct{}, parallelCloses)
	for i := range settled {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			settled[i], errs[i] = l.close(ctx, teamID, from+int64(i))
		})
	}
	all.Wait()
	return settled, errors.Join(errs...)
}

// close puts a tombstone at n. Its time is 0, so that the grace of the numbers below it is over
// too.
func (l *Log) close(ctx context.Context, teamID string, n int64) (slot, error) {
	mark := tombstone(teamID, n, l.Now())
	mark.Item.Numbers[atField] = 0
	err := l.Table.Write(ctx, mark)
	if err == nil {
		return slotFrom(mark.Item)
	}
	failed := table.AsConditionFailed(err)
	if failed == nil {
		return slot{}, fmt.Errorf("close number %d of the feed: %w", n, err)
	}
	if failed.Item != nil {
		return slotFrom(*failed.Item)
	}
	item, err := l.Table.Get(ctx, slotKey(teamID, n))
	if err != nil {
		return slot{}, fmt.Errorf("read number %d of the feed: %w", n, err)
	}
	return slotFrom(item)
}
