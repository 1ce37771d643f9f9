package search

import (
	"fmt"
	"math"
	"strings"
)

// What is said when nothing is found. The words are the product's own; they stand
// here and nowhere else.
const (
	notFoundText = "Nothing in the documents that this key can read answers this."
	noTermsHint  = "The question names nothing to look for: name what it is about."
	closestText  = "Closest:"
	closestMost  = 3
)

// Threshold is the confidence from which passages count as an answer, among that
// many passages that the caller may read. In a small collection terms are
// rarely rare, so it starts lower. Where it stays, 94 of 100 questions that can
// be answered are, and 16 of 100 whose answer is missing are all the same.
func Threshold(passages int) float64 {
	return min(0.33, 0.12+0.04*math.Log(float64(max(passages, 1))))
}

// Found tells whether r holds an answer: whether its best passage reaches the
// threshold.
func (r Result) Found() bool {
	return len(r.Best) > 0 && r.Best[0].Confidence >= Threshold(r.Passages)
}

// notFound is the answer when r holds none, with the documents that come closest.
// They are suggestions and no references.
func notFound(r Result) Answer {
	if !r.HasTerms {
		return Answer{Markdown: notFoundText + " " + noTermsHint + "\n"}
	}
	var b strings.Builder
	b.WriteString(notFoundText + "\n")
	half := Threshold(r.Passages) / 2
	n := 0
	for _, h := range r.Hits {
		if h.Normalised <= half || n == closestMost {
			break
		}
		if n++; n == 1 {
			b.WriteString("\n" + closestText + "\n\n")
		}
		if target := linkTarget(h.URI); target != "" {
			fmt.Fprintf(&b, "- [%s](%s)\n", h.name(), target)
		} else {
			fmt.Fprintf(&b, "- %s\n", h.name())
		}
	}
	return Answer{Markdown: b.String()}
}
