package search

import "strings"

// profile is how the texts of a space are analysed and ranked.
type profile struct {
	id        byte // in a segment's head
	k1, b     float64
	proximity float64 // weight of neighbouring terms
	named     float64 // weight of a term in the title or heading
	titled    float64 // weight of the title as a field of its own
	compound  float64 // weight of two words of the question that a passage writes as one
	missing   float64 // share of a score that terms which are all missing would take
	split     bool    // identifiers into their parts
}

// The profiles. The parameters and their reasons are in the README.
var (
	prose    = &profile{id: 0, k1: 0.9, b: 0.4, proximity: 0.5, named: 0.1, missing: 0.2, compound: 1}
	coding   = &profile{id: 1, k1: 1.2, b: 0.75, proximity: 0.25, titled: 0.25, split: true, compound: 0.7}
	profiles = []*profile{prose, coding}
)

// titleWeight is how often a term of the title counts.
const titleWeight = 2

// titleTerms is how many terms a title has that is neither long nor short.
const titleTerms = 6

func profileOf(s Space) *profile {
	switch s {
	case Code, PRs, Issues:
		return coding
	default:
		return prose
	}
}

// indexed is the text of a passage as it is searched: the heading path, then the
// passage without the heading lines that the path already holds.
func indexed(heading, passage string) string {
	if heading == "" {
		return passage
	}
	var kept strings.Builder
	kept.WriteString(heading)
	kept.WriteByte('\n')
	for passage != "" {
		line, rest, _ := strings.Cut(passage, "\n")
		level, text := atxHeading(line)
		if level == 0 && strings.TrimSpace(line) != "" {
			break
		}
		if level == 1 || level > 1 && (len(text) > headingBytes || !strings.Contains(heading, plainHeading(text))) {
			kept.WriteString(text)
			kept.WriteByte('\n')
		}
		passage = rest
	}
	kept.WriteString(passage)
	return kept.String()
}
