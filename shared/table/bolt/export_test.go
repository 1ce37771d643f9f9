package bolt

import (
	"bytes"
	"context"
	"runtime"

	"docent/shared/table"

	bbolt "go.etcd.io/bbolt"
)

// SweepStep is the maximum number of items that one transaction of Sweep removes.
const SweepStep = sweepStep

// OpenError is what Open makes of an error of the file.
var OpenError = openError

// Stored counts the items of a table that are in the file, expired or not, and
// the entries of the list of expiring items.
func (s *Store) Stored(ctx context.Context, tableName string) (items, expiring int, err error) {
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		items = tx.Bucket(bucketName(tableName)).Stats().KeyN
		expiring = tx.Bucket(expiryBucket).Stats().KeyN
		return nil
	})
	return items, expiring, err
}

// HoldWriter makes the committer take op and wait within its transaction until release, which
// returns the error of op. Other Writes wait in the meantime.
func (s *Store) HoldWriter(op table.Op) (release func() error, err error) {
	tx, err := s.db.Begin(true)
	if err != nil {
		return nil, err
	}
	r := &request{ctx: context.Background(), ops: []table.Op{op}, done: make(chan struct{})}
	s.mu.Lock()
	s.waiting = append(s.waiting, r)
	s.mu.Unlock()
	s.signal()
	for s.Waiting() > 0 {
		runtime.Gosched()
	}
	return func() error {
		if err := tx.Rollback(); err != nil {
			return err
		}
		<-r.done
		return r.err
	}, nil
}

// Waiting returns the number of requests that the committer has not taken.
func (s *Store) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}

// Commits counts the transactions that have written.
func (s *Store) Commits() (n int, err error) {
	err = s.view(context.Background(), func(tx *bbolt.Tx) error {
		n = tx.ID()
		return nil
	})
	return n, err
}

// Ruin replaces the bytes stored under k.
func (s *Store) Ruin(k table.Key, data []byte) error {
	return s.db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketName(k.Table)).Put(rowKey(k), data)
	})
}

// Raw returns the bytes stored under k.
func (s *Store) Raw(k table.Key) (data []byte, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		data = bytes.Clone(tx.Bucket(bucketName(k.Table)).Get(rowKey(k)))
		return nil
	})
	return data, err
}

// SpareSuffix ends the name of the spare file.
const SpareSuffix = spareSuffix

// Fill makes each transaction that writes fail with what full returns, if that is an error. It is called before the first Write.
func (s *Store) Fill(full func() error) { s.full = full }
