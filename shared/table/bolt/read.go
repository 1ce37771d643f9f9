package bolt

import (
	"bytes"
	"context"

	"docent/shared/memory"
	"docent/shared/table"

	bbolt "go.etcd.io/bbolt"
)

// The limits of one request of DynamoDB. Pages end and calls are counted by them here too.
const (
	batchKeys  = 100
	batchBytes = 16 << 20
	pageBytes  = 1 << 20
)

// Get implements table.Store.
func (s *Store) Get(ctx context.Context, k table.Key, opts ...table.ReadOption) (table.Item, error) {
	if err := s.checkKey(k); err != nil {
		return table.Item{}, err
	}
	meter := table.MeterFrom(ctx)
	defer meter.Begin()()
	var found *table.Item
	err := s.view(ctx, func(tx *bbolt.Tx) (err error) {
		found, err = load(tx, k)
		return err
	})
	if err != nil {
		return table.Item{}, err
	}
	size := 0
	if found != nil {
		size = table.Size(*found)
	}
	meter.Units(table.ReadUnits(size, table.IsEventual(opts)), 0)
	if found = table.Live(found, s.now()); found == nil {
		return table.Item{}, table.ErrNotFound
	}
	return *found, nil
}

func (s *Store) checkKey(k table.Key) error {
	if err := s.checkTable(k.Table); err != nil {
		return err
	}
	return k.Check()
}

// load returns the item under k, expired or not, nil if there is none.
func load(tx *bbolt.Tx, k table.Key) (*table.Item, error) {
	item, ok, err := (&lookup{tx: tx}).load(k)
	if !ok {
		return nil, err
	}
	return &item, err
}

// lookup reads items by key. Keys of one table in a row share its cursor. No item may change
// in the meantime.
type lookup struct {
	tx     *bbolt.Tx
	table  string
	cursor *bbolt.Cursor
	row    []byte
}

// load returns the item under k, expired or not, and whether there is one.
func (l *lookup) load(k table.Key) (item table.Item, ok bool, err error) {
	if l.cursor == nil || l.table != k.Table {
		l.table, l.cursor = k.Table, l.tx.Bucket(bucketName(k.Table)).Cursor()
	}
	l.row = append(appendPartition(l.row[:0], k.Partition), k.Sort...)
	row, data := l.cursor.Seek(l.row)
	if row == nil || !bytes.Equal(row, l.row) {
		return item, false, nil
	}
	item, err = decode(k, data)
	return item, true, err
}

// checkedKeys returns every key once, in the order given, if all are valid.
func (s *Store) checkedKeys(keys []table.Key) ([]table.Key, error) {
	unique := make([]table.Key, 0, len(keys))
	seen := make(map[table.Key]bool, len(keys))
	for _, k := range keys {
		if err := s.checkKey(k); err != nil {
			return nil, err
		}
		if !seen[k] {
			seen[k] = true
			unique = append(unique, k)
		}
	}
	return unique, nil
}

// BatchGet implements table.Store.
func (s *Store) BatchGet(ctx context.Context, keys []table.Key, opts ...table.ReadOption) ([]table.Item, error) {
	unique, err := s.checkedKeys(keys)
	if err != nil {
		return nil, err
	}
	if len(unique) == 0 {
		return nil, ctx.Err()
	}
	now, eventual := s.now(), table.IsEventual(opts)
	items := make([]table.Item, 0, min(len(unique), batchKeys))
	var units float64
	var sizes []int // bytes found by each request that DynamoDB would need at once
	var damaged []table.Key
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		rows := lookup{tx: tx}
		for n, k := range unique {
			if n%batchKeys == 0 {
				if err := ctx.Err(); err != nil {
					return err
				}
				sizes = append(sizes, 0)
			}
			item, ok, err := rows.load(k)
			if table.AsDamaged(err) != nil {
				damaged = append(damaged, k)
				continue
			}
			if err != nil {
				return err
			}
			size := 0
			if ok {
				size = table.Size(item)
			}
			sizes[len(sizes)-1] += size
			units += table.ReadUnits(size, eventual)
			if ok && !item.Expired(now) {
				items = append(items, item)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	meterBatch(table.MeterFrom(ctx), sizes, units)
	total := 0
	for _, size := range sizes {
		total += size
	}
	if err := memory.ReserveRead(ctx, int64(total)); err != nil {
		return nil, err
	}
	return items, damagedError(damaged)
}

// damagedError returns the error for the items that a read has met and left out; nil: none.
func damagedError(keys []table.Key) error {
	if len(keys) == 0 {
		return nil
	}
	return &table.DamagedError{Keys: keys}
}

// meterBatch counts the first requests as parallel ones, and then those for the items that did
// not fit.
func meterBatch(meter *table.Meter, sizes []int, units float64) {
	meter.Units(units, 0)
	for len(sizes) > 0 {
		var left []int
		ends := make([]func(), 0, len(sizes))
		for _, size := range sizes {
			ends = append(ends, meter.Begin())
			if size > batchBytes {
				left = append(left, size-batchBytes)
			}
		}
		for _, end := range ends {
			end()
		}
		sizes = left
	}
}

// Query implements table.Store. As on DynamoDB a page ends after Limit items or
// 1 MB, counting expired ones, and has a cursor then even if nothing follows.
func (s *Store) Query(ctx context.Context, q table.Query) (table.Page, error) {
	if err := s.checkTable(q.Table); err != nil {
		return table.Page{}, err
	}
	if err := q.Check(); err != nil {
		return table.Page{}, err
	}
	after, err := q.After()
	if err != nil {
		return table.Page{}, err
	}
	if q.Empty() {
		return table.Page{}, ctx.Err()
	}
	meter := table.MeterFrom(ctx)
	defer meter.Begin()()
	var page table.Page
	var damaged []table.Key
	size := 0
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		page, damaged, size, err = s.readPage(tx, q, after)
		return err
	})
	if err != nil {
		return table.Page{}, err
	}
	meter.Units(table.ReadUnits(size, q.Eventual), 0)
	if err := memory.ReserveRead(ctx, int64(size)); err != nil {
		return table.Page{}, err
	}
	return page, damagedError(damaged)
}

