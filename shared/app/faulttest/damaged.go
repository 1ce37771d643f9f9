package faulttest

import (
	"context"
	"slices"
	"sync"

	"docent/shared/table"
)

// DamagedTable is a table store some of whose items are damaged.
type DamagedTable struct {
	table.Store

	mu   sync.Mutex
	keys map[table.Key]bool
}

// Damage damages the items under keys.
func (d *DamagedTable) Damage(keys ...table.Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.keys == nil {
		d.keys = map[table.Key]bool{}
	}
	for _, k := range keys {
		d.keys[k] = true
	}
}

func (d *DamagedTable) damaged(k table.Key) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.keys[k]
}

// Get implements table.Store.
func (d *DamagedTable) Get(ctx context.Context, k table.Key, opts ...table.ReadOption) (table.Item, error) {
	if d.damaged(k) {
		return table.Item{}, &table.DamagedError{Keys: []table.Key{k}}
	}
	return d.Store.Get(ctx, k, opts...)
}

// whole returns the items that are not damaged, and the error for the others.
func (d *DamagedTable) whole(items []table.Item, err error) ([]table.Item, error) {
	var damaged []table.Key
	items = slices.DeleteFunc(items, func(i table.Item) bool {
		if d.damaged(i.Key) {
			damaged = append(damaged, i.Key)
			return true
		}
		return false
	})
	if err == nil && len(damaged) > 0 {
		err = &table.DamagedError{Keys: damaged}
	}
	return items, err
}

// BatchGet implements table.Store.
func (d *DamagedTable) BatchGet(ctx context.Context, keys []table.Key, opts ...table.ReadOption) ([]table.Item, error) {
	return d.whole(d.Store.BatchGet(ctx, keys, opts...))
}

// Query implements table.Store.
func (d *DamagedTable) Query(ctx context.Context, q table.Query) (table.Page, error) {
	page, err := d.Store.Query(ctx, q)
	page.Items, err = d.whole(page.Items, err)
	return page, err
}

// Add implements table.Store.
func (d *DamagedTable) Add(ctx context.Context, a table.Add) (table.Item, error) {
	if d.damaged(a.Key) {
		return table.Item{}, &table.DamagedError{Keys: []table.Key{a.Key}}
	}
	return d.Store.Add(ctx, a)
}

// Write implements table.Store.
func (d *DamagedTable) Write(ctx context.Context, ops ...table.Op) error {
	var replaced []table.Key
	for _, op := range ops {
		k := table.KeyOf(op)
		if !d.damaged(k) {
			continue
		}
		put, isPut := op.(table.Put)
		remove, isDelete := op.(table.Delete)
		if !isPut && !isDelete || put.If != (table.Condition{}) || remove.If != (table.Condition{}) {
			return &table.DamagedError{Keys: []table.Key{k}}
		}
		replaced = append(replaced, k)
	}
	if err := d.Store.Write(ctx, ops...); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range replaced {
		delete(d.keys, k)
	}
	return nil
}
