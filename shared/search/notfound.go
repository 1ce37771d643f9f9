package search

import (
	"fmt"
	"math"
	"strings"
)

// The texts of an answer if nothing was found. Only here does an answer have words of its own.
const (
	notFoundText = "Nothing in the documents that you can read answers this."
	noTermsHint  = "The question names nothing to look for: name what it is about."
	closestText  = "Closest:"
	closestMost  = 3
)

// Threshold returns the lowest confidence at which a passage counts as an answer, if the caller
// may read this many passages. It is lower for a small collection, where few terms are rare. At
// the highest threshold, 94 of 100 answerable questions are answered, and 16 of 100 questions
// whose answer is missing.
func Threshold(passages int) float64 {
	return min(0.33, 0.12+0.04*math.Log(float64(max(passages, 1))))
}

// Found reports whether the best passage of r reaches the threshold.
func (r Result) Found() bool {
	return len(r.Best) > 0 && r.Best[0].Confidence >= Threshold(r.Passages)
}

// notFound returns the answer if r has none. It suggests the closest documents, which
// are not references.
func notFound(r Result) Answer {
	if !r.HasTerms {
		return Answer{Markdown: notFoundText + " " + noTermsHint + "\n"}
	}
	var b strings.Builder
	b.WriteString(notFoundText + "\n")
	half := Threshold(r.Passages) / 2
	var closest []Hit
	for _, h := range r.Hits {
		if h.Normalised <= half || len(closest) == closestMost {
			break
		}
		if closest = append(closest, h); len(closest) == 1 {
			b.WriteString("\n" + closestText + "\n\n")
		}
		if target := LinkTarget(h.Address()); target != "" {
			fmt.Fprintf(&b, "- [%s](%s)\n", h.name(), target)
		} else {
			fmt.Fprintf(&b, "- %s\n", h.name())
		}
	}
	return Answer{Markdown: b.String(), Closest: closest}
}
