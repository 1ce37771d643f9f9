package search

import "github.com/google/uuid"

// Ranked is a document in a ranking without verification.
type Ranked struct {
	Document          uuid.UUID
	Score, Normalised float64
}

// RankAll ranks documents of one space by their best of the best depth passages,
// proximity over the first near.
func RankAll(space Space, docs []Document, questions []string, depth, near int) ([][]Ranked, int, error) {
	p := profileOf(space)
	b, err := buildSegment(p, docs)
	if err != nil {
		return nil, 0, err
	}
	s, err := openSegment(b.data)
	if err != nil {
		return nil, 0, err
	}
	byID := map[uuid.UUID]Document{}
	for _, d := range docs {
		byID[d.ID] = d
	}
	var all [][]Ranked
	for _, q := range questions {
		r, err := newRanking(p, []*segment{s}, q)
		if err != nil {
			return nil, 0, err
		}
		found, err := r.best(depth)
		if err != nil {
			return nil, 0, err
		}
		var out []Ranked
		place := map[uuid.UUID]int{}
		for i, c := range found {
			score := float64(c.score)
			if i < near {
				d := byID[c.document]
				n := c.passage - s.begin(startsDocument, c.passage)
				for _, ch := range Cut(d.Body) {
					if n < len(ch.Passages) {
						q := ch.Passages[n]
						score += r.proximity(p.analyse(d.Title, q.Heading, d.Body[q.Start:q.End]), s.length(c.passage))
						break
					}
					n -= len(ch.Passages)
				}
			}
			if j, ok := place[c.document]; ok {
				if score > out[j].Score {
					out[j].Score, out[j].Normalised = score, r.normalised(score)
				}
				continue
			}
			place[c.document] = len(out)
			out = append(out, Ranked{c.document, score, r.normalised(score)})
		}
		all = append(all, out)
	}
	return all, len(b.data), nil
}
