package source

import (
	"context"
	"errors"
	"fmt"
	"time"

	"docent/shared/table"
)

// LeaseHeldError means that another process is running the sync.
type LeaseHeldError struct{ Until time.Time }

func (e *LeaseHeldError) Error() string { return "another process is running this sync" }

// acquireLease acquires the sync for this process, starting or resuming it. It
// returns a *LeaseHeldError while another process holds it.
func (r *syncRun) acquireLease(ctx context.Context) error {
	item, err := r.Table.Get(ctx, syncKey(r.teamID, r.id))
	now := r.now().UnixMilli()
	cond := table.VersionIs(item.Version)
	switch {
	case errors.Is(err, table.ErrNotFound):
		r.state, cond = syncState{due: now}, table.Absent()
	case err != nil:
		return fmt.Errorf("read the state of the sync: %w", err)
	default:
		if r.state, err = syncStateFrom(item); err != nil {
			return err
		}
	}
	if r.state.Paused {
		return errPaused
	}
	if r.state.leased(r.now()) {
		return &LeaseHeldError{time.UnixMilli(r.state.leaseUntil)}
	}
	ops := []table.Op{r.state.work(r.teamID, r.id).Promise()} // restores it if it is missing
	if r.state.Began == 0 {
		r.state.syncBody = syncBody{Began: now, LastBegan: r.state.LastBegan, Failures: r.state.Failures, Changed: r.state.Changed}
		ops = append(ops, table.Delete{Key: anotherSyncKey(r.teamID, r.id)})
	}
	r.state.State = SyncReading
	return r.saveIf(ctx, cond, ops...)
}

// save writes the state and ops in one Write and renews the lease.
func (r *syncRun) save(ctx context.Context, ops ...table.Op) error {
	return r.saveIf(ctx, table.VersionIs(r.state.version), ops...)
}

func (r *syncRun) saveIf(ctx context.Context, cond table.Condition, ops ...table.Op) error {
	next := r.state
	next.version++
	next.leaseUntil = r.now().Add(leaseTime).UnixMilli()
	item, err := next.item(r.teamID, r.id)
	if err != nil {
		return err
	}
	err = r.Table.Write(ctx, append([]table.Op{table.Put{Item: item, If: cond}}, ops...)...)
	if table.AsConditionFailed(err) != nil {
		return errors.Join(errLeaseLost, r.yield(ctx))
	}
	if err != nil {
		return fmt.Errorf("save the state of the sync: %w", err)
	}
	r.state = next
	if r.onProgress != nil {
		r.onProgress(r.state.progress())
	}
	return nil
}

// release gives up the lease, so that another process can resume at once.
func (r *syncRun) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopBefore)
	defer cancel()
	next := r.state
	next.version++
	next.leaseUntil = 0
	item, err := next.item(r.teamID, r.id)
	if err != nil {
		return err
	}
	err = r.Table.Write(ctx, table.Put{Item: item, If: table.VersionIs(r.state.version)})
	if table.AsConditionFailed(err) != nil {
		return r.yield(ctx)
	}
	if err != nil {
		return fmt.Errorf("release the sync: %w", err)
	}
	return nil
}

// yield gives up the lease of a run that was interrupted by a change of the source, so
// that the next sync need not wait for the end of the lease. It does nothing if another
// process has taken over.
func (r *syncRun) yield(ctx context.Context) error {
	item, err := r.Table.Get(ctx, syncKey(r.teamID, r.id))
	if errors.Is(err, table.ErrNotFound) {
		return nil // the source was deleted
	}
	if err != nil {
		return fmt.Errorf("read the state of the sync: %w", err)
	}
	st, err := syncStateFrom(item)
	if err != nil || st.leaseUntil != r.state.leaseUntil || st.leaseUntil == 0 {
		return err
	}
	version := st.version
	st.version, st.leaseUntil, st.State = version+1, 0, SyncWaiting
	if item, err = st.item(r.teamID, r.id); err != nil {
		return err
	}
	err = r.Table.Write(ctx, table.Put{Item: item, If: table.VersionIs(version)})
	if err == nil && !st.Paused {
		r.send(ctx, st.work(r.teamID, r.id), 0)
	}
	if err != nil && table.AsConditionFailed(err) == nil {
		return fmt.Errorf("release the sync: %w", err)
	}
	return nil
}
