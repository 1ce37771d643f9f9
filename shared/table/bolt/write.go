package bolt

import (
	"context"
	"fmt"

	"docent/shared/table"

	bbolt "go.etcd.io/bbolt"
)

// Write implements table.Store.
func (s *Store) Write(ctx context.Context, ops ...table.Op) error {
	if err := table.CheckOps(ops); err != nil {
		return err
	}
	for _, op := range ops {
		if err := s.checkTable(table.KeyOf(op).Table); err != nil {
			return err
		}
	}
	_, err := s.submit(ctx, ops)
	return err
}

// Add implements table.Store. The engine never retries, so Once changes nothing.
func (s *Store) Add(ctx context.Context, a table.Add) (table.Item, error) {
	if err := a.Check(); err != nil {
		return table.Item{}, err
	}
	if err := s.checkTable(a.Key.Table); err != nil {
		return table.Item{}, err
	}
	return s.submit(ctx, []table.Op{a})
}

// change is the effect of one operation, computed before any is applied.
type change struct {
	key      table.Key
	old, new *table.Item // nil: no item before, none after; old may have expired
	keep     bool        // a Check: nothing changes
}

// apply applies ops within tx. If one fails, it leaves tx unchanged and returns an error. It
// returns the item that the last operation writes, and the units of all operations, which are
// charged even if a condition fails.
func (s *Store) apply(tx *bbolt.Tx, ops []table.Op) (last table.Item, cost units, err error) {
	now := s.now()
	changes := make([]change, len(ops))
	var failed error
	for n, op := range ops {
		key := table.KeyOf(op)
		old, err := load(tx, key)
		if table.AsDamaged(err) != nil && replaces(op) {
			old, err = nil, nil
		}
		if err != nil {
			return last, cost, err
		}
		changes[n] = change{key: key, old: old}
		if live := table.Live(old, now); failed == nil && !table.ConditionOf(op).Holds(live) {
			failed = &table.ConditionFailed{Key: key, Item: live}
		}
	}
	for n, op := range ops {
		if err := changes[n].plan(op, now); err != nil && failed == nil {
			failed = fmt.Errorf("operation %d: %w", n, err)
		}
	}
	cost = price(ops, changes)
	if failed != nil {
		return last, cost, failed
	}
	for _, c := range changes {
		if err := c.carryOut(tx); err != nil {
			return last, cost, &transactionError{err}
		}
		if c.new != nil {
			last = *c.new
		}
	}
	return last, cost, nil
}

// replaces reports whether op does not depend on the item that it replaces or removes.
func replaces(op table.Op) bool {
	switch op.(type) {
	case table.Put, table.Delete:
		return table.ConditionOf(op) == table.Condition{}
	}
	return false
}
