package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"docent/shared/pending"
	"docent/shared/table"
)

// PlanRebuilds plans the rebuild of each family of the team that has an outdated segment, or
// documents without vectors, and no planned rebuild. It is for teams whose documents do not change; Merge does the same for the
// others.
func (ix *Index) PlanRebuilds(ctx context.Context, teamID string) error {
	records, err := ix.records(ctx, teamID, "")
	if err != nil {
		return err
	}
	embedded, err := ix.embedded(ctx, teamID)
	if err != nil || !slices.ContainsFunc(records, func(r record) bool { return r.outdated() != "" || ix.lacksMeaning(r.family(), embedded) }) {
		return err
	}
	live, err := ix.Corpus.Sources(ctx, teamID)
	if err != nil {
		return fmt.Errorf("list the live sources: %w", err)
	}
	records = slices.DeleteFunc(records, func(r record) bool {
		_, ok := live[r.source]
		return !ok
	})
	if err := ix.planOutdated(ctx, teamID, records); err != nil {
		return err
	}
	return ix.planMeaning(ctx, teamID, records, embedded)
}

// planOutdated plans the rebuilds of the families among records, which are all segments
// of the team's live sources.
func (ix *Index) planOutdated(ctx context.Context, teamID string, records []record) error {
	order, of := families(records)
	outdated := slices.DeleteFunc(order, func(f family) bool { return !isOutdated(of[f]) })
	unplanned, err := ix.unplanned(ctx, teamID, outdated)
	if err != nil {
		return err
	}
	for _, f := range unplanned {
		if _, err := ix.plan(ctx, teamID, f, rebuildBody{Total: toRebuild(of[f], false)}); err != nil {
			return err
		}
	}
	return nil
}

// unplanned returns those of a team's families that have no planned rebuild, in their order.
func (ix *Index) unplanned(ctx context.Context, teamID string, of []family) ([]family, error) {
	if len(of) == 0 {
		return nil, nil
	}
	planned, err := ix.rebuilds(ctx, teamID)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(of, func(f family) bool {
		_, ok := planned[f]
		return ok
	}), nil
}

// AskRebuild plans the rebuild of all segments of a source and space, and of documents that are in
// none, even if no segment is outdated. It returns false if there is nothing to rebuild or a newer
// program wrote a segment. The work is pending when it returns. If such a rebuild is already in
// progress, it continues unchanged.
func (ix *Index) AskRebuild(ctx context.Context, teamID, source string, space Space) (bool, error) {
	f := family{source: source, space: space}
	if err := f.check(); err != nil {
		return false, err
	}
	asked, err := ix.askRebuildOf(ctx, teamID, f)
	if err != nil || !asked || ix.model() == "" {
		return asked, err
	}
	f.meaning = true
	_, err = ix.askRebuildOf(ctx, teamID, f)
	return true, err
}

func (ix *Index) askRebuildOf(ctx context.Context, teamID string, f family) (bool, error) {
	switch st, err := ix.stateOf(ctx, teamID, f); {
	case err == nil && st.Asked:
		return true, nil
	case err != nil && !errors.Is(err, table.ErrNotFound):
		return false, err
	}
	for {
		records, err := ix.recordsOf(ctx, teamID, f)
		if err != nil || slices.ContainsFunc(records, record.newer) {
			return false, err
		}
		if len(records) == 0 {
			listed, err := ix.Corpus.List(ctx, teamID, f.source, f.space, "", 1)
			if err != nil || len(listed) == 0 {
				return false, err
			}
		}
		marked, err := ix.markAsked(ctx, teamID, records)
		if err != nil {
			return false, err
		}
		if marked {
			return true, ix.planMissing(ctx, teamID, f, toRebuild(records, true))
		}
	}
}

// markAsked marks the records that are not outdated yet. It returns false if a merge has
// replaced one in the meantime.
func (ix *Index) markAsked(ctx context.Context, teamID string, records []record) (bool, error) {
	for i, r := range records {
		if r.outdated() != "" {
			continue
		}
		op, err := r.mark(teamID, reasonAsked)
		if err == nil {
			err = ix.Table.Write(ctx, op)
		}
		if table.AsConditionFailed(err) != nil {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("mark a segment to be rebuilt: %w", err)
		}
		records[i].content.Mark = reasonAsked
	}
	return true, nil
}

