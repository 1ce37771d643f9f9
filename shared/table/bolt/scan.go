package bolt

import (
	"bytes"
	"context"
	"iter"
	"slices"

	"docent/shared/table"

	bbolt "go.etcd.io/bbolt"
)

// Scan yields the items of a table that have not expired, in the order of partition and sort
// key. It is for copies of the whole store, and reads a page at a time: a Write during it is
// seen only if its key is still to come.
func (s *Store) Scan(ctx context.Context, tableName string) iter.Seq2[table.Item, error] {
	return func(yield func(table.Item, error) bool) {
		if err := s.checkTable(tableName); err != nil {
			yield(table.Item{}, err)
			return
		}
		for after, more := []byte(nil), true; more; {
			var items []table.Item
			err := s.view(ctx, func(tx *bbolt.Tx) (err error) {
				items, after, err = s.scanPage(tx, tableName, after)
				return err
			})
			if err != nil {
				yield(table.Item{}, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			more = after != nil
		}
	}
}

// scanPage returns up to pageBytes of items behind the key after, and the last key that it
// read, nil at the end.
func (s *Store) scanPage(tx *bbolt.Tx, tableName string, after []byte) (items []table.Item, last []byte, err error) {
	cursor := tx.Bucket(bucketName(tableName)).Cursor()
	row, data := cursor.Seek(after)
	if after != nil && bytes.Equal(row, after) {
		row, data = cursor.Next()
	}
	for size, now := 0, s.now(); row != nil; row, data = cursor.Next() {
		partition, sort, _ := bytes.Cut(row, []byte{0})
		item, err := decode(table.Key{Table: tableName, Partition: string(partition), Sort: string(sort)}, data)
		if err != nil {
			return nil, nil, err
		}
		if live := table.Live(&item, now); live != nil {
			items = append(items, *live)
		}
		if size += len(row) + len(data); size > pageBytes {
			return items, slices.Clone(row), nil
		}
	}
	return items, nil, nil
}

// PutAll stores items, several in one transaction. If it fails, some may be stored.
func (s *Store) PutAll(ctx context.Context, items []table.Item) error {
	var ops []table.Op
	size := 0
	for _, item := range items {
		itemSize := table.Size(item)
		if len(ops) == table.MaxOps || len(ops) > 0 && size+itemSize > table.MaxWriteBytes {
			if err := s.Write(ctx, ops...); err != nil {
				return err
			}
			ops, size = nil, 0
		}
		ops, size = append(ops, table.Put{Item: item}), size+itemSize
	}
	if len(ops) == 0 {
		return ctx.Err()
	}
	return s.Write(ctx, ops...)
}

// DeleteAll removes the items under keys, several in one transaction. If it fails, some may be
// removed.
func (s *Store) DeleteAll(ctx context.Context, keys []table.Key) error {
	for some := range slices.Chunk(keys, table.MaxOps) {
		ops := make([]table.Op, len(some))
		for n, k := range some {
			ops[n] = table.Delete{Key: k}
		}
		if err := s.Write(ctx, ops...); err != nil {
			return err
		}
	}
	return ctx.Err()
}
