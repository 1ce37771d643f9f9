package simulate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"docent/shared/table"
)

// Write implements table.Store. A Write of several operations is a transaction.
func (t *Table) Write(ctx context.Context, ops ...table.Op) error {
	if err := table.CheckOps(ops); err != nil {
		return err
	}
	for _, op := range ops {
		if err := checkTable(table.KeyOf(op).Table); err != nil {
			return err
		}
	}
	_, err := t.write(ctx, ops)
	return err
}

// Add implements table.Store.
func (t *Table) Add(ctx context.Context, a table.Add) (table.Item, error) {
	if err := a.Check(); err != nil {
		return table.Item{}, err
	}
	if err := checkTable(a.Key.Table); err != nil {
		return table.Item{}, err
	}
	item, err := t.write(ctx, []table.Op{a})
	if err != nil {
		return table.Item{}, err
	}
	return *item, nil
}

// write carries out ops and returns what the last one wrote. It tries again after a conflict with a transaction.
func (t *Table) write(ctx context.Context, ops []table.Op) (*table.Item, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	meter := table.MeterFrom(ctx)
	defer meter.Begin()()
	keys := make([]table.Key, len(ops))
	for n, op := range ops {
		keys[n] = table.KeyOf(op)
	}
	latency := writeLatency
	if len(ops) > 1 {
		latency = transactionLatency
	}
	var tries retries
	for {
		if err := t.admitted(ctx, true, keys...); err != nil {
			return nil, err
		}
		item, err := t.attempt(ctx, meter, ops, keys, latency)
		if !errors.Is(err, table.ErrConflict) {
			return item, err
		}
		if err := tries.again(ctx, t.chance, err); err != nil {
			return nil, err
		}
	}
}

// attempt carries out ops once. A transaction holds its items for the second half of its time. Whatever meets an item that
// is held is refused.
func (t *Table) attempt(ctx context.Context, meter *table.Meter, ops []table.Op, keys []table.Key, latency Latency) (*table.Item, error) {
	half := Latency{latency.Median / 2, latency.P99 / 2}
	if err := t.chance.take(ctx, half); err != nil {
		return nil, err
	}
	if len(ops) > 1 {
		if err := t.hold(keys); err != nil {
			return nil, err
		}
		defer t.release(keys)
	}
	if err := t.chance.take(ctx, half); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(ops) == 1 && t.busy[keys[0]] > 0 {
		t.used.Conflicts++
		return nil, table.ErrConflict
	}
	return t.apply(meter, ops)
}

func (t *Table) hold(keys []table.Key) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range keys {
		if t.busy[k] > 0 {
			t.used.Conflicts++
			return table.ErrConflict
		}
	}
	for _, k := range keys {
		t.busy[k]++
	}
	return nil
}

func (t *Table) release(keys []table.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range keys {
		delete(t.busy, k)
	}
}

// apply carries out ops, all or none, and charges them. The caller holds the lock.
func (t *Table) apply(meter *table.Meter, ops []table.Op) (*table.Item, error) {
	now := t.now()
	results := make([]*table.Item, len(ops))
	var failed error
	for n, op := range ops {
		k := table.KeyOf(op)
		old := t.of(k.Table, k.Partition).get(k.Sort)
		if live := table.Live(old, now); failed == nil && !table.ConditionOf(op).Holds(live) {
			failed = &table.ConditionFailed{Key: k, Item: copied(live)}
		}
		var err error
		if results[n], err = after(op, old, now); err != nil && failed == nil {
			failed = fmt.Errorf("operation %d: %w", n, err)
		}
	}
	t.price(meter, ops, results)
	if failed != nil {
		return nil, failed
	}
	for n, op := range ops {
		k := table.KeyOf(op)
		p := t.of(k.Table, k.Partition)
		switch op.(type) {
		case table.Check:
		case table.Delete:
			p.remove(k.Sort)
			t.removed(k)
		default:
			p.put(results[n])
		}
	}
	return copied(results[len(ops)-1]), nil
}

// after returns the item that op leaves, nil if it deletes it.
func after(op table.Op, old *table.Item, now time.Time) (*table.Item, error) {
	switch op := op.(type) {
	case table.Put:
		item := copied(&op.Item)
		item.Expires = table.WholeSeconds(item.Expires)
		return item, nil
	case table.Add:
		item, err := op.Apply(table.Live(old, now))
		item.Body = slices.Clone(item.Body)
		return &item, err
	case table.Check:
		return old, nil
	}
	return nil, nil
}

// price charges each operation by the larger of the old and the new item, twice as much in a transaction. A lone Check is
// a read. The caller holds the lock.
func (t *Table) price(meter *table.Meter, ops []table.Op, results []*table.Item) {
	for n, op := range ops {
		k := table.KeyOf(op)
		p := t.of(k.Table, k.Partition)
		size := 0
		for _, item := range []*table.Item{p.get(k.Sort), results[n]} {
			if item != nil {
				size = max(size, table.Size(*item))
			}
		}
		read, write := 0.0, table.WriteUnits(size)
		if _, check := op.(table.Check); check && len(ops) == 1 {
			read, write = table.ReadUnits(size, false), 0
		}
		if len(ops) > 1 {
			write *= 2
		}
		t.charge(p, read, write)
		meter.Units(read, write)
	}
}
