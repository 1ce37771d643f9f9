package search_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"

	"docent/shared/search"
)

// Messages such as "ok" all have the same score. A search needs the first of them only.
func TestOfManyPassagesWithTheSameScoreTheFirstAreKept(t *testing.T) {
	t.Parallel()
	var documents []uuid.UUID
	for i := range 20_000 {
		documents = append(documents, uuid.NewSHA1(uuid.NameSpaceURL, fmt.Append(nil, i)))
	}
	inOrder := slices.SortedFunc(slices.Values(documents), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	for _, n := range []int{1, 3, 400, 20_000, 30_000} {
		best, room := search.BestCandidates(documents, n)
		if !slices.Equal(best, inOrder[:min(n, len(inOrder))]) {
			t.Errorf("the first %d are others", n)
		}
		if room > 4*n {
			t.Errorf("there was room for %d, and %d are wanted", room, n)
		}
	}
}
