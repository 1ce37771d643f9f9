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
	removeDue := func(tx *bbolt.Tx) error {
		entries, err := s.dueEntries(tx, sweepStep)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := s.remove(tx, e); err != nil {
				return err
			}
		}
		removed = len(entries)
		return nil
	}
	if err = s.update(removeDue); s.giveFor(err) {
		err = s.update(removeDue)
	}
	if errors.Is(err, bbolterrors.ErrDatabaseNotOpen) {
		err = ErrClosed
	}
	if err != nil {
		return 0, err
	}
	return removed, nil
}

// remove removes an entry of the list of expiring items, and its item unless that was put again since it was damaged.
func (s *Store) remove(tx *bbolt.Tx, e dueEntry) error {
	if err := tx.Bucket(expiryBucket).Delete(e.entry); err != nil {
		return fmt.Errorf("update the list of expiring items: %w", err)
	}
	item, err := load(tx, e.key)
	if table.AsDamaged(err) != nil {
		item, err = nil, nil // only its expiry is known
	}
	if err != nil || item != nil && !item.Expired(s.now()) {
		return err
	}
	c := change{key: e.key, old: item}
	return c.carryOut(tx)
}

func (s *Store) due() (bool, error) {
	var entries []dueEntry
	err := s.view(context.Background(), func(tx *bbolt.Tx) (err error) {
		entries, err = s.dueEntries(tx, 1)
		return err
	})
	return len(entries) > 0, err
}

// dueEntry is an entry of the list of expiring items, and the item that it is of.
type dueEntry struct {
	entry []byte
	key   table.Key
}

// dueEntries returns the entries of up to limit expired items, the oldest first. It skips
// tables that the store was not opened with.
func (s *Store) dueEntries(tx *bbolt.Tx, limit int) (due []dueEntry, err error) {
	cursor := tx.Bucket(expiryBucket).Cursor()
	end := expiryTime(s.now())
	for entry, _ := cursor.First(); entry != nil && len(due) < limit; entry, _ = cursor.Next() {
		if len(entry) > len(end) && bytes.Compare(entry[:len(end)], end) > 0 {
			break
		}
		k, err := readExpiryKey(entry)
		if err != nil {
			return nil, err
		}
		if s.tables[k.Table] {
			due = append(due, dueEntry{bytes.Clone(entry), k})
		}
	}
	return due, nil
}
