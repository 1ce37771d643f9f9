package bolt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"docent/shared/memory"
	"docent/shared/table"

	bbolt "go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

// Bounds of the requests that share one bbolt transaction.
const (
	groupRequests = 512
	groupLarge    = 512 << 10 // bytes of large requests of one owner, or one of them
	largeRequest  = 16 << 10  // bytes
)

// request is one Write or Add that waits for the committer.
type request struct {
	ctx     context.Context
	ops     []table.Op
	freeing bool          // of ctx: it is a part of removing data
	done    chan struct{} // closed when the fields below are set
	item    table.Item
	cost    units
	err     error
}

// transactionError is a failure of bbolt while a transaction is changed. The transaction cannot
// be committed any more.
type transactionError struct{ err error }

func (e *transactionError) Error() string { return e.err.Error() }
func (e *transactionError) Unwrap() error { return e.err }

// submit hands ops to the committer and waits for them to be on disk. When ctx
// ends before the committer has taken them, nothing is written.
func (s *Store) submit(ctx context.Context, ops []table.Op) (table.Item, error) {
	meter := table.MeterFrom(ctx)
	defer meter.Begin()()
	if err := ctx.Err(); err != nil {
		return table.Item{}, err
	}
	r := &request{ctx: ctx, ops: ops, freeing: table.IsFreeing(ctx), done: make(chan struct{})}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return table.Item{}, ErrClosed
	}
	s.waiting = append(s.waiting, r)
	s.mu.Unlock()
	s.signal()
	defer memory.Pause(ctx)()
	select {
	case <-r.done:
		meter.Units(r.cost.read, r.cost.write)
		return r.item, r.err
	case <-ctx.Done():
	}
	if s.withdraw(r) {
		return table.Item{}, ctx.Err()
	}
	// The committer has it, and may still read memory of the caller's items.
	<-r.done
	meter.Units(r.cost.read, r.cost.write)
	return r.item, r.err
}

// withdraw takes r back, unless the committer has already taken it.
func (s *Store) withdraw(r *request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := slices.Index(s.waiting, r)
	if n < 0 {
		return false
	}
	s.waiting = slices.Delete(slices.Clone(s.waiting), n, n+1)
	return true
}

func (s *Store) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// commitLoop is the only goroutine that carries out Writes. Writes that arrive while it waits
// for the disk are carried out together in the next transaction.
func (s *Store) commitLoop() {
	defer close(s.committed)
	for range s.wake {
		for {
			group, closed := s.take()
			if len(group) > 0 {
				s.commit(group)
				continue
			}
			if closed {
				return
			}
			break
		}
	}
}

// take removes as many waiting requests as fit into one transaction. Small requests may
// overtake large ones, and a transaction takes only a few large ones of each owner, so that a
// long body delays the others only briefly. closed means that no more requests will come.
func (s *Store) take() (group []*request, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var left []*request
	large := map[string]int{} // bytes, by owner
	for _, r := range s.waiting {
		size, owner := r.size()
		if len(group) == groupRequests || size >= largeRequest && large[owner] > 0 && large[owner]+size > groupLarge {
			left = append(left, r)
			continue
		}
		if size >= largeRequest {
			large[owner] += size
		}
		group = append(group, r)
	}
	s.waiting = left
	return group, s.closed
}

// size returns about how many bytes r writes, and the owner of the partition: its first
// segment, which is the team's id wherever a team's data is large.
func (r *request) size() (size int, owner string) {
	for _, op := range r.ops {
		if put, ok := op.(table.Put); ok {
			size += len(put.Item.Body)
			owner, _, _ = strings.Cut(put.Item.Partition, "/")
		}
	}
	return size, owner
}

// commit carries out group in one transaction and answers every caller. If the transaction
// fails, all requests fail, even those whose condition did not hold: the items they saw were
// not stored. On a full disk, those that free room are carried out alone.
func (s *Store) commit(group []*request) {
	freeing, others := s.transactInRoom(group)
	for _, r := range group {
		err := others
		if r.freeing {
			err = freeing
		}
		if err != nil {
			r.item, r.cost, r.err = table.Item{}, units{}, fmt.Errorf("commit: %w", err)
		}
		close(r.done)
	}
}

var errUnchanged = errors.New("nothing changed")

func (s *Store) transact(group []*request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}()
	err = s.update(func(tx *bbolt.Tx) error {
		changed := false
		for _, r := range group {
			if r.err = r.ctx.Err(); r.err != nil {
				continue
			}
			r.item, r.cost, r.err = s.apply(tx, r.ops)
			var broken *transactionError
			if errors.As(r.err, &broken) {
				return broken
			}
			changed = changed || r.err == nil && len(r.ops) > 0
		}
		if !changed {
			return errUnchanged
		}
		return nil
	})
	switch {
	case errors.Is(err, errUnchanged):
		return nil
	case errors.Is(err, bbolterrors.ErrDatabaseNotOpen):
		return ErrClosed
	}
	return err
}
