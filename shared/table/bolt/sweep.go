package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"docent/shared/table"

	bbolt "go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

// sweepStep is the maximum number of items that one transaction of Sweep removes, because
// Writes wait for it.
const sweepStep = 256

// Sweep removes expired items. It returns the number of removed ones, also if it fails or ctx
// ends midway.
func (s *Store) Sweep(ctx context.Context) (removed int, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return removed, err
		}
		n, err := s.sweepOnce()
		removed += n
		if err != nil {
			return removed, fmt.Errorf("remove expired items: %w", err)
		}
		if n < sweepStep {
			return removed, nil
		}
	}
}

func (s *Store) sweepOnce() (removed int, err error) {
	// Most sweeps find nothing, and need no transaction that writes.
	due, err := s.due()
	if err != nil || !due {
		return 0, err
	}
	err = s.db.Update(func(tx *bbolt.Tx) error {
		keys, err := s.dueKeys(tx, sweepStep)
		if err != nil {
			return err
		}
		for _, k := range keys {
			item, err := load(tx, k)
			if err != nil {
				return err
			}
			c := change{key: k, old: item}
			if err := c.carryOut(tx); err != nil {
				return err
			}
		}
		removed = len(keys)
		return nil
	})
	if errors.Is(err, bbolterrors.ErrDatabaseNotOpen) {
		err = ErrClosed
	}
	if err != nil {
		return 0, err
	}
	return removed, nil
}

func (s *Store) due() (bool, error) {
	var keys []table.Key
	err := s.view(context.Background(), func(tx *bbolt.Tx) (err error) {
		keys, err = s.dueKeys(tx, 1)
		return err
	})
	return len(keys) > 0, err
}

// dueKeys returns the keys of up to limit expired items, the oldest first. It skips
// tables that the store was not opened with.
func (s *Store) dueKeys(tx *bbolt.Tx, limit int) (keys []table.Key, err error) {
	cursor := tx.Bucket(expiryBucket).Cursor()
	end := expiryTime(s.now())
	for entry, _ := cursor.First(); entry != nil && len(keys) < limit; entry, _ = cursor.Next() {
		if len(entry) > len(end) && bytes.Compare(entry[:len(end)], end) > 0 {
			break
		}
		k, err := readExpiryKey(entry)
		if err != nil {
			return nil, err
		}
		if s.tables[k.Table] {
			keys = append(keys, k)
		}
	}
	return keys, nil
}