func (s *Store) readPage(tx *bbolt.Tx, q table.Query, after string) (page table.Page, damaged []table.Key, size int, err error) {
	now := s.now()
	read, last := 0, ""
	rows := newRange(tx, q, after)
	for key, data := rows.first(); key != nil; key, data = rows.next() {
		if q.Limit > 0 && read == q.Limit {
			break
		}
		sort := string(key[len(q.Partition)+1:])
		k := table.Key{Table: q.Table, Partition: q.Partition, Sort: sort}
		item, err := decode(k, data)
		if table.AsDamaged(err) != nil {
			read, last, damaged = read+1, sort, append(damaged, k)
			continue
		}
		if err != nil {
			return page, nil, size, err
		}
		itemSize := table.Size(item)
		if read > 0 && size+itemSize > pageBytes {
			page.Cursor = q.CursorAt(last)
			break
		}
		read, last, size = read+1, sort, size+itemSize
		if !item.Expired(now) {
			page.Items = append(page.Items, item)
		}
	}
	if q.Limit > 0 && read == q.Limit {
		page.Cursor = q.CursorAt(last)
	}
	return page, damaged, size, nil
}

// rows yields the keys of a query from low to high, or from high to low.
type rows struct {
	cursor     *bbolt.Cursor
	low, high  []byte // inclusive; high nil: up to the last key of low's partition
	prefix     []byte
	skip       []byte // the last key of the previous page
	descending bool
}

func newRange(tx *bbolt.Tx, q table.Query, after string) *rows {
	partition := partitionKey(q.Partition)
	r := &rows{
		cursor:     tx.Bucket(bucketName(q.Table)).Cursor(),
		prefix:     append(bytes.Clone(partition), q.Prefix...),
		low:        append(bytes.Clone(partition), q.Prefix+q.From...),
		descending: q.Descending,
	}
	if q.To != "" {
		r.high = append(bytes.Clone(partition), q.To...)
	}
	if after != "" {
		r.skip = append(bytes.Clone(partition), after...)
		if q.Descending {
			r.high = r.skip
		} else {
			r.low = r.skip
		}
	}
	return r
}

func (r *rows) first() (key, data []byte) {
	if !r.descending {
		key, data = r.cursor.Seek(r.low)
		if r.skip != nil && bytes.Equal(key, r.skip) {
			key, data = r.cursor.Next()
		}
		return r.within(key, data)
	}
	above := r.high
	if above == nil {
		above = successor(r.prefix)
	}
	key, data = r.cursor.Seek(above)
	switch {
	case key == nil:
		return r.within(r.cursor.Last())
	case r.high != nil && r.skip == nil && bytes.Equal(key, r.high):
		return r.within(key, data)
	default:
		return r.within(r.cursor.Prev())
	}
}

func (r *rows) next() (key, data []byte) {
	if r.descending {
		return r.within(r.cursor.Prev())
	}
	return r.within(r.cursor.Next())
}

func (r *rows) within(key, data []byte) ([]byte, []byte) {
	inside := key != nil && bytes.HasPrefix(key, r.prefix) && bytes.Compare(key, r.low) >= 0 &&
		(r.high == nil || bytes.Compare(key, r.high) <= 0)
	if !inside {
		return nil, nil
	}
	return key, data
}

// successor returns the least key after all keys that start with prefix, which is UTF-8 and so
// never all 0xff.
func successor(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	end[len(end)-1]++
	return end
}
