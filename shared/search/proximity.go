package search

import "hash/fnv"

// How near neighbouring terms of the question must stand, and what it counts.
const (
	orderedWithin = 2
	nearWithin    = 7
	orderedShare  = 0.67
	nearShare     = 0.33
)

// pair is two neighbouring terms of a question, both known.
type pair struct {
	x, y uint32 // codes
	idf  float64
}

func pairsOf(order []*questionTerm) []pair {
	var pairs []pair
	for i := 1; i < len(order); i++ {
		x, y := order[i-1], order[i]
		if x != y && x.df > 0 && y.df > 0 {
			pairs = append(pairs, pair{code(x.text), code(y.text), (x.idf + y.idf) / 2})
		}
	}
	return pairs
}

// code stands for a term in an analysed passage; 0 is a stop word.
func code(term string) uint32 {
	if term == "" {
		return 0
	}
	h := fnv.New32a()
	h.Write([]byte(term)) // never fails
	return max(h.Sum32(), 1)
}

// analysed is a passage as the codes of its terms: the title's first.
type analysed struct {
	codes []uint32
	title int // how many are the title's
}

func (p *profile) analyse(title, heading, passage string) analysed {
	terms := p.appendTerms(nil, title)
	a := analysed{title: len(terms)}
	terms = p.appendTerms(terms, indexed(heading, passage))
	a.codes = make([]uint32, len(terms))
	for i, t := range terms {
		a.codes[i] = code(t)
	}
	return a
}

// proximity is what neighbouring terms of the question that stand near each other
// add to the score of a passage.
func (r *ranking) proximity(a analysed, length uint16) float64 {
	if len(r.pairs) == 0 {
		return 0
	}
	wanted := map[uint32][]int{}
	for _, p := range r.pairs {
		wanted[p.x], wanted[p.y] = nil, nil
	}
	for i, c := range a.codes {
		if c != 0 {
			if places, ok := wanted[c]; ok {
				wanted[c] = append(places, i)
			}
		}
	}
	norm := r.norm(length)
	total := 0.0
	for _, p := range r.pairs {
		ordered, near := closeness(wanted[p.x], wanted[p.y])
		total += p.idf * (orderedShare*ordered/(ordered+norm) + nearShare*near/(near+norm))
	}
	return r.profile.proximity * (r.profile.k1 + 1) * total
}

// closeness counts the pairs of places, both lists ascending, where y stands
// right after x, and where they stand near each other.
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
			if y > x && y <= x+orderedWithin {
				ordered++
			}
		}
	}
	return ordered, near
}

// normalisedText is the normalised score of an analysed passage for a question that
// did not take part in finding it, at most 1.
func (r *ranking) normalisedText(a analysed, length uint16) float64 {
	frequency := map[uint32]float64{}
	for _, t := range r.terms {
		frequency[code(t.text)] = 0
	}
	for i, c := range a.codes {
		if f, ok := frequency[c]; ok {
			if i < a.title {
				f += titleWeight - 1
			}
			frequency[c] = f + 1
		}
	}
	norm, score := r.norm(length), 0.0
	for _, t := range r.terms {
		f := frequency[code(t.text)]
		score += t.idf * (r.profile.k1 + 1) * f / (f + norm)
	}
	return min(r.normalised(score), 1)
}
