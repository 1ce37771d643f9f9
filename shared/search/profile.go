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
	// The share of the cosine in a joined score is least if the best passage's score by words reaches
	// known. Below known it grows linearly, and is most from known - unknown down.
	least, most, known, unknown float64
	split                       bool // split identifiers into their parts
}

// The profiles. The parameters and their reasons are in the README.
var (
	prose = &profile{id: segment.Prose, k1: 0.9, b: 0.4, proximity: 0.5, named: 0.1, missing: 0.2, compound: 1,
		least: 0.45, most: 0.65, known: 0.40, unknown: 0.20}
	coding = &profile{id: segment.Code, k1: 1.2, b: 0.75, proximity: 0.25, titled: 0.25, split: true, compound: 0.7,
		least: 0.50, most: 0.80, known: 1.10, unknown: 0.65}
	profiles = []*profile{prose, coding}
)

// titleWeight is the number of times that a term of the title counts.
const titleWeight = 2

// titleTerms is the length of an average title, in terms.
const titleTerms = 6

// meaningWeight returns the share of the cosine in a joined score, if the best passage has this
// normalised score by words.
func (p *profile) meaningWeight(best float64) float64 {
	return p.least + (p.most-p.least)*min(max((p.known-best)/p.unknown, 0), 1)
}

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
