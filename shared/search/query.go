package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"docent/shared/blob"
	"docent/shared/search/segment"
)

// Bounds of a Search.
const (
	defaultLimit   = 10
	maxLimit       = 200
	prefixSources  = 10            // a query of at most this many sources lists each one by its prefix
	pageCandidates = 50            // candidates of one BatchGet
	pageUnits      = 49            // read units of one BatchGet: 1 a record, 1 a chunk; 60 with the lists of ten sources
	firstDepth     = 100           // candidates of a profile that are ranked at first: two pages
	maxCandidates  = 400           // of a profile: 200, with room for repetitions
	chosenFrom     = 4 * pageUnits // passages that a query with Choose reads
	perDocument    = 8             // passages of one document among the candidates
	bestPassages   = 24
)

// Search finds documents for q in the live sources of a team. Every hit is from the version of
// its document that is current during the call. If the segments are in memory, Search takes two
// round trips to the table: the list of segments, and the candidates. A question without terms
// finds nothing, and Result.HasTerms is false.
func (ix *Index) Search(ctx context.Context, teamID string, q Query) (Result, error) {
	records, segments, err := ix.openFor(ctx, teamID, q)
	if err != nil {
		return Result{}, err
	}
	limit := q.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	for reopened := false; ; {
		s := &searchRun{index: ix, teamID: teamID, query: q, limit: min(limit, maxLimit), taken: map[passageID]bool{}, perDocument: map[documentVersion]int{}}
		err := s.run(ctx, records, segments)
		if err == nil {
			return s.result(), nil
		}
		// Only now can a segment that is read by range turn out to be damaged or missing.
		var fault *segmentFault
		gone := errors.Is(err, blob.ErrNotFound)
		switch {
		case !errors.As(err, &fault) || !gone && !errors.Is(err, segment.ErrDamaged):
			return Result{}, err
		case gone && !reopened:
			reopened = true
			if records, segments, err = ix.openFor(ctx, teamID, q); err != nil {
				return Result{}, err
			}
		default:
			at := slices.Index(segments, fault.segment)
			ix.fault(ctx, fmt.Errorf("segment %s: %w", records[at].id, fault.err))
			records, segments = slices.Delete(records, at, at+1), slices.Delete(segments, at, at+1)
		}
	}
}

// openFor opens the segments that q may read. It starts again once if a segment is gone
// because a merge has replaced it.
func (ix *Index) openFor(ctx context.Context, teamID string, q Query) ([]record, []*segment.Segment, error) {
	for attempt := 0; ; attempt++ {
		records, err := ix.readable(ctx, teamID, q)
		if err != nil {
			return nil, nil, err
		}
		segments, faults, err := ix.open(ctx, records)
		if err != nil {
			return nil, nil, err
		}
		gone := slices.ContainsFunc(faults, func(err error) bool { return errors.Is(err, blob.ErrNotFound) })
		if gone && attempt == 0 {
			continue
		}
		keptRecords, keptSegments := records[:0], segments[:0]
		for i, s := range segments {
			if s == nil {
				ix.fault(ctx, faults[i])
				continue
			}
			keptRecords, keptSegments = append(keptRecords, records[i]), append(keptSegments, s)
		}
		return keptRecords, keptSegments, nil
	}
}

// readable lists the segments of the live sources and the spaces that q names.
func (ix *Index) readable(ctx context.Context, teamID string, q Query) ([]record, error) {
	prefixes := []string{""}
	if q.Sources != nil && len(q.Sources) <= prefixSources {
		prefixes = prefixes[:0]
		for _, source := range q.Sources {
			prefixes = append(prefixes, source+"#")
		}
		slices.Sort(prefixes)
		prefixes = slices.Compact(prefixes)
	}
	var live []string
	lists := make([][]record, len(prefixes))
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		live, err = ix.Corpus.Sources(gctx, teamID)
		return err
	})
	for i, prefix := range prefixes {
		g.Go(func() (err error) {
			lists[i], err = ix.records(gctx, teamID, prefix)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Concat(lists...), func(r record) bool {
		if !slices.Contains(live, r.source) || q.Sources != nil && !slices.Contains(q.Sources, r.source) ||
			q.Spaces != nil && !slices.Contains(q.Spaces, r.space) {
			return true
		}
		if !r.readable() {
			ix.fault(ctx, fmt.Errorf("segment %s of %s: %s, analysis %d, format %d", r.id, r.source,
				cmp.Or(r.outdated(), "of a newer program"), r.content.Analysis, r.content.Format))
			return true
		}
		return false
	}), nil
}
