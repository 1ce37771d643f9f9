package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"docent/shared/collection"
	"docent/shared/table"
)

// Syncer brings data sources up to date with their providers. What it has read is
// saved after every page, so that a sync goes on where it was stopped in any way.
// What may then come twice changes nothing.
type Syncer struct {
	*Service
	Connections map[ProviderName]Connection
	Log         *slog.Logger
}

// Bounds of a sync.
const (
	leaseTime      = 2 * time.Minute // that a sync is left to who is at it, from its last save
	stopBefore     = 10 * time.Second
	longestWait    = 24 * time.Hour // that a provider may ask for
	firstRetry     = time.Minute    // after a failed sync; doubles with each one, up to the usual pause
	parallelStores = 16
)

// ErrUnfinished means that the time was up; the same sync goes on when it is called
// again.
var ErrUnfinished = errors.New("the sync is not finished")

// errLeaseLost: somebody else has taken the sync over.
var errLeaseLost = errors.New("somebody else is at this sync")

// LeaseHeldError means that somebody else is at the sync.
type LeaseHeldError struct{ Until time.Time }

func (e *LeaseHeldError) Error() string { return "somebody else is at this sync" }

// syncRun is a sync under way.
type syncRun struct {
	*Syncer
	Connection
	teamID, id string
	access     Access
	state      syncState
	parts      map[string]partState
	onProgress func(Progress)
}

// Sync brings one data source up to date, or as far as it comes before ctx's
// deadline: then it returns ErrUnfinished. That the provider failed is no error of
// Sync: it shows on the source. tell is called after every page.
func (s *Syncer) Sync(ctx context.Context, teamID, id string, tell func(Progress)) (Progress, error) {
	r, err := s.begin(ctx, teamID, id, tell)
	if err != nil {
		return Progress{}, err
	}
	err = r.run(ctx)
	if err != nil && !errors.Is(err, errLeaseLost) {
		err = errors.Join(err, r.release(context.WithoutCancel(ctx)))
	}
	return r.state.progress(), err
}

// begin reads what there is of a source and takes its sync.
func (s *Syncer) begin(ctx context.Context, teamID, id string, tell func(Progress)) (*syncRun, error) {
	item, err := s.get(ctx, teamID, id)
	if err != nil {
		return nil, err
	}
	r := &syncRun{Syncer: s, teamID: teamID, id: id, onProgress: tell, parts: map[string]partState{}}
	var known bool
	if r.Connection, known = s.Connections[sourceFrom(item).Provider]; !known {
		return nil, &SyncError{Code: NoConnector, Detail: "This installation does not read sources of this provider by itself.", AllParts: true}
	}
	if r.access, err = s.access(ctx, teamID, id); err != nil {
		return nil, err
	}
	for item, err := range table.All(ctx, s.Table, table.Query{Table: table.Collections, Partition: syncKey(teamID, id).Partition, Prefix: "part#"}) {
		if err != nil {
			return nil, fmt.Errorf("read the places: %w", err)
		}
		if r.parts[item.Sort[len("part#"):]], err = partStateFrom(item); err != nil {
			return nil, err
		}
	}
	return r, r.acquireLease(ctx)
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
		text, err := s.Open(ctx, item.Body, about(teamID, id))
		if err != nil {
			return a, fmt.Errorf("decrypt secrets of data source %s: %w", id, err)
		}
		if err := json.Unmarshal(text, &a.Secrets); err != nil {
			return a, fmt.Errorf("decode secrets of data source %s: %w", id, err)
		}
	}
	return a, nil
}

// acquireLease takes the sync for this process, a new one or what is left of one.
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
	if r.state.leaseUntil > now {
		return &LeaseHeldError{time.UnixMilli(r.state.leaseUntil)}
	}
	ops := []table.Op{r.state.work(r.teamID, r.id).Promise()} // there whatever happened to it
	if r.state.Began == 0 {
		r.state.syncBody = syncBody{Began: now, LastBegan: r.state.LastBegan, Failures: r.state.Failures}
		ops = append(ops, table.Delete{Key: anotherSyncKey(r.teamID, r.id)})
	}
	r.state.State = SyncReading
	return r.saveIf(ctx, cond, ops...)
}

// save keeps the state with ops in one Write, and the hold on the sync with it.
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
		return errLeaseLost
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

// release lets whoever comes next go on at once.
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
	if err != nil && table.AsConditionFailed(err) == nil {
		return fmt.Errorf("release the sync: %w", err)
	}
	return nil
}

