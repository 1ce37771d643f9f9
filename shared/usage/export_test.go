package usage

import (
	"context"
	"slices"
	"time"

	"docent/shared/table"
)

// MaxGathered is the limit of rows.
const MaxGathered = maxGathered

// Patient returns a counter that waits for a busy machine, for tests that need every add.
func Patient(store table.Store) *Counter { return &Counter{Table: store, addTime: time.Minute} }

// CountAll counts calls in as few writes as possible.
func (c *Counter) CountAll(ctx context.Context, teamID string, calls []Call) error {
	for some := range slices.Chunk(calls, maxGathered/2) {
		waiting := newBatch()
		c.batch = waiting
		for _, call := range some {
			c.gather(rowsOf(teamID, call, nil))
		}
		c.batch = nil
		if _, err := c.write(ctx, waiting); err != nil {
			return err
		}
	}
	return nil
}
