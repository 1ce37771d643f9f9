package search

import (
	"context"
	"fmt"
	"slices"

	"docent/shared/blob"
	"docent/shared/search/segment"
	"docent/shared/search/segment/segmenttest"
	"docent/shared/search/text"
	"docent/shared/table"
)

// ReadByRange makes queries read segments of more than from bytes by range.
func (ix *Index) ReadByRange(from int) { ix.rangedFrom = from }

// Place is a passage in a ranking.
type Place struct {
	Segment, Passage int
	Score            float32
}

// Ranking is segment files to be ranked.
type Ranking struct{ segments []*segment.Segment }

// OpenFiles opens segment files whole.
func OpenFiles(files ...[]byte) (Ranking, error) {
	var r Ranking
	for _, f := range files {
		s, err := segment.Open(f)
		if err != nil {
			return r, err
		}
		r.segments = append(r.segments, s)
	}
	return r, nil
}

// OpenRanged opens one stored segment file by range, with a cache of bytes.
func OpenRanged(ctx context.Context, blobs blob.Store, name string, size, bytes int64) (Ranking, error) {
	s, err := segment.OpenRanged(ctx, blobs, name, size, segment.NewCache(bytes, 0))
	if err != nil {
		return Ranking{}, err
	}
	return Ranking{[]*segment.Segment{s}}, nil
}

// Best ranks with pruning. It also returns the number of postings read, and of all postings.
func (q Ranking) Best(ctx context.Context, question string, n int) (best []Place, read, of int, err error) {
	views := make([]*segment.Segment, len(q.segments))
	for i, s := range q.segments {
		views[i] = s.View(ctx)
	}
	r, err := newRanking(ctx, profiles[views[0].Profile], views, question, Carried{}, noWords)
	if err != nil {
		return nil, 0, 0, err
	}
	found, err := r.best(n)
	for _, c := range found {
		best = append(best, Place{c.segment, c.passage, c.score})
	}
	for _, t := range r.terms {
		of += t.df
	}
	return best, r.decoded, of, err
}

// Empty reports whether there is nothing to rank.
func (q Ranking) Empty() bool { return len(q.segments) == 0 }

// For returns the ranking of what a query may find, by index and filter alone.
func (q Ranking) For(ctx context.Context, query Query) (Ranking, error) {
	var ix Index
	ix.init()
	var only Ranking
	for i, s := range q.segments {
		v, err := ix.view(newAdmission(query), record{blob: fmt.Sprint(i)}, s.View(ctx), nil)
		if err != nil {
			return only, err
		}
		if v != nil {
			only.segments = append(only.segments, v)
		}
	}
	return only, nil
}

// Plain ranks without pruning: every posting of every term is scored.
func (q Ranking) Plain(question string, n int) ([]Place, error) {
	r, err := newRanking(context.Background(), profiles[q.segments[0].Profile], q.segments, question, Carried{}, noWords)
	if err != nil {
		return nil, err
	}
	var all []candidate
	for i, s := range r.segments {
		scores := make([]float32, s.Passages)
		for _, t := range r.ordered() {
			by := r.scorer(t)
			if t.lists[i] == nil {
				continue
			}
			err := t.lists[i].Each(func(passage int, frequency uint32) {
				scores[passage] += by.score(frequency, s.Length(passage))
			})
			if err != nil {
				return nil, err
			}
		}
		for p, score := range scores {
			if score > 0 {
				c := candidate{ranking: r, segment: i, passage: p, score: score}
				if c.document, c.version, err = s.Identify(s.Document(p)); err != nil {
					return nil, err
				}
				all = append(all, c)
			}
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return a.before(&b) })
	var best []Place
	for _, c := range all[:min(n, len(all))] {
		best = append(best, Place{c.segment, c.passage, c.score})
	}
	return best, nil
}

// SetAnalysis sets the version of the analysis of a team's segments, in their records and in their
// files.
func (ix *Index) SetAnalysis(ctx context.Context, teamID string, version byte) error {
	records, err := ix.records(ctx, teamID, "")
	if err != nil {
		return err
	}
	for _, r := range records {
		if err := ix.setAnalysis(ctx, teamID, r, version); err != nil {
			return err
		}
	}
	return nil
}

func (ix *Index) setAnalysis(ctx context.Context, teamID string, r record, version byte) error {
	data, err := ix.Blobs.Get(ctx, r.blob)
	if err != nil {
		return err
	}
	data[5] = version
	if err := ix.Blobs.Delete(ctx, r.blob); err != nil {
		return err
	}
	if err := ix.Blobs.Put(ctx, r.blob, segmenttest.Reseal(data)); err != nil {
		return err
	}
	r.content.Analysis = int(version)
	op, err := r.put(teamID)
	if err != nil {
		return err
	}
	return ix.Table.Write(ctx, table.Put{Item: op.Item})
}

// AnalysisVersion is the one that this program writes.
const AnalysisVersion = text.AnalysisVersion

// SetOlderUnmarked is SetAnalysis to the previous version, for segments without a mark. It returns
// their number.
func (ix *Index) SetOlderUnmarked(ctx context.Context, teamID string) (n int, err error) {
	records, err := ix.records(ctx, teamID, "")
	if err != nil {
		return 0, err
	}
	for _, r := range records {
		if r.content.Mark != "" {
			continue
		}
		n++
		if err := ix.setAnalysis(ctx, teamID, r, text.AnalysisVersion-1); err != nil {
			return n, err
		}
	}
	return n, nil
}
