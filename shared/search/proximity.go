package search

import (
	"hash/fnv"
	"strings"
	"unicode/utf8"

	"docent/shared/search/text"
)

// Distances and weights of neighbouring terms of the question.
const (
	orderedWithin = 2
	nearWithin    = 7
	orderedShare  = 0.67
	nearShare     = 0.33
)

// pair is two neighbouring terms of a question, by their places in it. Some passage
// contains each of them.
type pair struct {
	x, y int
	idf  float64
}

func (r *ranking) pairUp(order []int) {
	for i := 1; i < len(order); i++ {
		x, y := r.terms[order[i-1]], r.terms[order[i]]
		if x != y && x.df > 0 && y.df > 0 {
			r.pairs = append(r.pairs, pair{order[i-1], order[i], (x.idf + y.idf) / 2})
		}
	}
}

// code returns the code of a term in an analysed passage. A stop word has code 0.
func code(term string) uint32 {
	if term == "" {
		return 0
	}
	h := fnv.New32a()
	h.Write([]byte(term)) // never fails
	return max(h.Sum32(), 1)
}

// analysed is a passage as the codes of its terms, those of the title first.
type analysed struct {
	codes []uint32
	title int // number of codes of the title
	named int // number of codes of the title and the heading path, which name the subject of the passage

	english    float64 // how much a vector by a model for English counts
	characters int     // of the passage without the white space around it
}

func (p *profile) analyse(title, heading, passage string) analysed {
	searched := text.Indexed(heading, passage)
	language := text.PassageLanguage(title, searched)
	in := p.in(language)
	terms := termsOfTitle(in, title)
	a := analysed{title: len(terms), named: len(terms), english: englishShare(language, passage),
		characters: utf8.RuneCountInString(strings.TrimSpace(passage))}
	if !p.split { // in code and logs a line after '#' is rarely a heading
		a.named += len(in.AppendTerms(nil, heading))
	}
	terms = in.AppendTerms(terms, searched)
	a.named = min(a.named, len(terms))
	a.codes = make([]uint32, len(terms))
	for i, t := range terms {
		a.codes[i] = code(t)
	}
	return a
}

// places has the places of each term of a question in an analysed passage, in order.
type places [][]int

// codeFilter is a set of the lowest bits of a few codes. It quickly excludes most other
// codes.
type codeFilter [4]uint64

func (f *codeFilter) add(code uint32)      { f[code/64%4] |= 1 << (code % 64) }
func (f *codeFilter) has(code uint32) bool { return f[code/64%4]>>(code%64)&1 != 0 }

func (r *ranking) places(a analysed) places {
	type match struct{ term, at int }
	var onStack [64]match
	matches := onStack[:0]
	var fewCounts [16]int
	counts := fewCounts[:]
	if len(r.terms) > len(counts) {
		counts = make([]int, len(r.terms))
	}
	counts = counts[:len(r.terms)]
	for i, c := range a.codes {
		if r.filter.has(c) {
			for _, t := range r.codes[c] {
				matches = append(matches, match{t, i})
				counts[t]++
			}
		}
	}
	at, all := make(places, len(r.terms)), make([]int, len(matches))
	for t, n := range counts {
		at[t], all = all[:0:n], all[n:]
	}
	for _, m := range matches {
		at[m.term] = append(at[m.term], m.at)
	}
	return at
}

// complete returns the score of a passage by its text, given its score by counts.
// Neighbouring terms near each other add to it, and so do terms in the title or
// heading. Missing terms reduce it.
func (r *ranking) complete(score float64, a analysed, at places, length uint16) float64 {
	score += r.proximity(at, length) - r.doubleCount(a, at, length)
	sum, covered, named := 0.0, 0.0, 0.0
	for i, t := range r.terms {
		idf := max(t.idf, t.maxIDF)
		sum += idf
		if len(at[i]) > 0 {
			covered += idf
			if at[i][0] < a.named {
				named += t.idf
			}
		}
	}
	if sum == 0 {
		return score
	}
	score += (r.profile.k1 + 1) * (r.profile.named*named + r.profile.titled*r.title(a, at))
	return score * (1 - r.profile.missing*(1-covered/sum))
}

// title returns the score of the title as a field of its own: of two titles with the same terms
// of the question, the shorter one scores more.
func (r *ranking) title(a analysed, at places) float64 {
	if r.profile.titled == 0 {
		return 0
	}
	length := 0
	for _, c := range a.codes[:a.title] {
		if c != 0 {
			length++
		}
	}
	norm, sum := r.profile.k1*(1-r.profile.b+r.profile.b*float64(length)/titleTerms), 0.0
	for i, t := range r.terms {
		f := 0.0
		for _, p := range at[i] {
			if p >= a.title {
				break
			}
			f++
		}
		sum += t.idf * f / (f + norm)
	}
	return sum
}

// proximity returns the score that a passage gains from neighbouring terms of the question that
// are near each other in it.
func (r *ranking) proximity(at places, length uint16) float64 {
	norm := r.norm(length)
	total := 0.0
	for _, p := range r.pairs {
		ordered, near := closeness(at[p.x], at[p.y])
		total += p.idf * (orderedShare*ordered/(ordered+norm) + nearShare*near/(near+norm))
	}
	return r.profile.proximity * (r.profile.k1 + 1) * total
}

// closeness counts the pairs of places where y directly follows x, and those where they are near
// each other. Both lists ascend.
func closeness(xs, ys []int) (ordered, near float64) {
	from := 0
	for _, x := range xs {
		for from < len(ys) && ys[from] < x-nearWithin {
			from++
		}
		for _, y := range ys[from:] {
			if y > x+nearWithin {
				break
			}
			near++
			if y >= x && y <= x+orderedWithin { // the two are at the same place in a compound
				ordered++
			}
		}
	}
	return ordered, near
}

// normalisedText returns the normalised score of an analysed passage, at most 1, for a question
// that was not used to find it.
func (r *ranking) normalisedText(a analysed, length uint16) float64 {
	return min(r.normalised(r.textScore(a, length)), 1)
}

// textScore returns the score by counts of a passage that no term has found.
func (r *ranking) textScore(a analysed, length uint16) float64 {
	norm, score := r.norm(length), 0.0
	for i, places := range r.places(a) {
		t, f := r.terms[i], float64(len(places))
		for _, at := range places {
			if at < a.title {
				f += titleWeight - 1
			}
		}
		score += t.idf * (r.profile.k1 + 1) * f / (f + norm)
	}
	return score
}
