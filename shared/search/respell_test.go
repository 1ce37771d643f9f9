package search_test

import (
	"slices"
	"testing"

	"docent/shared/search"
)

func TestMisspeltWordsAreFound(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	publish(t, x, lib, doc("wiki", "a", "The deployment of the zebra cluster", 1))
	publish(t, x, lib, doc("wiki", "b", "The government of a small country", 1), doc("guide", "c", "parking lots", 1))
	cases := []struct {
		name, question string
		want           []string
	}{
		{"a letter left out", "goverment", []string{"b"}},
		{"a letter too many", "clustter", []string{"a"}},
		{"another letter", "zebta", []string{"a"}},
		{"two letters swapped", "coutnry", []string{"b"}},
		{"two slips in a long word", "guvernmint", nil}, // the first letters are taken to be right
		{"two slips behind them", "govermant", []string{"b"}},
		{"two slips in a short word", "zeeta", nil},
		{"a word that some passage has is right", "parking", []string{"c"}},
		{"numbers are not misspelt", "2024", nil},
		{"short words are not", "zeb", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if titles, _ := ask(t, x, search.Query{Text: c.question}); !slices.Equal(titles, c.want) {
				t.Errorf("found %q, want %q", titles, c.want)
			}
		})
	}
}

func TestMisspeltWordsOfOtherSourcesHelpNobody(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	publish(t, x, lib, doc("wiki", "a", "zebra", 1), doc("guide", "b", "government", 1))
	if titles, _ := ask(t, x, search.Query{Text: "goverment", Sources: []string{"wiki"}}); titles != nil {
		t.Errorf("found %q", titles)
	}
}

func TestSlips(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abcd", "badc", 2}, {"kitten", "sitting", 3}, {"größe", "grösse", 2}} {
		if got := search.Slips(c.a, c.b); got != c.want {
			t.Errorf("%q, %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
