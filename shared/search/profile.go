package search

import (
	"docent/shared/search/segment"
	"docent/shared/search/text"
)

// profile has the parameters by which the texts of a space are analysed and ranked.
type profile struct {
	id        segment.Profile
	k1, b     float64
	proximity float64 // weight of neighbouring terms
	named     float64 // weight of a term in the title or heading
	titled    float64 // weight of the title as a field of its own
	compound  float64 // weight of two words of the question that a passage writes as one
	missing   float64 // share of a score that is lost if all terms are missing
	split     bool    // split identifiers into their parts
}

// The profiles. The parameters and their reasons are in the README.
var (
	prose    = &profile{id: segment.Prose, k1: 0.9, b: 0.4, proximity: 0.5, named: 0.1, missing: 0.2, compound: 1}
	coding   = &profile{id: segment.Code, k1: 1.2, b: 0.75, proximity: 0.25, titled: 0.25, split: true, compound: 0.7}
	profiles = []*profile{prose, coding}
)

// titleWeight is the number of times that a term of the title counts.
const titleWeight = 2

// titleTerms is the length of an average title, in terms.
const titleTerms = 6

// in returns the analyser of the profile for a language.
func (p *profile) in(l *text.Language) text.Analyser {
	return text.Analyser{Language: l, Code: p.split}
}

func profileOf(s Space) *profile {
	switch s {
	case Code, PRs, Issues:
		return coding
	default:
		return prose
	}
}
