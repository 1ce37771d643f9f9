package faulttest

import (
	"context"

	"docent/shared/table"
)

// Table is a store under a plan.
type Table struct {
	table.Store
	Plan *Plan
}

// Get implements table.Store.
func (t Table) Get(ctx context.Context, k table.Key, opts ...table.ReadOption) (item table.Item, err error) {
	err = t.Plan.run(func() (err error) {
		item, err = t.Store.Get(ctx, k, opts...)
		return err
	}, "Get", k)
	return item, err
}

// BatchGet implements table.Store.
func (t Table) BatchGet(ctx context.Context, keys []table.Key, opts ...table.ReadOption) (items []table.Item, err error) {
	err = t.Plan.run(func() (err error) {
		items, err = t.Store.BatchGet(ctx, keys, opts...)
		return err
	}, "BatchGet", keys)
	return items, err
}

// Query implements table.Store.
func (t Table) Query(ctx context.Context, q table.Query) (page table.Page, err error) {
	err = t.Plan.run(func() (err error) {
		page, err = t.Store.Query(ctx, q)
		return err
	}, "Query", q)
	return page, err
}

// Add implements table.Store.
func (t Table) Add(ctx context.Context, a table.Add) (item table.Item, err error) {
	err = t.Plan.run(func() (err error) {
		item, err = t.Store.Add(ctx, a)
		return err
	}, "Add", a.Key)
	return item, err
}

// Write implements table.Store.
func (t Table) Write(ctx context.Context, ops ...table.Op) error {
	keys := make([]table.Key, len(ops))
	for i, op := range ops {
		keys[i] = table.KeyOf(op)
	}
	return t.Plan.run(func() error { return t.Store.Write(ctx, ops...) }, "Write", keys)
}
