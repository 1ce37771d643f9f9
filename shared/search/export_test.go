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
	var texts []analysed // by passage
	for _, d := range docs {
		for _, c := range Cut(d.Body) {
			for _, q := range c.Passages {
				texts = append(texts, p.analyse(d.Title, q.Heading, d.Body[q.Start:q.End]))
			}
		}
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
				score += r.proximity(texts[c.passage], s.length(c.passage))
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

// QuoteAll shows every block of every passage of body as an answer would.
func QuoteAll(body, question string) []string {
	p := prose
	b, err := buildSegment(p, []Document{{Body: body}})
	if err != nil {
		panic(err)
	}
	s, err := openSegment(b.data)
	if err != nil {
		panic(err)
	}
	r, err := newRanking(p, []*segment{s}, question)
	if err != nil {
		panic(err)
	}
	var out []string
	for _, c := range Cut(body) {
		for _, q := range c.Passages {
			for _, b := range blocks(body[q.Start:q.End]) {
				out = append(out, quoted(b.markdown(r, cueOf(question))))
			}
		}
	}
	return out
}
