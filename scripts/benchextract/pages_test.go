package main

import (
	"math"
	"testing"
)

func found(addresses ...string) []source {
	var sources []source
	for _, a := range addresses {
		sources = append(sources, source{URL: "https://files.example/" + a, Content: "Text of the page."})
	}
	return sources
}

func TestOnlyTheRightPageOfTheRightFileCounts(t *testing.T) {
	t.Parallel()
	q := question{Question: "Why?", File: "guide.pdf", Pages: []int{1, 7}}
	const first = "https://files.example/"
	for name, c := range map[string]struct {
		sources []source
		want    place
	}{
		"first":                  {found("guide.pdf#page=7", "guide.pdf#page=1"), place{Page: 1, File: 1, Named: true, First: first + "guide.pdf#page=7"}},
		"another of its pages":   {found("guide.pdf#page=1"), place{Page: 1, File: 1, Named: true, First: first + "guide.pdf#page=1"}},
		"the page of another":    {found("speech.pdf#page=7", "guide.pdf#page=7"), place{Page: 2, File: 2, First: first + "speech.pdf#page=7"}},
		"a number that begins":   {found("guide.pdf#page=71"), place{File: 1, First: first + "guide.pdf#page=71"}},
		"no page":                {found("guide.pdf"), place{File: 1, First: first + "guide.pdf"}},
		"nothing of the file":    {found("speech.pdf#page=1"), place{First: first + "speech.pdf#page=1"}},
		"nothing":                {nil, place{}},
		"a name that ends alike": {found("my-guide.pdf#page=7"), place{First: first + "my-guide.pdf#page=7"}},
	} {
		if got := placeOf(q, c.sources); got != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestAPageIsNamedWhereItsTextBegins(t *testing.T) {
	t.Parallel()
	q := question{Question: "Why?", File: "guide.pdf", Pages: []int{7}}
	for content, want := range map[string]bool{
		"Text.\n\nPage 7:\n\nMore.":  true,
		"Text.\n\nPage 71:\n\nMore.": false,
		"Text of Page 7: more.":      false,
	} {
		sources := found("guide.pdf#page=2")
		sources[0].Content = content
		if got := placeOf(q, sources); got.Named != want || got.Page != 0 {
			t.Errorf("%q: %+v", content, got)
		}
		sources[0].URL = "https://files.example/speech.pdf#page=2"
		if got := placeOf(q, sources); got.Named {
			t.Errorf("%q of another file: %+v", content, got)
		}
	}
}

func TestPlacesAreSummed(t *testing.T) {
	t.Parallel()
	got := summarize([]place{{Page: 1, File: 1, Named: true}, {Page: 3, File: 1, Named: true}, {Page: 10, File: 2}, {Page: 11, File: 1}, {File: 1}})
	mrr := (1 + 1./3 + 1./10 + 1./11) / 5
	if math.Abs(got.MRR-mrr) > 1e-9 {
		t.Errorf("MRR %v, want %v", got.MRR, mrr)
	}
	got.MRR = 0
	if want := (tally{Questions: 5, First: 1, Among3: 2, Among10: 3, Named: 2, FileFirst: 4}); got != want {
		t.Errorf("%+v", got)
	}
}
