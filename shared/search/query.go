package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"docent/shared/access"
	"docent/shared/blob"
	"docent/shared/search/segment"
	"docent/shared/search/text"
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
	widestRead     = 5000          // passages that a query reads at most whose filter only records decide
	widestStep     = 1000          // of these, at a time
	staleRead      = 1000          // passages that a query reads at most if many are stale
	perDocument    = 8             // passages of one document among the candidates
	bestPassages   = 24
)

// Search finds documents for q in the live sources of a team. Every hit is from the version of
// its document that is current during the call. If the segments are in memory, Search takes two
// round trips to the table: the list of segments, and the candidates. A question without terms
// finds nothing, and Result.HasTerms is false.
func (ix *Index) Search(ctx context.Context, teamID string, q Query) (Result, error) {
	ctx = withRepairs(ctx)
	q.Text, q.Instruction = text.Bounded(q.Text, maxQuestionBytes), text.Bounded(q.Instruction, maxQuestionBytes)
	question := ix.embedQuestion(ctx, q.meaning())
	records, segments, defaults, err := ix.openFor(ctx, teamID, q)
	if err != nil {
		return Result{}, err
	}
	asked := question()
	words, vectors := divide(records, segments)
	near := vectors.nearness(asked)
	limit := q.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	for reopened := false; ; {
		s := &searchRun{index: ix, ctx: ctx, teamID: teamID, query: q, defaults: defaults, limit: min(limit, maxLimit), near: near, taken: make(map[passageID]bool, pageCandidates), perDocument: make(map[documentVersion]int, pageCandidates)}
		err := s.run(ctx, words.records, words.segments)
		if err == nil {
			return s.result(), nil
		}
		// Only now can a segment that is read by range turn out to be damaged or missing.
		fault, ok := unreadable(err)
		switch {
		case !ok:
			return Result{}, err
		case errors.Is(err, blob.ErrNotFound) && !reopened:
			reopened = true
			if records, segments, defaults, err = ix.openFor(ctx, teamID, q); err != nil {
				return Result{}, err
			}
			words, vectors = divide(records, segments)
			near = vectors.nearness(asked)
		default:
			at := slices.Index(words.segments, fault.segment)
			ix.repair(ctx, teamID, words.records[at], fmt.Errorf("segment %s: %w", words.records[at].id, fault.err))
			words.records, words.segments = slices.Delete(words.records, at, at+1), slices.Delete(words.segments, at, at+1)
		}
	}
}

// opened are open segments with their records.
type opened struct {
	records  []record
	segments []*segment.Segment
}

// divide separates segments of postings from those of vectors.
func divide(records []record, segments []*segment.Segment) (words, vectors opened) {
	for i, r := range records {
		of := &words
		if r.meaning {
			of = &vectors
		}
		of.records, of.segments = append(of.records, r), append(of.segments, segments[i])
	}
	return words, vectors
}

// openFor opens the segments in which q may find something, restricted to what it may find. It starts again
// once if a segment is gone because a merge has replaced it. It also returns the default rules of the live sources.
func (ix *Index) openFor(ctx context.Context, teamID string, q Query) ([]record, []*segment.Segment, map[string]*access.Rule, error) {
	for attempt := 0; ; attempt++ {
		records, defaults, err := ix.readable(ctx, teamID, q)
		if err != nil {
			return nil, nil, nil, err
		}
		segments, faults, err := ix.open(ctx, records)
		if err == nil {
			err = ix.admit(q, defaults, records, segments, faults)
		}
		if err != nil {
			return nil, nil, nil, err
		}
		gone := slices.ContainsFunc(faults, func(err error) bool { return errors.Is(err, blob.ErrNotFound) })
		if gone && attempt == 0 {
			continue
		}
		keptRecords, keptSegments := records[:0], segments[:0]
		for i, s := range segments {
			if s == nil {
				if faults[i] != nil {
					ix.repair(ctx, teamID, records[i], faults[i])
				}
				continue
			}
			keptRecords, keptSegments = append(keptRecords, records[i]), append(keptSegments, s)
		}
		return keptRecords, keptSegments, defaults, nil
	}
}

// readable lists the segments of the live sources and the spaces that q names, and returns
// the default rules of the live sources.
func (ix *Index) readable(ctx context.Context, teamID string, q Query) ([]record, map[string]*access.Rule, error) {
	if !q.Reader.MayRead(nil, nil) {
		return nil, nil, nil // nobody
	}
	prefixes := []string{""}
	if q.Sources != nil && len(q.Sources) <= prefixSources {
		prefixes = prefixes[:0]
		for _, source := range q.Sources {
			prefixes = append(prefixes, source+"#")
		}
		slices.Sort(prefixes)
		prefixes = slices.Compact(prefixes)
	}
	var live map[string]*access.Rule
	partitions := []string{teamID}
	if ix.Embedder != nil {
		partitions = append(partitions, teamID+meaningPartition)
	}
	lists := make([][]record, len(prefixes)*len(partitions))
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		live, err = ix.Corpus.Sources(gctx, teamID)
		return err
	})
	for i := range lists {
		g.Go(func() (err error) {
			lists[i], err = ix.recordsIn(gctx, partitions[i/len(prefixes)], prefixes[i%len(prefixes)])
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	return slices.DeleteFunc(slices.Concat(lists...), func(r record) bool {
		if _, ok := live[r.source]; !ok || q.Sources != nil && !slices.Contains(q.Sources, r.source) ||
			q.Spaces != nil && !slices.Contains(q.Spaces, r.space) {
			return true
		}
		if !r.readable() {
			if r.outdated() == reasonModel {
				return true // the model was changed, and vectors of the new one are being made
			}
			err := fmt.Errorf("segment %s of %s: %s, analysis %d, format %d", r.id, r.source,
				cmp.Or(r.outdated(), "of a newer program"), r.content.Analysis, r.content.Format)
			if r.newer() {
				ix.fault(ctx, err)
			} else {
				ix.repair(ctx, teamID, r, err)
			}
			return true
		}
		return false
	}), live, nil
}
