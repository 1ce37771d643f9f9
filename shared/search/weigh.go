package search

import (
	"maps"
	"strings"

	"docent/shared/search/text"
)

// weighedBlock is a block of a passage with its score as an answer.
type weighedBlock struct {
	hit   Hit
	block block
	all   []block // of its passage
	at    int     // in all
	match match
	score float64
}

// The weights of a block as an answer. A sentence or two give most answers, so a stretch of the
// block counts most.
const (
	blockR       = 0.25
	blockCue     = 0.13
	blockPiece   = 0.68
	blockNearby  = 0.8
	blockHeading = 0.6
	blockAround  = 0.05
	blockSteps   = 0.3
	blockMeaning = 4 // all above count words, which say little if the question has others than the text
)

// match is how well a text matches a question's terms.
type match struct {
	at      places
	counts  map[*questionTerm]int // nil: none
	length  int
	r       float64 // BM25 by the sum of idf
	covered float64 // share of the sum of idf
}

// bytesPerTerm is about the least number of bytes for each term, stop words included, of text.
const bytesPerTerm = 5

// matchOf counts the question's terms in text.
func matchOf(r *ranking, text string) match {
	m := match{at: make(places, len(r.terms))}
	for i, term := range r.profile.in(r.language).AppendTerms(make([]string, 0, 1+len(text)/bytesPerTerm), text) {
		if term == "" {
			continue
		}
		m.length++
		c := code(term)
		if !r.filter.has(c) {
			continue
		}
		for _, place := range r.codes[c] {
			if m.counts == nil {
				m.counts = map[*questionTerm]int{}
			}
			m.counts[r.terms[place]]++
			m.at[place] = append(m.at[place], i)
		}
	}
	return m
}

// rate sets r and covered, relative to texts of this average length.
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

// weigh scores blocks, which are in the order of their passages. best is the score of
// the best passage.
func weigh(all []weighedBlock, asked *answerType, best float64) {
	total := 0
	for i := range all {
		all[i].match = matchOf(all[i].hit.ranking, all[i].block.plain())
		total += all[i].match.length
	}
	for i := range all {
		all[i].match.rate(all[i].hit.ranking, float64(total)/float64(len(all)))
	}
	headed := 0.0
	for i := range all {
		b := &all[i]
		r, pieces := b.hit.ranking, b.block.pieces()
		piece := 0.0
		if b.match.counts != nil || b.block.lead != "" { // else no piece holds a term either
			for _, p := range pieces {
				m := matchOf(r, b.block.lead+"\n"+p)
				piece = max(piece, asked.value([]string{p})*m.share(r))
			}
		}
		around := 0.0
		if b.at > 0 {
			around = all[i-1].match.r
		}
		if b.at+1 < len(b.all) {
			around = max(around, all[i+1].match.r/2)
		}
		if b.at == 0 {
			headed = b.hit.headingMatch() // the same for all blocks of a passage
		}
		headed := max(headed, b.titleMatch())
		nearby := max(r.nearby(b.match.at), headed) // the heading counts like a stretch of the text below it
		b.score = b.hit.Normalised/best + blockMeaning*b.hit.meant + blockR*b.match.r + blockCue*asked.value(pieces) + blockPiece*piece +
			blockNearby*nearby + blockHeading*headed + blockAround*around
		if asked.asksSteps() {
			b.score += blockSteps * steps(b.all, b.at)
		}
	}
}

// share returns the share of the question, by idf, that a text contains.
func (m match) share(r *ranking) float64 {
	held, sum := 0.0, 0.0
	for _, t := range r.terms {
		sum += max(t.idf, t.maxIDF)
		if m.counts[t] > 0 {
			held += t.idf
		}
	}
	if sum == 0 {
		return 0
	}
	return held / sum
}

// headingMatch scores the heading that fits best: the share of the question in it times
// the share of its terms that are in the question. The title and the headings above the
// last count half.
func (h Hit) headingMatch() float64 {
	names := append([]string{h.Title}, strings.Split(h.Heading, text.HeadingArrow)...)
	best := 0.0
	for i, name := range names {
		score := h.ranking.nameMatch(name)
		if i+1 < len(names) {
			score /= 2
		}
		best = max(best, score)
	}
	return best
}

// titleMatch scores the title before the block, such as the term of a definition, like a heading.
func (b weighedBlock) titleMatch() float64 {
	title := b.block.title()
	if title == "" {
		return 0
	}
	return b.hit.ranking.nameMatch(title)
}

// nameMatch returns the share of the question in name times the share of its terms that are in the question.
func (r *ranking) nameMatch(name string) float64 {
	m := matchOf(r, name)
	if m.length == 0 {
		return 0
	}
	of := 0
	for _, n := range m.counts {
		of += n
	}
	return m.share(r) * float64(of) / float64(m.length)
}

// plain returns the text of a block for weighing.
func (b block) plain() string {
	if b.kind == paragraphKind {
		return strings.TrimLeft(b.lead+"\n"+b.text, "\n")
	}
	return b.lead + "\n" + strings.Join(b.units, "\n")
}

// pieces returns the parts that a block can be cut into: sentences, items, rows or
// lines.
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

// The weights of a piece of a block as the answer, in addition to its r.
const (
	pieceCovered     = 0.7
	pieceDistinctive = 3.3
	pieceCue         = 1.8
	pieceBefore      = 1.2
	pieceAfter       = 0.5
)

// bestPiece returns the piece of a block that answers best. A term counts more the
// fewer pieces contain it: the subject of a block is in all of them. The title before it names the subject too.
func bestPiece(r *ranking, asked *answerType, pieces []string, title string) int {
	subject := matchOf(r, title).counts
	matches := make([]match, len(pieces))
	total := 0
	holding := map[*questionTerm]float64{} // number of pieces that contain a term
	for i, p := range pieces {
		matches[i] = matchOf(r, p)
		total += matches[i].length
		for t := range matches[i].counts {
			holding[t]++
		}
	}
	for i := range matches {
		matches[i].rate(r, float64(total)/float64(len(pieces)))
	}
	if left := maps.Clone(holding); len(subject) > 0 {
		maps.DeleteFunc(left, func(t *questionTerm, _ float64) bool { return subject[t] > 0 })
		if len(left) > 0 { // else the question is about the subject alone
			holding = left
		}
	}
	best, at := -1.0, 0
	for i, m := range matches {
		score := m.r + pieceCovered*m.covered + pieceDistinctive*m.distinctiveness(r, holding) + pieceCue*asked.value(pieces[i:i+1])
		if i > 0 {
			score += pieceBefore * matches[i-1].r
		}
		if i+1 < len(matches) {
			score += pieceAfter * matches[i+1].r
		}
		if score > best {
			best, at = score, i
		}
	}
	return at
}

// distinctiveness returns the share of the question's terms that a text contains. Only terms in
// some piece count, each by its idf and by how few pieces contain it.
func (m match) distinctiveness(r *ranking, holding map[*questionTerm]float64) float64 {
	held, sum := 0.0, 0.0
	for _, t := range r.terms { // in order, as sums of floats depend on it
		n := holding[t]
		if n == 0 {
			continue
		}
		sum += t.idf / n
		if m.counts[t] > 0 {
			held += t.idf / n
		}
	}
	if sum == 0 {
		return 0
	}
	return held / sum
}
