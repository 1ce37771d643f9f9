package vectors_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"docent/shared/search/vectors"
)

func randomInt8s(r *rand.Rand, n int) []int8 {
	v := make([]int8, n)
	for i := range v {
		v[i] = int8(r.Uint32())
	}
	return v
}

func randomWords(r *rand.Rand, n int) []uint64 {
	words := make([]uint64, n)
	for i := range words {
		words[i] = r.Uint64()
	}
	return words
}

func wantDot(a, b []int8) int32 {
	var sum int64
	for i := range a {
		sum += int64(a[i]) * int64(b[i])
	}
	return int32(sum)
}

func TestDot(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		a, b := randomInt8s(r, n), randomInt8s(r, n)
		if got, want := vectors.Dot(a, b), wantDot(a, b); got != want {
			t.Fatalf("%d numbers: %d, want %d", n, got, want)
		}
	}
	for _, n := range []int{384, 1024, 1<<17 - 1} {
		for _, pair := range [][2]int8{{-128, -128}, {-128, 127}, {127, 127}, {0, -128}} {
			a, b := slices.Repeat([]int8{pair[0]}, n), slices.Repeat([]int8{pair[1]}, n)
			if got, want := vectors.Dot(a, b), int64(n)*int64(pair[0])*int64(pair[1]); int64(got) != want {
				t.Errorf("%d times %d: %d, want %d", n, pair, got, want)
			}
		}
	}
}

func TestDotReadsItsSlicesOnly(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	a, b := randomInt8s(r, 1000), randomInt8s(r, 1000)
	for range 1000 {
		n, i, j := r.IntN(500), r.IntN(500), r.IntN(500)
		if got, want := vectors.Dot(a[i:i+n], b[j:j+n]), wantDot(a[i:i+n], b[j:j+n]); got != want {
			t.Fatalf("%d numbers at %d and %d: %d, want %d", n, i, j, got, want)
		}
	}
}

func TestHamming(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for _, words := range []int{1, 2, 4, 5, 6, 8, 12, 16, 1023} {
		for _, n := range []int{0, 1, 2, 7, 8, 9, 33, 100} {
			query, sketches, dst := randomWords(r, words), randomWords(r, words*n), make([]uint16, n+1)
			dst[n] = 7
			vectors.Hamming(dst[:n], query, sketches)
			for i := range n {
				want := 0
				for j, word := range query {
					want += bits.OnesCount64(word ^ sketches[i*words+j])
				}
				if int(dst[i]) != want {
					t.Fatalf("%d words, sketch %d of %d: %d, want %d", words, i, n, dst[i], want)
				}
			}
			if dst[n] != 7 {
				t.Fatalf("%d words, %d sketches: wrote past the end", words, n)
			}
		}
	}
	dst := make([]uint16, 1)
	vectors.Hamming(dst, make([]uint64, 1023), slices.Repeat([]uint64{math.MaxUint64}, 1023))
	if dst[0] != 1023*64 {
		t.Errorf("all bits differ: %d, want %d", dst[0], 1023*64)
	}
}

func TestPanics(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(){
		"lengths differ": func() { vectors.Dot(make([]int8, 3), make([]int8, 4)) },
		"empty query":    func() { vectors.Hamming(nil, nil, nil) },
		"too long":       func() { vectors.Hamming(make([]uint16, 1), make([]uint64, 1024), make([]uint64, 1024)) },
		"too few words":  func() { vectors.Hamming(make([]uint16, 2), make([]uint64, 6), make([]uint64, 11)) },
		"too many words": func() { vectors.Hamming(make([]uint16, 2), make([]uint64, 6), make([]uint64, 18)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			call()
		})
	}
}

func BenchmarkDot(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	x, y := randomInt8s(r, 384), randomInt8s(r, 384)
	for b.Loop() {
		vectors.Dot(x, y)
	}
}

func BenchmarkHamming(b *testing.B) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{1_000, 150_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			query, sketches, dst := randomWords(r, 6), randomWords(r, 6*n), make([]uint16, n)
			for b.Loop() {
				vectors.Hamming(dst, query, sketches)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/sketch")
		})
	}
}
