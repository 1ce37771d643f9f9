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
	r.state.Limited = 0
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
		next.Part, next.State, next.NotBefore, next.Limited = "", SyncWaiting, 0, 0
		due := now.Add(r.SyncEvery)
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
	switch r.state.Code { // a notice, or items that were left out, is no failure
	case RateLimited: // keeps the state
	case "", ItemRejected:
		a.Strings[stateField] = string(Ready)
	default:
		a.Strings[stateField] = string(Failed)
	}
	return a
}
