package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// addNeighbours adds the passages that are nearest to the question to the candidates, and
// orders all by words and meaning.
func (s *searchRun) addNeighbours() error {
	for i := range s.candidates {
		c := &s.candidates[i]
		chunk, within := c.ranking.segments[c.segment].Place(c.passage)
		c.place = passageID{Ref{c.document, c.version, chunk}, within}
	}
	if s.near == nil || !s.known {
		return nil
	}
	others, err := s.near.join(s.candidates)
	for err != nil {
		fault, ok := unreadable(err)
		if !ok {
			return err
		}
		dropped := s.near.drop(fault.segment)
		s.index.repair(s.ctx, s.teamID, dropped, fmt.Errorf("segment of vectors %s: %w", dropped.id, fault.err))
		others, err = s.near.join(s.candidates)
	}
	s.typical = typicalCosine(s.candidates)
	weights := map[*profile]float64{}
	for _, p := range profiles {
		best := 0.0
		for _, c := range s.candidates {
			if c.ranking.profile == p {
				best = max(best, c.ranking.normalised(float64(c.score)))
			}
		}
		weights[p] = p.meaningWeight(best)
	}
	least := nearLeast
	if len(s.candidates) == 0 {
		least = loneLeast
	}
	for _, o := range others {
		if o.cosine < least {
			continue
		}
		if r := s.rankingOf(o.record.space); r != nil {
			s.candidates = append(s.candidates, candidate{ranking: r, segment: -1, passage: -1,
				document: o.Document, version: o.Version, place: o.passageID, near: o})
		}
	}
	slices.SortStableFunc(s.candidates, func(a, b candidate) int {
		return cmp.Compare(s.joined(&b, float64(b.score), weights), s.joined(&a, float64(a.score), weights))
	})
	return nil
}

// typicalCosine returns the mean cosine of the candidates that have one, so that a document
// that has no vector yet is neither preferred nor put back.
func typicalCosine(candidates []candidate) float64 {
	sum, n := 0.0, 0
	for _, c := range candidates {
		if c.near != nil {
			sum, n = sum+c.near.cosine, n+1
		}
	}
	return sum / float64(max(n, 1))
}

// joined returns the normalised score of a candidate joined with its cosine, by the weight of
// the cosine in its profile.
func (s *searchRun) joined(c *candidate, score float64, weights map[*profile]float64) float64 {
	cosine := s.typical
	if c.near != nil {
		cosine = c.near.cosine
	}
	return join(c.ranking.normalised(score), cosine, weights[c.ranking.profile])
}

func join(normalised, cosine, weight float64) float64 { return (1-weight)*normalised + weight*cosine }

// joinMeaning replaces the normalised scores of the hits by scores joined with their cosines. The
// weight of a cosine is larger the less the best passage of its profile has in common with the
// question.
func (s *searchRun) joinMeaning() {
	for _, v := range s.found {
		v.hit.words = v.hit.Normalised
	}
	if s.near == nil {
		return
	}
	best, weights := map[*profile]float64{}, map[*profile]float64{}
	for _, v := range s.found {
		if v.segment >= 0 {
			best[v.ranking.profile] = max(best[v.ranking.profile], v.hit.Normalised)
		}
	}
	for _, p := range profiles {
		weights[p] = p.meaningWeight(best[p])
	}
	for _, v := range s.found {
		cosine := s.typical
		if v.near != nil {
			cosine = v.near.cosine
		}
		v.weight = weights[v.ranking.profile]
		if s.index.Model.English {
			v.weight *= v.english
		}
		v.hit.Normalised = join(v.hit.words, cosine, v.weight)
		v.hit.meant = v.weight * cosine
		v.meant = v.near != nil && v.weight > 0
	}
	s.found = slices.DeleteFunc(s.found, func(v *verified) bool { return v.segment < 0 && !v.meant })
}

// rankingOf returns the ranking by which texts of a space are weighed: that of the newest
// analysis. It returns nil if the caller may read no segment of postings for it.
func (s *searchRun) rankingOf(space Space) (of *ranking) {
	for _, r := range s.rankings {
		if r.profile == profileOf(space) {
			of = r
		}
	}
	return of
}

// recordOf returns the record of the segment that found c.
func (s *searchRun) recordOf(c *candidate) record {
	if c.segment < 0 {
		return *c.near.record
	}
	return s.sources[c.ranking.segments[c.segment]]
}

// lengthOf returns the length of a passage by its text: its terms, those of the title twice.
func (a analysed) lengthOf() uint16 {
	n := 0
	for i, c := range a.codes {
		if c != 0 {
			n++
			if i < a.title {
				n += titleWeight - 1
			}
		}
	}
	return uint16(min(n, math.MaxUint16))
}
