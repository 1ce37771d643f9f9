package search

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"docent/shared/search/text"
)

// nearbyWords is the length of a stretch that may contain an answer: a sentence or two.
const nearbyWords = 20

// The weights of Hit.Confidence, from a logistic regression that the README describes.
const (
	byScore     = 0.58
	byNearby    = 0.30
	byProximity = 0.35
	byTerms     = 0.13
	byNames     = 0.12
	confidence0 = -0.32
)

// The line from a joined score to a confidence, fitted on squad.
const (
	byJoined = 2.1
	joined0  = -0.342
)

// confidence returns the confidence that v answers the question, on the scale of Threshold: by
// the joined score, or without a vector by words.
func (v *verified) confidence() float64 {
	if v.meant {
		return byJoined*v.hit.Normalised + joined0
	}
	return v.ranking.confidence(v.score, v.at, v.length)
}

// confidence returns the confidence that a passage answers the question, on the scale of
// Threshold. It combines the normalised score, the largest share of the question in one
// stretch, the neighbouring terms that are near each other, the names in the question, and the
// number of terms, because no passage contains all terms of a long question.
func (r *ranking) confidence(score float64, at places, length uint16) float64 {
	if r.maxScore == 0 {
		return 0
	}
	names, held := 0.0, 0.0
	for i, t := range r.terms {
		if t.name {
			names += t.idf
			if len(at[i]) > 0 {
				held += t.idf
			}
		}
	}
	if names == 0 {
		names, held = 1, 1
	}
	return byScore*r.normalised(score) + byNearby*r.nearby(at) + byProximity*r.normalised(r.proximity(at, length)) +
		byTerms*math.Log(1+r.words()) + byNames*held/names + confidence0
}

// nearby returns the largest share of the question, by idf, within one stretch of a
// passage.
func (r *ranking) nearby(at places) float64 {
	type place struct{ at, term int }
	sum, occurrences := 0.0, 0
	for i := range r.terms {
		occurrences += len(at[i])
	}
	all := make([]place, 0, occurrences)
	for i, t := range r.terms {
		sum += max(t.idf, t.maxIDF)
		for _, p := range at[i] {
			all = append(all, place{p, i})
		}
	}
	if sum == 0 {
		return 0
	}
	stretch := int(nearbyWords * float64(len(r.terms)) / r.words())
	slices.SortFunc(all, func(a, b place) int { return a.at - b.at })
	inside := make([]int, len(r.terms)) // occurrences within the stretch
	from, held, most := 0, 0.0, 0.0
	for _, p := range all {
		if inside[p.term]++; inside[p.term] == 1 {
			held += r.terms[p.term].idf
		}
		for ; all[from].at <= p.at-stretch; from++ {
			if inside[all[from].term]--; inside[all[from].term] == 0 {
				held -= r.terms[all[from].term].idf
			}
		}
		most = max(most, held)
	}
	return most / sum
}

// words returns how many words the distinct terms count for.
func (r *ranking) words() float64 {
	n := 0.0
	for _, t := range r.terms {
		n += text.Words(t.text)
	}
	return n
}

// markNames marks the terms that the question writes as names: with a capital, and not
// as its first word.
func (r *ranking) markNames(question string) {
	in := r.profile.in(r.language)
	for i, word := range strings.Fields(question) {
		if first, _ := utf8.DecodeRuneInString(word); i == 0 || !unicode.IsUpper(first) {
			continue
		}
		for _, text := range in.AppendTerms(nil, word) {
			if t := r.byText[text]; t != nil {
				t.name = true
			}
		}
	}
}
