package search_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"docent/shared/search"
	"docent/shared/search/segment"
)

// TestPostingListsAreComplete compares them with a map: few and very many terms, common and rare
// ones, some with a common start.
func TestPostingListsAreComplete(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		weight := rapid.Uint32Range(1, 3).Draw(rt, "weight")
		words := rapid.SampledFrom([]int{1, 5, 1000, 20_000}).Draw(rt, "words")
		start := rapid.SampledFrom([]string{"", "é", "internationalisation"}).Draw(rt, "start")
		random := rapid.Uint64().Draw(rt, "seed")
		passages := make([][]string, rapid.IntRange(1, 40).Draw(rt, "passages"))
		want := map[string]map[int]uint32{}
		for n := range passages {
			for range 300 {
				random = random*6364136223846793005 + 1442695040888963407
				term := fmt.Sprint(start, strings.Repeat("0", int(random>>60)), random>>33%uint64(words))
				passages[n] = append(passages[n], term)
				if want[term] == nil {
					want[term] = map[int]uint32{}
				}
				want[term][n] += weight
			}
		}
		s, err := search.Lists(passages, weight)
		if err != nil {
			rt.Fatal(err)
		}
		if err := s.Check(); err != nil {
			rt.Fatal(err)
		}
		for _, term := range slices.Sorted(maps.Keys(want)) {
			list, err := s.Find(term)
			if err != nil {
				rt.Fatal(err)
			}
			got := map[int]uint32{}
			if err := list.Each(func(passage int, frequency uint32) { got[passage] = frequency }); err != nil {
				rt.Fatal(err)
			}
			if !maps.Equal(got, want[term]) {
				rt.Fatalf("%q: %v, want %v", term, got, want[term])
			}
		}
		terms := 0
		if err := s.EachTerm("", func([]byte, segment.List) bool { terms++; return true }); err != nil || terms != len(want) {
			rt.Fatalf("%d terms, want %d, %v", terms, len(want), err)
		}
	})
}

// TestLongPostingListsAreComplete has terms in every, every second, and up to every twelfth of
// many passages, so that their lists grow at the same time, over many slices and pages.
func TestLongPostingListsAreComplete(t *testing.T) {
	t.Parallel()
	const weight, most = 200, 12 // the frequency takes two bytes
	passages := make([][]string, 20_000)
	for n := range passages {
		for every := 1; every <= most; every++ {
			if n%every == 0 {
				passages[n] = append(passages[n], fmt.Sprint("every", every))
			}
		}
	}
	s, err := search.Lists(passages, weight)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	for every := 1; every <= most; every++ {
		list, err := s.Find(fmt.Sprint("every", every))
		if err != nil {
			t.Fatal(err)
		}
		next := 0
		if err := list.Each(func(passage int, frequency uint32) {
			if passage != next || frequency != weight {
				t.Fatalf("every %d: passage %d with frequency %d, want %d with %d", every, passage, frequency, next, weight)
			}
			next += every
		}); err != nil || next < len(passages) {
			t.Fatalf("every %d: ends before passage %d, %v", every, next, err)
		}
	}
}
