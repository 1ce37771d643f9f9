package source

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"docent/shared/collection"
	"docent/shared/table"
)

// Syncer brings data sources up to date with their providers. It saves a checkpoint
// after every page, so an interrupted sync resumes there. Reading a page twice
// changes nothing.
type Syncer struct {
	*Service
	Connections map[ProviderName]Connection
	Log         *slog.Logger
	// Turn is after how long Batch lets other sources have their turn, once it has saved a page of one. One that waits long for the first
	// page, such as for the rest of an archive, goes on for as long again. 0: until the deadline of its context.
	Turn time.Duration
}

// Bounds of a sync.
const (
	leaseTime      = 2 * time.Minute  // each save renews the lease
	stopBefore     = 10 * time.Second // before the deadline
	longestWait    = 24 * time.Hour   // that a provider may ask for
	firstRetry     = time.Minute      // after a failed sync; doubles with each failure, up to SyncEvery
	parallelStores = 16
	askFor         = time.Hour        // in which the provider is asked again whether an item is deleted
	listLag        = 10 * time.Minute // for which a provider may list what was removed
)

// ErrUnfinished means that the deadline was near. The next call of Sync resumes the
// same sync.
var ErrUnfinished = errors.New("the sync is not finished")

// errLeaseLost means that another process has taken over the sync.
var errLeaseLost = errors.New("another process has taken over this sync")

// ErrPaused means that the source is paused.
var ErrPaused = errors.New("the data source is paused")

// LeaseHeldError means that another process is running the sync.
type LeaseHeldError struct{ Until time.Time }

func (e *LeaseHeldError) Error() string { return "another process is running this sync" }

// syncRun is a running sync.
type syncRun struct {
	*Syncer
	Connection
	teamID, id string
	access     Access
	state      syncState
	parts      map[string]partState
	onProgress func(Progress)
	vain       time.Duration     // that questions whether items are deleted took, without an answer
	exist      map[string][]byte // ids of items that the provider has said exist, by part; see keepAnswers
	turn       time.Duration     // see Syncer.Turn
	waited     time.Duration     // until it had saved a page
	begun      time.Time
	progressed bool               // this run has saved a page
	cancel     context.CancelFunc // ends the context of the run
	renewing   sync.Mutex         // the run and its connector may renew the lease at the same time; see hold
}

// Sync brings one data source up to date. It calls onProgress, if not nil, after
// every page. It returns ErrUnfinished if ctx's deadline stops it, and a
// *LeaseHeldError while another process runs the sync. A failure of the provider is
// no error; it is recorded on the source.
func (s *Syncer) Sync(ctx context.Context, teamID, id string, onProgress func(Progress)) (Progress, error) {
	return s.sync(ctx, teamID, id, onProgress, 0)
}

// sync is Sync that ends with ErrUnfinished after a turn, if that is not 0.
func (s *Syncer) sync(ctx context.Context, teamID, id string, onProgress func(Progress), turn time.Duration) (Progress, error) {
	r, err := s.begin(ctx, teamID, id, onProgress)
	if err != nil {
		return Progress{}, err
	}
	r.turn = turn
	run, cancel := context.WithCancel(ctx)
	defer cancel()
	r.cancel = cancel
	err = r.run(run)
	if err != nil && !errors.Is(err, errLeaseLost) {
		err = errors.Join(err, r.release(context.WithoutCancel(ctx)))
	}
	return r.state.progress(), err
}

// begin reads a source with its checkpoints and acquires its lease.
func (s *Syncer) begin(ctx context.Context, teamID, id string, onProgress func(Progress)) (*syncRun, error) {
	item, err := s.get(ctx, teamID, id)
	if err != nil {
		return nil, err
	}
	r := &syncRun{Syncer: s, teamID: teamID, id: id, onProgress: onProgress, parts: map[string]partState{}, exist: map[string][]byte{}, begun: time.Now()}
	var known bool
	if r.Connection, known = s.Connections[sourceFrom(item).Provider]; !known {
		return nil, &SyncError{Code: NoConnector, Detail: "This installation has no connector for this provider.", AllParts: true}
	}
	if err := r.acquireLease(ctx); err != nil {
		return nil, err
	}
	// Settings that change from here on end the lease.
	if err := r.readAccess(ctx); err != nil {
		return nil, errors.Join(err, r.release(context.WithoutCancel(ctx)))
	}
	return r, nil
}

