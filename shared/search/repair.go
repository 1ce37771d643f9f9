package search

import (
	"context"
	"fmt"
	"time"
)

// repairTimeout bounds how long a query that met damage takes to plan its repair.
const repairTimeout = 2 * time.Second

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
	if r.outdated() != "" {
		return nil // it is marked: its rebuild is planned, or else a merge or the daily round plans it
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), repairTimeout)
	defer cancel()
	if marked, err := ix.markAsked(ctx, teamID, []record{r}); err != nil || !marked {
		return err
	}
	records, err := ix.recordsOf(ctx, teamID, r.family())
	if err != nil {
		return err
	}
	return ix.planOutdated(ctx, teamID, records)
}
