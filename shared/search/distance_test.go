package search_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"docent/shared/search"
)

func TestNearestDistanceIsTheLeastWithEnoughPassages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(0, 8).Draw(t, "most")
		all := rapid.SliceOf(rapid.Uint16Range(0, uint16(most))).Draw(t, "distances")
		want := rapid.IntRange(1, 20).Draw(t, "want")
		limit, n := search.NearestDistance(all, most, want)
		sorted := slices.Sorted(slices.Values(all))
		least := uint16(most)
		if len(sorted) >= want {
			least = sorted[want-1]
		}
		within := 0
		for _, d := range all {
			if d <= least {
				within++
			}
		}
		if limit != least || n != within {
			t.Fatalf("distance %d with %d passages, want %d with %d", limit, n, least, within)
		}
	})
}
