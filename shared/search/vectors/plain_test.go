package vectors

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNativeIsPlain holds what this processor computes with against the plain form.
func TestNativeIsPlain(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		a := make([]int8, r.IntN(1200))
		b := slices.Clone(a)
		for i := range a {
			a[i], b[i] = int8(r.Uint32()), int8(r.Uint32())
		}
		if got, want := dot(a, b), dotPlain(a, b); got != want {
			t.Fatalf("%d numbers: %d, want %d", len(a), got, want)
		}
		words, n := []int{1, 2, 6, 6, 6, 12}[r.IntN(6)], r.IntN(40)
		query, sketches := make([]uint64, words), make([]uint64, words*n)
		for _, random := range [][]uint64{query, sketches} {
			for i := range random {
				random[i] = r.Uint64()
			}
		}
		got, want := make([]uint16, n), make([]uint16, n)
		hamming(got, query, sketches)
		hammingPlain(want, query, sketches)
		if !slices.Equal(got, want) {
			t.Fatalf("%d words: %v, want %v", words, got, want)
		}
	}
}
