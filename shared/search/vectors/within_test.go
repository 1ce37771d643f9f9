package vectors_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"docent/shared/search/vectors"
)

func TestAppendWithin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]uint16{0, 3, 384, 32767}).Draw(t, "most")
		distances := rapid.SliceOfN(rapid.Uint16Range(0, most), 0, 40).Draw(t, "distances")
		limit := rapid.Uint16Range(0, most).Draw(t, "limit")
		want := []int{-1}
		for i, d := range distances {
			if d <= limit {
				want = append(want, i)
			}
		}
		if got := vectors.AppendWithin([]int{-1}, distances, limit); !slices.Equal(got, want) {
			t.Fatalf("%d of %v: %v, want %v", limit, distances, got, want)
		}
	})
}
