package bolt

import (
	"bytes"
	"context"

	"docent/shared/table"

	bbolt "go.etcd.io/bbolt"
)

// Items returns all items of a table that have not expired, in the order of partition and sort
// key, as of one moment. It is for checks of the whole store.
func (s *Store) Items(ctx context.Context, tableName string) ([]table.Item, error) {
	if err := s.checkTable(tableName); err != nil {
		return nil, err
	}
	var items []table.Item
	err := s.view(ctx, func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketName(tableName)).ForEach(func(row, data []byte) error {
			partition, sort, _ := bytes.Cut(row, []byte{0})
			item, err := decode(table.Key{Table: tableName, Partition: string(partition), Sort: string(sort)}, data)
			if err != nil {
				return err
			}
			if live := table.Live(&item, s.now()); live != nil {
				items = append(items, *live)
			}
			return nil
		})
	})
	return items, err
}
