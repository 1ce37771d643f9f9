package simulate

import (
	"context"
	"slices"
	"strings"
	"sync"

	"docent/shared/memory"
	"docent/shared/table"
)

// Get implements table.Store.
func (t *Table) Get(ctx context.Context, k table.Key, opts ...table.ReadOption) (table.Item, error) {
	if err := checkKey(k); err != nil {
		return table.Item{}, err
	}
	if err := ctx.Err(); err != nil {
		return table.Item{}, err
	}
	meter := table.MeterFrom(ctx)
	defer meter.Begin()()
	if err := t.admitted(ctx, false, k); err != nil {
		return table.Item{}, err
	}
	if err := t.chance.take(ctx, readLatency); err != nil {
		return table.Item{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.of(k.Table, k.Partition)
	found := p.get(k.Sort)
	size := 0
	if found != nil {
		size = table.Size(*found)
	}
	units := table.ReadUnits(size, table.IsEventual(opts))
	t.charge(p, units, 0)
	meter.Units(units, 0)
	if found = table.Live(found, t.now()); found == nil {
		return table.Item{}, table.ErrNotFound
	}
	return *copied(found), nil
}

// BatchGet implements table.Store. Its requests run at the same time, as those of table/dynamo.
func (t *Table) BatchGet(ctx context.Context, keys []table.Key, opts ...table.ReadOption) ([]table.Item, error) {
	var unique []table.Key
	seen := map[table.Key]bool{}
	for _, k := range keys {
		if err := checkKey(k); err != nil {
			return nil, err
		}
		if !seen[k] {
			seen[k] = true
			unique = append(unique, k)
		}
	}
	if err := ctx.Err(); err != nil || len(unique) == 0 {
		return nil, err
	}
	meter := table.MeterFrom(ctx)
	chunks := slices.Collect(slices.Chunk(unique, batchKeys))
	sizes := make([]int, len(chunks))
	errs := make([]error, len(chunks))
	found := make([][]table.Item, len(chunks))
	var all sync.WaitGroup
	ends := make([]func(), len(chunks))
	for n := range chunks {
		ends[n] = meter.Begin()
	}
	for n, some := range chunks {
		all.Go(func() { found[n], sizes[n], errs[n] = t.batch(ctx, meter, some, table.IsEventual(opts)) })
	}
	all.Wait()
	for _, end := range ends {
		end()
	}
	total := 0
	var items []table.Item
	for n := range chunks {
		if errs[n] != nil {
			return nil, errs[n]
		}
		total += sizes[n]
		items = append(items, found[n]...)
	}
	return items, memory.ReserveRead(ctx, int64(total))
}

// batch reads one chunk of a BatchGet, with a further request for each 16 MB.
func (t *Table) batch(ctx context.Context, meter *table.Meter, keys []table.Key, eventual bool) ([]table.Item, int, error) {
	if err := t.admitted(ctx, false, keys...); err != nil {
		return nil, 0, err
	}
	if err := t.chance.take(ctx, readLatency); err != nil {
		return nil, 0, err
	}
	items, size := t.readAll(meter, keys, eventual)
	for left := size - batchBytes; left > 0; left -= batchBytes {
		end := meter.Begin()
		err := t.chance.take(ctx, readLatency)
		end()
		if err != nil {
			return nil, 0, err
		}
	}
	return items, size, nil
}

func (t *Table) readAll(meter *table.Meter, keys []table.Key, eventual bool) (items []table.Item, total int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	for _, k := range keys {
		p := t.of(k.Table, k.Partition)
		item := p.get(k.Sort)
		size := 0
		if item != nil {
			size = table.Size(*item)
		}
		total += size
		units := table.ReadUnits(size, eventual)
		t.charge(p, units, 0)
		meter.Units(units, 0)
		if table.Live(item, now) != nil {
			items = append(items, *copied(item))
		}
	}
	return items, total
}

// Query implements table.Store.
func (t *Table) Query(ctx context.Context, q table.Query) (table.Page, error) {
	if err := checkTable(q.Table); err != nil {
		return table.Page{}, err
	}
	if err := q.Check(); err != nil {
		return table.Page{}, err
	}
	after, err := q.After()
	if err != nil {
		return table.Page{}, err
	}
	if q.Empty() || ctx.Err() != nil {
		return table.Page{}, ctx.Err()
	}
	meter := table.MeterFrom(ctx)
	defer meter.Begin()()
	if err := t.admitted(ctx, false, table.Key{Table: q.Table, Partition: q.Partition}); err != nil {
		return table.Page{}, err
	}
	if err := t.chance.take(ctx, readLatency); err != nil {
		return table.Page{}, err
	}
	page, size := t.page(q, after)
	meter.Units(table.ReadUnits(size, q.Eventual), 0)
	return page, memory.ReserveRead(ctx, int64(size))
}

// page reads one page of a query, at most 1 MB, and charges it.
func (t *Table) page(q table.Query, after string) (page table.Page, size int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, now := t.of(q.Table, q.Partition), t.now()
	low, _ := p.find(max(q.From, q.Prefix))
	high := len(p.items)
	if q.To != "" {
		end, found := p.find(q.To)
		if high = end; found {
			high++
		}
	}
	if after != "" {
		place, found := p.find(after)
		if q.Descending {
			high = min(high, place)
		} else if low = max(low, place); found && low == place {
			low++
		}
	}
	read, last := 0, ""
	for n := range max(high-low, 0) {
		item := p.items[low+n]
		if q.Descending {
			item = p.items[high-1-n]
		}
		if !strings.HasPrefix(item.Sort, q.Prefix) {
			if q.Descending && item.Sort > q.Prefix {
				continue // above the prefix
			}
			break
		}
		if q.Limit > 0 && read == q.Limit {
			break
		}
		bytes := table.Size(*item)
		if read > 0 && size+bytes > pageBytes {
			page.Cursor = q.CursorAt(last)
			break
		}
		read, last, size = read+1, item.Sort, size+bytes
		if !item.Expired(now) {
			page.Items = append(page.Items, *copied(item))
		}
	}
	if q.Limit > 0 && read == q.Limit {
		page.Cursor = q.CursorAt(last)
	}
	t.charge(p, table.ReadUnits(size, q.Eventual), 0)
	return page, size
}
