package usage

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"docent/shared/table"
)

// Bounds of Gather.
const (
	GatherTime  = 100 * time.Millisecond
	maxGathered = 4096 // rows; what belongs to others is added at once
)

// batch is the adds that wait in memory, by row.
type batch struct {
	rows    map[table.Key]table.Add
	written chan struct{} // closed when they are added, and all before them
}

func newBatch() *batch {
	return &batch{rows: map[table.Key]table.Add{}, written: make(chan struct{})}
}

// Gather makes counts wait in memory for up to GatherTime, so that they are added together:
// added one by one, they would be most of what a server writes, and other changes would wait
// for them. It runs until ctx ends and everything is added; counts after that are added at
// once again. A process that is killed loses the counts that wait. failed learns of adds
// that failed or are uncertain.
func (c *Counter) Gather(ctx context.Context, failed func(uncertain int, err error)) {
	c.mu.Lock()
	c.batch = newBatch()
	c.mu.Unlock()
	every := time.NewTicker(GatherTime)
	defer every.Stop()
	for ended := false; !ended; {
		next := newBatch()
		select {
		case <-every.C:
		case <-c.soon():
		case <-ctx.Done():
			ended, next = true, nil
		}
		c.mu.Lock()
		waiting := c.batch
		c.batch = next
		c.mu.Unlock()
		if uncertain, err := c.write(context.WithoutCancel(ctx), waiting); err != nil {
			failed(uncertain, err)
		}
	}
}

// gather adds rows to those that wait. It returns false if they must be added at once.
func (c *Counter) gather(rows []table.Add) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.batch == nil || len(c.batch.rows)+len(rows) > maxGathered {
		return false
	}
	for _, row := range rows {
		waiting, ok := c.batch.rows[row.Key]
		if !ok {
			row.Once = false // it is for single adds
			c.batch.rows[row.Key] = row
			continue
		}
		for name, n := range row.By {
			waiting.By[name] += n
		}
	}
	return true
}

// write adds the rows of b. It returns how many failed or are uncertain, with their error.
func (c *Counter) write(ctx context.Context, b *batch) (uncertain int, err error) {
	defer close(b.written)
	for rows := range slices.Chunk(slices.Collect(maps.Values(b.rows)), table.MaxOps) {
		ops := make([]table.Op, len(rows))
		for n, row := range rows {
			ops[n] = row
		}
		if failed := c.Table.Write(ctx, ops...); failed != nil {
			uncertain += len(rows)
			err = fmt.Errorf("count usage: %w", failed)
		}
	}
	return uncertain, err
}

// soon returns the channel that holds a value when a report waits for a batch.
func (c *Counter) soon() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hurry == nil {
		c.hurry = make(chan struct{}, 1)
	}
	return c.hurry
}

// gathered returns a channel that is closed, soon, when what waits now is added; nil if
// nothing waits.
func (c *Counter) gathered() <-chan struct{} {
	hurry := c.soon()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.batch == nil {
		return nil
	}
	select {
	case hurry <- struct{}{}:
	default:
	}
	return c.batch.written
}