// readAccess reads the settings, secrets and checkpoints of the source.
func (r *syncRun) readAccess(ctx context.Context) (err error) {
	if r.access, err = r.Syncer.access(ctx, r.teamID, r.id); err != nil {
		return err
	}
	for item, err := range table.All(ctx, r.Table, table.Query{Table: table.Collections, Partition: syncKey(r.teamID, r.id).Partition, Prefix: "part#"}) {
		if err != nil {
			return fmt.Errorf("read the checkpoints: %w", err)
		}
		if r.parts[item.Sort[len("part#"):]], err = partStateFrom(item); err != nil {
			return err
		}
	}
	return nil
}

// access reads the settings and secrets of a source.
func (s *Syncer) access(ctx context.Context, teamID, id string) (Access, error) {
	var a Access
	items, err := s.Table.BatchGet(ctx, []table.Key{settingsKey(teamID, id), secretsKey(id)})
	if err != nil {
		return a, fmt.Errorf("read settings: %w", err)
	}
	for _, item := range items {
		if item.Key == settingsKey(teamID, id) {
			if a.Settings, err = settingsFrom(item); err != nil {
				return a, err
			}
			continue
		}
		if a.Secrets, err = s.openSecrets(ctx, teamID, id, item); err != nil {
			return a, err
		}
	}
	return a, nil
}

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
		return ErrPaused
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

// run reads every part, removes deleted items and finishes the sync.
func (r *syncRun) run(ctx context.Context) error {
	if err := r.applyChanges(ctx); err != nil {
		return err
	}
	named := r.Connector.Parts(r.access.Settings)
	stop, err := r.readParts(ctx, named)
	if err == nil && stop == nil {
		if err = r.removeUnlisted(ctx, named); err == nil {
			stop, err = r.readParts(ctx, r.listedParts(named))
		}
	}
	if err != nil {
		return err
	}
	if stop == nil {
		err := r.removeGone(ctx)
		switch {
		case err != nil && r.progressed && errors.Is(ctx.Err(), context.DeadlineExceeded):
			return ErrUnfinished // the next run gets further
		case errors.As(err, &stop):
			r.recordFailure(ctx, r.state.Part, stop)
		case err != nil:
			return err
		}
	}
	return r.finish(ctx, stop)
}

