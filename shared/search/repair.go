package search

import (
	"context"
	"fmt"
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

// repairPause is the least time between two attempts of a process to plan the repair of the same segment. So searches do not
// wait again and again for a table that takes no writes.
const repairPause = time.Minute

// repair reports a segment that a query could not read, and plans its rebuild, because the next merge may be far away. The
// query continues without the segment, even if planning fails. The segment is not marked as damaged, because other queries
// may not need the damaged part: it is searched until its documents are in a new segment. If its list of documents is
// damaged too, the rebuild marks it.
func (ix *Index) repair(ctx context.Context, teamID string, r record, cause error) {
	if err := ix.planRepair(ctx, teamID, r); err != nil {
		cause = fmt.Errorf("%w; its rebuild was not planned: %w", cause, err)
	}
	ix.fault(ctx, cause)
}

func (ix *Index) planRepair(ctx context.Context, teamID string, r record) error {
	end := repairsEnd(ctx)
	if !time.Now().Before(end) || !ix.repairs.Due(r.blob, ix.Now(), repairPause) {
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