// run reads every part, removes what is gone and ends the sync.
func (r *syncRun) run(ctx context.Context) error {
	var stop *SyncError
	for _, part := range r.Connector.Parts(r.access.Settings) {
		p := r.parts[part]
		if p.LastReadBy == r.state.Began {
			continue // before this sync was stopped
		}
		err := r.readPart(ctx, part, p)
		var failed *SyncError
		if errors.As(err, &failed) {
			r.recordFailure(ctx, part, failed)
			if failed.AllParts || !failed.RetryAt.IsZero() {
				stop = failed
				break
			}
			continue
		}
		if err != nil {
			return err
		}
		r.state.Finished++
		if r.outOfTime(ctx) {
			return ErrUnfinished
		}
	}
	if stop == nil {
		err := r.removeGone(ctx)
		if errors.As(err, &stop) {
			r.recordFailure(ctx, r.state.Part, stop)
		} else if err != nil {
			return err
		}
	}
	return r.finish(ctx, stop)
}

// recordFailure notes the first failure of a sync.
func (r *syncRun) recordFailure(ctx context.Context, part string, e *SyncError) {
	r.Log.WarnContext(ctx, "a part of a data source was not read", "team", r.teamID, "source", r.id, "part", part, "code", e.Code, "err", e)
	if r.state.Code == "" {
		r.state.Code, r.state.Detail = e.Code, part+": "+e.Detail
	}
}

// outOfTime tells whether too little time is left for another page.
func (r *syncRun) outOfTime(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && time.Until(deadline) < stopBefore
}

// finish shows on the source how the sync went and makes the next one due.
func (r *syncRun) finish(ctx context.Context, stop *SyncError) error {
	for {
		now := r.now()
		before := r.state.work(r.teamID, r.id)
		next := r.state
		next.Part, next.State, next.NotBefore = "", SyncWaiting, 0
		due := now.Add(r.SyncEvery)
		switch {
		case stop != nil && !stop.RetryAt.IsZero():
			// The same sync goes on then: what was read is not read again.
			due = now.Add(min(max(stop.RetryAt.Sub(now), time.Second), longestWait))
			next.NotBefore, next.Code, next.Detail = due.UnixMilli(), "", ""
		case r.state.Code != "" && r.state.Code != ItemRejected:
			next.Failures++
			due = now.Add(min(firstRetry<<min(next.Failures-1, 20), r.SyncEvery))
			next.LastBegan, next.Began = r.state.Began, 0
		default:
			next.Failures, next.LastBegan, next.Began = 0, r.state.Began, 0
		}
		asked := table.Op(table.Check{Key: anotherSyncKey(r.teamID, r.id), If: table.Absent()})
		if _, err := r.Table.Get(ctx, anotherSyncKey(r.teamID, r.id)); err == nil {
			asked = table.Delete{Key: anotherSyncKey(r.teamID, r.id)}
			if next.NotBefore == 0 {
				due = now
			}
		} else if !errors.Is(err, table.ErrNotFound) {
			return fmt.Errorf("look for another request: %w", err)
		}
		next.version, next.leaseUntil = next.version+1, 0
		if next.due = due.UnixMilli(); next.due == before.At {
			next.due++ // the pending work of both lies under its time
		}
		item, err := next.item(r.teamID, r.id)
		if err != nil {
			return err
		}
		work := next.work(r.teamID, r.id)
		err = r.Table.Write(ctx,
			table.Put{Item: item, If: table.VersionIs(r.state.version)}, r.statusUpdate(now),
			asked, table.Delete{Key: before.Key()}, work.Promise())
		switch failed := table.AsConditionFailed(err); {
		case err == nil:
			r.state = next
			if next.due <= now.UnixMilli()+1 {
				r.send(ctx, work, 0)
			}
			if r.onProgress != nil {
				r.onProgress(r.state.progress())
			}
			return nil
		case failed == nil:
			return fmt.Errorf("end the sync: %w", err)
		case failed.Key == item.Key:
			return errLeaseLost
		case failed.Key == collection.Key(r.teamID, r.id):
			return Missing() // deleted meanwhile
		}
	}
}

// statusUpdate shows on the source how the sync went.
func (r *syncRun) statusUpdate(now time.Time) table.Add {
	a := table.Add{Key: collection.Key(r.teamID, r.id), If: table.Exists(), Numbers: map[string]int64{}, Strings: map[string]string{}}
	code, detail := r.state.Code, r.state.Detail
	if code == "" && r.state.Rejected > 0 {
		code, detail = ItemRejected, fmt.Sprintf("%d items were left out. The first: %s.", r.state.Rejected, r.state.Rejection)
	}
	if code == "" {
		code, detail = r.state.NoticeOf, r.state.Notice
	}
	if code == RateLimited {
		detail += " The sync goes on by itself."
	}
	a.Strings[codeField], a.Strings[detailField] = code, detail
	if code != "" {
		a.Numbers[errorTimeField] = now.UnixMilli()
	}
	if r.state.Finished > 0 {
		a.Numbers[syncField] = now.UnixMilli()
	}
	switch code {
	case RateLimited: // neither ready nor failed by that
	case "", ItemRejected, r.state.NoticeOf:
		a.Strings[stateField] = string(Ready)
	default:
		a.Strings[stateField] = string(Failed)
	}
	return a
}