// readParts reads each of parts that this sync has not read before an interruption. stop is
// the failure that ended it, if the others would fail too.
func (r *syncRun) readParts(ctx context.Context, parts []string) (stop *SyncError, err error) {
	for _, part := range parts {
		p := r.parts[part]
		if p.LastReadBy == r.state.Began {
			continue
		}
		if p.PassedBy == r.state.Began {
			if r.state.Code == "" { // a rate limit has come since, and finish has forgotten the failures before it
				r.recordFailure(ctx, part, &SyncError{Code: Unreadable, Detail: "The provider did not return the next page in time."})
			}
			continue
		}
		err := r.readPart(ctx, part, p)
		if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, r.endTurn(context.WithoutCancel(ctx), part)
		}
		var failed *SyncError
		if errors.As(err, &failed) {
			r.recordFailure(ctx, part, failed)
			if failed.AllParts || !failed.RetryAt.IsZero() {
				return failed, nil
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		r.state.Finished++
		if r.outOfTime(ctx) {
			return nil, ErrUnfinished
		}
	}
	return nil, nil
}

// endTurn ends a run whose time is over while it waits for a page of a part. If it has saved nothing, another run would get no further: then
// the sync goes on with the other parts, and the next one tries again.
func (r *syncRun) endTurn(ctx context.Context, part string) error {
	if r.progressed {
		return ErrUnfinished
	}
	ctx, cancel := context.WithTimeout(ctx, stopBefore)
	defer cancel()
	r.recordFailure(ctx, part, &SyncError{Code: Unreadable, Detail: fmt.Sprintf("The provider did not return the next page within %s.", time.Since(r.begun).Round(time.Minute))})
	p := r.parts[part]
	p.PassedBy = r.state.Began
	return errors.Join(r.savePart(ctx, part, &p), ErrUnfinished)
}

// recordFailure logs e and keeps the first failure of a sync.
func (r *syncRun) recordFailure(ctx context.Context, part string, e *SyncError) {
	r.Log.WarnContext(ctx, "a part of a data source was not read", "team", r.teamID, "source", r.id, "part", part, "code", e.Code, "err", e)
	if r.state.Code == "" {
		r.state.Code, r.state.Detail = e.Code, part+": "+e.Detail
	}
}

// outOfTime reports whether too little time is left for another page.
func (r *syncRun) outOfTime(ctx context.Context) bool {
	return ctx.Err() != nil || r.left(ctx) < stopBefore
}

// left returns how much time the run has left: until the end of its turn if it has saved something, otherwise until the deadline of ctx.
func (r *syncRun) left(ctx context.Context) time.Duration {
	left := time.Duration(math.MaxInt64)
	if deadline, ends := ctx.Deadline(); ends {
		left = time.Until(deadline)
	}
	if r.progressed && r.turn > 0 {
		left = min(left, max(r.turn, 2*r.waited)-time.Since(r.begun))
	}
	return left
}

// progress notes that the run has saved something.
func (r *syncRun) progress() {
	if !r.progressed {
		r.progressed, r.waited = true, time.Since(r.begun)
	}
}

// finish records the result on the source and schedules the next sync.
func (r *syncRun) finish(ctx context.Context, stop *SyncError) error {
	for {
		now := r.now()
		before := r.state.work(r.teamID, r.id)
		next := r.state
		next.Part, next.State, next.NotBefore = "", SyncWaiting, 0
		due := now.Add(r.SyncEvery)
		switch {
		case stop != nil && !stop.RetryAt.IsZero():
			// The same sync resumes then, without reading its finished parts again.
			due = now.Add(min(max(stop.RetryAt.Sub(now), time.Second), longestWait))
			next.NotBefore, next.Code, next.Detail = due.UnixMilli(), "", ""
		case r.state.Code != "" && r.state.Code != ItemRejected:
			next.Failures++
			due = now.Add(min(firstRetry<<min(next.Failures-1, 20), r.SyncEvery))
			next.LastBegan, next.Began = r.state.Began, 0
		default:
			next.Failures, next.LastBegan, next.Began = 0, r.state.Began, 0
		}
		request := table.Op(table.Check{Key: anotherSyncKey(r.teamID, r.id), If: table.Absent()})
		if _, err := r.Table.Get(ctx, anotherSyncKey(r.teamID, r.id)); err == nil {
			request = table.Delete{Key: anotherSyncKey(r.teamID, r.id)}
			if next.NotBefore == 0 {
				due = now
			}
		} else if !errors.Is(err, table.ErrNotFound) {
			return fmt.Errorf("read the request for another sync: %w", err)
		}
		next.version, next.leaseUntil = next.version+1, 0
		if next.due = due.UnixMilli(); next.due == before.At {
			next.due++ // both pending keys contain the due time and must differ
		}
		item, err := next.item(r.teamID, r.id)
		if err != nil {
			return err
		}
		work := next.work(r.teamID, r.id)
		var told notices
		if next.Failures == 1 && r.state.Failures == 0 {
			if told, err = r.failedNotices(ctx, r.teamID, r.id); err != nil {
				return err
			}
		}
		err = r.Table.Write(ctx, append(told.promises(),
			table.Put{Item: item, If: table.VersionIs(r.state.version)}, r.statusUpdate(now),
			request, table.Delete{Key: before.Key()}, work.Promise())...)
		switch failed := table.AsConditionFailed(err); {
		case err == nil:
			r.state = next
			r.Outbox.Send(ctx, told...)
			if next.due <= now.UnixMilli()+1 {
				r.send(ctx, work, 0)
			}
			if r.onProgress != nil {
				r.onProgress(r.state.progress())
			}
			return nil
		case failed == nil:
			return fmt.Errorf("finish the sync: %w", err)
		case failed.Key == item.Key:
			return errors.Join(errLeaseLost, r.yield(ctx))
		case failed.Key == collection.Key(r.teamID, r.id):
			return Missing() // deleted during the sync
		}
	}
}

// statusUpdate returns the operation that records the result on the source.
func (r *syncRun) statusUpdate(now time.Time) table.Add {
	a := table.Add{Key: collection.Key(r.teamID, r.id), If: table.Exists(), Numbers: map[string]int64{}, Strings: map[string]string{}}
	code, detail := r.state.Code, r.state.Detail
	if code == "" && r.state.Rejected > 0 {
		code, detail = ItemRejected, fmt.Sprintf("%d items were left out. The first: %s.", r.state.Rejected, r.state.Rejection)
		if r.state.Rejected == 1 {
			detail = fmt.Sprintf("1 item was left out: %s.", r.state.Rejection)
		}
	}
	if code == "" {
		code, detail = r.state.NoticeOf, r.state.Notice
	}
	if code == RateLimited {
		detail += " The sync continues automatically."
	}
	a.Strings[codeField], a.Strings[detailField] = code, detail
	if code != "" {
		a.Numbers[errorTimeField] = now.UnixMilli()
	}
	if r.state.Finished > 0 {
		a.Numbers[syncField] = now.UnixMilli()
	}
	switch r.state.Code { // a notice, or items that were left out, is no failure
	case RateLimited: // keeps the state
	case "", ItemRejected:
		a.Strings[stateField] = string(Ready)
	default:
		a.Strings[stateField] = string(Failed)
	}
	return a
}
