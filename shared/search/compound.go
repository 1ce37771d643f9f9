package search

import (
	"slices"
	"strings"
	"unicode"
)

// Bounds of words that may be written as one or as two.
const (
	partLetters      = 2
	compoundLetters  = 6
	maxCompounds     = 64  // of a question
	compoundsPerTerm = 4   // of fewer terms there are fewer compounds: one for each four
	maxNeighbours    = 256 // pairs of words of a question that are analysed; normalisation can make four words of one character
)

// compound is two neighbouring words of a question written as one: rollback for roll
// back, timeout for time out.
type compound struct {
	questionTerm
	parts []int // places of its words in the ranking's terms
}

// compoundTexts returns the terms that neighbouring words of a question form when
// written as one, with the two words of each.
func (r *ranking) compoundTexts(question string) (texts []string, words [][2]string) {
	in := r.profile.in(r.language)
	all := strings.FieldsFunc(strings.ToLower(question), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
	for i, analysed := 1, 0; i < len(all) && len(texts) < maxCompounds && analysed < maxNeighbours; i++ {
		x, y := all[i-1], all[i]
		if len(x) < partLetters || len(y) < partLetters || len(x)+len(y) < compoundLetters || in.Language.IsStop(x) {
			continue // a verb and its particle form one word, but no word starts with a particle
		}
		analysed++
		if t := in.AppendTerms(nil, x+y); len(t) == 1 && t[0] != "" {
			texts, words = append(texts, t[0]), append(words, [2]string{x, y})
		}
	}
	return texts, words
}

// compoundsOf returns a compound for each of texts that is not a term of the question itself and whose words
// are. They are not looked up yet.
func (r *ranking) compoundsOf(texts []string, words [][2]string) (all []*compound) {
	in := r.profile.in(r.language)
	seen := map[string]bool{}
	for i, text := range texts {
		if r.byText[text] != nil || seen[text] {
			continue
		}
		c := &compound{questionTerm: questionTerm{text: text, count: 1, weight: r.profile.compound}}
		for _, word := range words[i] {
			for _, part := range in.AppendTerms(nil, word) {
				if t := r.byText[part]; t != nil && !slices.Contains(c.parts, t.place) {
					c.parts = append(c.parts, t.place)
				}
			}
		}
		if len(c.parts) > 0 {
			all, seen[text] = append(all, c), true
		}
	}
	return all
}

// addCompounds keeps the compounds that some passage contains. A compound weighs at most as
// much as its words.
func (r *ranking) addCompounds(all []*compound) {
	for _, c := range all {
		if c.df == 0 {
			continue
		}
		c.idf = min(c.idf, r.idfOf(c.parts))
		r.compounds = append(r.compounds, c)
		r.compoundOf[c.text] = c
	}
}

// idfOf returns the sum of the idf of terms.
func (r *ranking) idfOf(places []int) float64 {
	sum := 0.0
	for _, place := range places {
		sum += r.terms[place].idf
	}
	return sum
}

// doubleCount returns what to subtract from a passage's score because a compound and
// its words both count: the lower of the two.
func (r *ranking) doubleCount(a analysed, at places, length uint16) float64 {
	norm, sum := r.norm(length), 0.0
	share := func(t *questionTerm, f float64) float64 {
		return float64(t.count) * t.weight * t.idf * (r.profile.k1 + 1) * f / (f + norm)
	}
	for _, c := range r.compounds {
		own, held := code(c.text), 0.0
		for i, x := range a.codes {
			if x == own {
				held += weightAt(i, a)
			}
		}
		if held == 0 {
			continue
		}
		apart := 0.0
		for _, p := range c.parts {
			f := -held
			for _, i := range at[p] {
				f += weightAt(i, a)
			}
			apart += share(r.terms[p], f)
		}
		sum += min(share(&c.questionTerm, held), apart)
	}
	return sum
}

// weightAt returns how often a term at this place of a passage counts.
func weightAt(place int, a analysed) float64 {
	if place < a.title {
		return titleWeight
	}
	return 1
}
