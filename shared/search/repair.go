package search

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"
)

// repairTimeout bounds how long a query that met damage takes to plan repairs, of all segments together.
const repairTimeout = 2 * time.Second

// repairEnd is when a query stops to plan repairs, once it has begun the first.
type repairEnd struct{ at time.Time }

type repairEndKey struct{}

// withRepairs returns the context of a query, whose repairs share repairTimeout.
func withRepairs(ctx context.Context) context.Context {
	return context.WithValue(ctx, repairEndKey{}, &repairEnd{})
}

// repairsEnd returns the end of the repairs of the query of ctx, which withRepairs made.
func repairsEnd(ctx context.Context) time.Time {
	end := ctx.Value(repairEndKey{}).(*repairEnd)
	if end.at.IsZero() {
		end.at = time.Now().Add(repairTimeout)
	}
	return end.at
}

// Between two attempts to plan the repair of a segment, a program lets pass repairPause, so that searches do not wait for a
// table that takes no writes. It remembers the attempts of mostRepairs segments.
const (
	repairPause = time.Minute
	mostRepairs = 1000
)

// repairs are the attempts of the last repairPause. The zero value is empty.
type repairs struct {
	mu    sync.Mutex
	begun map[string]time.Time // by the segment's file
}

// begin reports whether an attempt is due for a segment, and notes it.
func (r *repairs) begin(blob string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	recent := func(begun time.Time) bool { return now.Sub(begun).Abs() < repairPause } // a clock may be set back
	if begun, ok := r.begun[blob]; ok && recent(begun) {
		return false
	}
	if len(r.begun) >= mostRepairs {
		maps.DeleteFunc(r.begun, func(_ string, begun time.Time) bool { return !recent(begun) })
	}
	if len(r.begun) >= mostRepairs {
		return false
	}
	if r.begun == nil {
		r.begun = map[string]time.Time{}
	}
	r.begun[blob] = now
	return true
}

// repair reports a segment that a query could not read, and plans its rebuild, because no merge may come by for a long time. The query
// goes on without the segment, also if that fails. Other queries may not need what is damaged, so the segment is not marked as
// damaged: it answers until its documents are in a new one. If its list of documents is damaged too, the rebuild marks it.
func (ix *Index) repair(ctx context.Context, teamID string, r record, cause error) {
	if err := ix.planRepair(ctx, teamID, r); err != nil {
		cause = fmt.Errorf("%w; its rebuild was not planned: %w", cause, err)
	}
	ix.fault(ctx, cause)
}

func (ix *Index) planRepair(ctx context.Context, teamID string, r record) error {
	end := repairsEnd(ctx)
	if !time.Now().Before(end) || !ix.repairs.begin(r.blob, ix.Now()) {
		return nil // a later query plans it
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), end)
	defer cancel()
	// One that is outdated or marked may still lack its rebuild: whoever marked it may have failed to plan it.
	if marked, err := ix.markAsked(ctx, teamID, []record{r}); err != nil || !marked {
		return err
	}
	records, err := ix.recordsOf(ctx, teamID, r.family())
	if err != nil {
		return err
	}
	return ix.planOutdated(ctx, teamID, records)
}
