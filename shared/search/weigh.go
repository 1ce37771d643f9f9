package search

import "strings"

// weighedBlock is a block of a passage with its score as an answer.
type weighedBlock struct {
	hit         Hit
	block       block
	first, last bool // of its passage
	match       match
	score       float64
}

// match is how a text answers a question's terms.
type match struct {
	counts  map[*questionTerm]int
	length  int
	r       float64 // BM25 by the sum of idf
	covered float64 // share of the sum of idf
}

// matchOf counts the question's terms in text.
func matchOf(r *ranking, text string) match {
	m := match{counts: map[*questionTerm]int{}}
	for _, term := range r.profile.in(r.language).appendTerms(nil, text) {
		if term == "" {
			continue
		}
		m.length++
		if t := r.byText[term]; t != nil {
			m.counts[t]++
		}
	}
	return m
}

// rate fills in r and covered, among texts of that average length.
func (m *match) rate(r *ranking, average float64) {
	sum, score, covered := 0.0, 0.0, 0.0
	norm := blockK1 * (1 - blockB + blockB*float64(m.length)/max(average, 1))
	for _, t := range r.terms {
		sum += t.idf
		if f := float64(m.counts[t]); f > 0 {
			covered += t.idf
			score += t.idf * (blockK1 + 1) * f / (f + norm)
		}
	}
	if sum > 0 {
		m.r, m.covered = score/sum, covered/sum
	}
}

// answers is the score of a text as an answer, between what stands before and after.
func (m match) answers(passage, asked, before, after float64) float64 {
	return m.r + passage + 0.5*m.covered + 0.4*asked*(0.25+m.covered) + 0.2*max(before, after/2)
}

// weigh scores blocks in the order of their passages; best is the score of the
// best passage.
func weigh(all []weighedBlock, asked *cue, best float64) {
	total := 0
	for i := range all {
		all[i].match = matchOf(all[i].hit.ranking, all[i].block.plain())
		total += all[i].match.length
	}
	for i := range all {
		all[i].match.rate(all[i].hit.ranking, float64(total)/float64(len(all)))
	}
	for i := range all {
		b := &all[i]
		before, after := 0.0, 0.0
		if !b.first {
			before = all[i-1].match.r
		}
		if !b.last {
			after = all[i+1].match.r
		}
		b.score = b.match.answers(b.hit.Normalised/best, asked.value(b.block.pieces()), before, after)
	}
}

// plain is the text of a block as it is weighed.
func (b block) plain() string {
	if b.kind == paragraphKind {
		return b.text
	}
	return b.lead + "\n" + strings.Join(b.units, "\n")
}

// pieces are what a block can be cut into: sentences, items, rows, lines.
func (b block) pieces() []string {
	if b.kind != paragraphKind {
		return b.units
	}
	var out []string
	for _, s := range sentences(b.text) {
		out = append(out, b.text[s[0]:s[1]])
	}
	return out
}

// bestPiece is the piece that answers best.
func bestPiece(r *ranking, asked *cue, pieces []string) int {
	matches := make([]match, len(pieces))
	total := 0
	for i, p := range pieces {
		matches[i] = matchOf(r, p)
		total += matches[i].length
	}
	for i := range matches {
		matches[i].rate(r, float64(total)/float64(len(pieces)))
	}
	best, at := -1.0, 0
	for i, m := range matches {
		before, after := 0.0, 0.0
		if i > 0 {
			before = matches[i-1].r
		}
		if i+1 < len(matches) {
			after = matches[i+1].r
		}
		if score := m.answers(0, asked.value(pieces[i:i+1]), before, after); score > best {
			best, at = score, i
		}
	}
	return at
}
