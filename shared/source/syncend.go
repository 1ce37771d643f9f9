package source

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"docent/shared/collection"
	"docent/shared/table"
)

// endTurn ends a run whose time is over while it waits for a page of a part. If it has saved nothing, another run would get no further: then
// the sync continues with the other parts, and the next one tries again.
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
	r.state.Limited = 0
	if !r.progressed {
		r.progressed, r.waited = true, time.Since(r.begun)
	}
}

// finish records the result on the source and schedules the next sync. stop is what ended the run early, or nil.
func (r *syncRun) finish(ctx context.Context, stop *SyncError) error {
	for {
		if raced, err := r.finishOnce(ctx, stop); !raced {
			return err
		}
	}
}

// finishOnce is an attempt at finish. raced: a request for another sync came or went in the meantime, so nothing was written.
func (r *syncRun) finishOnce(ctx context.Context, stop *SyncError) (raced bool, err error) {
	now := r.now()
	before := r.state.work(r.teamID, r.id)
	next, due := r.outcome(now, stop)
	request, requested, err := r.takeRequest(ctx)
	if err != nil {
		return false, err
	}
	if requested && next.NotBefore == 0 {
		due = now
	}
	next.version, next.leaseUntil = next.version+1, 0
	if next.due = due.UnixMilli(); next.due == before.At {
		next.due++ // both pending keys contain the due time and must differ
	}
	item, err := next.item(r.teamID, r.id)
	if err != nil {
		return false, err
	}
	work := next.work(r.teamID, r.id)
	var told notices
	if next.Failures == 1 && r.state.Failures == 0 {
		if told, err = r.failedNotices(ctx, r.teamID, r.id); err != nil {
			return false, err
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
		return false, nil
	case failed == nil:
		return false, fmt.Errorf("finish the sync: %w", err)
	case failed.Key == item.Key:
		return false, errors.Join(errLeaseLost, r.yield(ctx))
	case failed.Key == collection.Key(r.teamID, r.id):
		return false, Missing() // deleted during the sync
	}
	return true, nil
}

// outcome returns the state after the run, and when the next sync is due.
func (r *syncRun) outcome(now time.Time, stop *SyncError) (next syncState, due time.Time) {
	next, due = r.state, now.Add(r.SyncEvery)
	next.Part, next.State, next.NotBefore, next.Limited = "", SyncWaiting, 0, 0
	switch {
	case stop != nil && !stop.RetryAt.IsZero():
		// The same sync resumes then, without reading its finished parts again.
		if !r.progressed {
			next.Limited = r.state.Limited + 1
		}
		due = now.Add(r.limitedFor(stop.RetryAt.Sub(now), next.Limited))
		next.NotBefore, next.Code, next.Detail = due.UnixMilli(), "", ""
	case r.state.Code != "" && r.state.Code != ItemRejected:
		next.Failures++
		due = now.Add(min(firstRetry<<min(next.Failures-1, 20), r.SyncEvery))
		next.LastBegan, next.Began = r.state.Began, 0
	default:
		next.Failures, next.LastBegan, next.Began = 0, r.state.Began, 0
	}
	return next, due
}

// takeRequest returns whether another sync was requested during the run, and the operation that removes the request, or
// checks that there is still none.
func (r *syncRun) takeRequest(ctx context.Context) (op table.Op, requested bool, err error) {
	key := anotherSyncKey(r.teamID, r.id)
	switch _, err := r.Table.Get(ctx, key); {
	case err == nil:
		return table.Delete{Key: key}, true, nil
	case errors.Is(err, table.ErrNotFound):
		return table.Check{Key: key, If: table.Absent()}, false, nil
	default:
		return nil, false, fmt.Errorf("read the request for another sync: %w", err)
	}
}

// limitedFor returns how long a sync waits when the provider asks for a wait, after inVain consecutive runs that read nothing. A provider
// that asks for a second each time would get a request per second, so the wait doubles with each of these runs, up to SyncEvery.
func (r *syncRun) limitedFor(asked time.Duration, inVain int) time.Duration {
	asked = min(max(asked, time.Second), longestWait)
	return max(asked, min(asked<<min(max(inVain-1, 0), 10), r.SyncEvery))
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
	switch r.state.Code { // a notice, or items that were left out, is not a failure
	case RateLimited: // keeps the state
	case "", ItemRejected:
		a.Strings[stateField] = string(Ready)
	default:
		a.Strings[stateField] = string(Failed)
	}
	return a
}