// plan makes a rebuild pending, in one Write, and sends it. It returns false if there
// already is one.
func (ix *Index) plan(ctx context.Context, teamID string, f family, body rebuildBody) (bool, error) {
	body.Began = ix.Now().UnixMilli()
	st := rebuildState{version: 1, rebuildBody: body}
	item, err := st.item(teamID, f)
	if err != nil {
		return false, err
	}
	work := st.work(teamID, f)
	err = ix.Table.Write(ctx, table.Put{Item: item, If: table.Absent()}, work.PromiseLeft(st.left()))
	if table.AsConditionFailed(err) != nil {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("plan the rebuild of %s: %w", f.source, err)
	}
	ix.send(ctx, work)
	return true, nil
}

// planMissing plans a rebuild that also looks for documents in no segment. If a rebuild
// is planned, it adds that to it.
func (ix *Index) planMissing(ctx context.Context, teamID string, f family, total int64) error {
	for {
		if planned, err := ix.plan(ctx, teamID, f, rebuildBody{Total: total, Asked: true, Missing: true}); err != nil || planned {
			return err
		}
		st, err := ix.stateOf(ctx, teamID, f)
		if errors.Is(err, table.ErrNotFound) {
			continue // it has just ended
		}
		if err != nil || st.Asked {
			return err
		}
		next := st
		next.version, next.until, next.Total = st.version+1, 0, st.Total+total
		next.Asked, next.Missing = true, true
		item, err := next.item(teamID, f)
		if err != nil {
			return err
		}
		work := next.work(teamID, f)
		err = ix.Table.Write(ctx, table.Put{Item: item, If: table.VersionIs(st.version)}, work.Extend(next.left(), ix.Now()))
		if table.AsConditionFailed(err) != nil {
			continue // its worker has saved it in the meantime
		}
		if err != nil {
			return fmt.Errorf("extend the rebuild of %s: %w", f.source, err)
		}
		ix.send(ctx, work)
		return nil
	}
}

// send sends the message of pending work.
func (ix *Index) send(ctx context.Context, work pending.Work) {
	to := ix.Rebuilds
	if work.Meaning {
		to = ix.Embeddings
	}
	if to == nil {
		return
	}
	if err := to.Send(context.WithoutCancel(ctx), work.Outgoing(0)); err != nil && ix.Warn != nil {
		ix.Warn(work, err)
	}
}

// rebuilds returns the states of a team's rebuilds.
func (ix *Index) rebuilds(ctx context.Context, teamID string) (map[family]rebuildState, error) {
	states := map[family]rebuildState{}
	for _, meaning := range []bool{false, true} {
		q := table.Query{Table: table.Index, Partition: rebuildKey(teamID, family{meaning: meaning}).Partition}
		for item, err := range table.All(ctx, ix.Table, q) {
			if err != nil {
				return nil, fmt.Errorf("list rebuilds: %w", err)
			}
			f, err := familyNamed(item.Sort)
			if err != nil {
				return nil, fmt.Errorf("rebuild %q: %w", item.Sort, err)
			}
			f.meaning = meaning
			if states[f], err = rebuildStateFrom(item); err != nil {
				return nil, err
			}
		}
	}
	return states, nil
}

// PendingRebuilds returns the work of a team's rebuilds, in the order of their starts.
func (ix *Index) PendingRebuilds(ctx context.Context, teamID string) ([]pending.Work, error) {
	states, err := ix.rebuilds(ctx, teamID)
	if err != nil {
		return nil, err
	}
	works := make([]pending.Work, 0, len(states))
	for f, st := range states {
		works = append(works, st.work(teamID, f))
	}
	slices.SortFunc(works, func(a, b pending.Work) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID))
	})
	return works, nil
}

// families groups the segments of a team by family, in the order of records.
func families(records []record) (order []family, of map[family][]record) {
	of = map[family][]record{}
	for _, r := range records {
		f := r.family()
		if of[f] == nil {
			order = append(order, f)
		}
		of[f] = append(of[f], r)
	}
	return order, of
}

// isOutdated reports whether a family has a segment to rebuild and none of a newer
// program. Otherwise it is left to that program.
func isOutdated(records []record) bool {
	return slices.ContainsFunc(records, func(r record) bool { return r.outdated() != "" }) &&
		!slices.ContainsFunc(records, record.newer)
}

// toRebuild returns how many documents the rebuild of a family with these segments
// reads: those of its outdated segments, or all of them for a full scan.
func toRebuild(records []record, missing bool) (documents int64) {
	all := int64(0)
	for _, r := range records {
		all += int64(r.content.Documents)
		switch why := r.outdated(); {
		case why == "":
		case why.namesDocuments():
			documents += int64(r.content.Documents)
		default:
			missing = true
		}
	}
	if missing {
		documents += all
	}
	return documents
}
