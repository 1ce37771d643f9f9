package search_test

import (
	"fmt"
	"strings"
	"testing"

	"docent/shared/growthtest"
	"docent/shared/search"
)

// A team with a hundred sources has thousands of segments.
func TestTermsOfALongQuestionAreBoundedByTheSegments(t *testing.T) {
	docs := []search.Document{doc("wiki", "a", "The release of the product", 1)}
	var b strings.Builder
	for i := range 600 {
		fmt.Fprintf(&b, "release%c%c ", 'a'+i%26, 'a'+i/26)
	}
	for segments, want := range map[int]int{1: 256, 1024: 256, 4096: 64, 8192: 32} {
		allocated := growthtest.Allocated(t, func() {
			if terms, err := search.TermsAsked(docs, segments, b.String()); err != nil || terms != want {
				t.Errorf("%d segments: %d terms are asked for, want %d; %v", segments, terms, want, err)
			}
		})
		if allocated > 80<<20 {
			t.Errorf("%d segments: %d MB are allocated", segments, allocated>>20)
		}
	}
}
