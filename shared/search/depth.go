package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"docent/shared/search/segment"
)

func (s *searchRun) run(ctx context.Context, records []record, segments []*segment.Segment) error {
	if err := s.rank(records, segments); err != nil {
		return fmt.Errorf("rank: %w", err)
	}
	return s.verify(ctx)
}

// choose takes the best depth passages of each ranking as candidates, and merges them
// by normalised score. A smaller depth scores less. The passages that are nearest to the
// question join them.
func (s *searchRun) choose(depth int) error {
	s.candidates, s.cut = nil, false
	for i, r := range s.rankings {
		best, err := r.best(depth)
		if err != nil {
			return err
		}
		s.cut = s.cut || len(best) == depth
		if i == 0 {
			s.candidates = best
		} else {
			s.candidates = append(s.candidates, best...)
		}
	}
	if len(s.rankings) > 1 { // else they are in order
		slices.SortStableFunc(s.candidates, func(a, b candidate) int {
			return cmp.Compare(b.ranking.normalised(float64(b.score)), a.ranking.normalised(float64(a.score)))
		})
	}
	if depth == s.deepest() {
		return s.addNeighbours()
	}
	// The order is unknown after the last passage of a ranking that has more.
	s.more = false
	of := map[*ranking]int{}
	for i, c := range s.candidates {
		if of[c.ranking]++; of[c.ranking] == depth {
			s.candidates, s.more = s.candidates[:i+1], true
			break
		}
	}
	return s.addNeighbours()
}

// refill ranks deeper if the candidates are used up and there are more passages, otherwise it
// returns false. The caller skips candidates taken before.
func (s *searchRun) refill() (bool, error) {
	if len(s.candidates) > 0 {
		return true, nil
	}
	if !s.more {
		return false, nil
	}
	s.more = false
	err := s.choose(s.deepest())
	return len(s.candidates) > 0, err
}

// deepest returns the candidates of a profile that are ranked at most.
func (s *searchRun) deepest() int {
	if s.widens() {
		return 2 * widestRead
	}
	return maxCandidates
}
