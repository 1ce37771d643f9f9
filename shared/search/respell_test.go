package search_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"docent/shared/access"
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
		{"slips in a word and in its ending", "guvernmint", nil}, // its stem is not near that of the word
		{"the second letter left out", "cuntry", []string{"b"}},
		{"a second letter too many", "clouster", []string{"a"}},
		{"another second letter", "cauntry", []string{"b"}},
		{"the second letter swapped with the third", "cuontry", []string{"b"}},
		{"another first letter", "xebra", nil}, // it is taken to be right
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

func TestMisspeltWordsOfOtherSourcesAreNotUsed(t *testing.T) {
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

// shuffled returns n words that begin with prefix and end with different orders of letters, from the order number first on.
func shuffled(prefix, letters string, first, n int) []string {
	words := make([]string, n)
	for i := range words {
		left, word := []byte(letters), []byte(prefix)
		for at := first + i; len(left) > 0; {
			k := at % len(left)
			at /= len(left)
			word, left = append(word, left[k]), slices.Delete(left, k, k+1)
		}
		words[i] = string(word)
	}
	return words
}

func TestTheWordsThatAMisspeltOneIsComparedWithAreBounded(t *testing.T) {
	t.Parallel()
	const letters = "cdfghijkl"
	question := strings.Join(shuffled("ab", letters, 100_000, search.Respelled+2), " ")
	for name, words := range map[string][]string{
		"similar ones": shuffled("ab", letters, 0, 3*search.RespellSimilar),
		"all":          numbered("ab", search.RespellRead),
	} {
		data, err := search.BuildSegment(search.Documentation, []search.Document{{Body: strings.Join(words, " ")}})
		if err != nil {
			t.Fatal(err)
		}
		n, err := search.Compared(t.Context(), data, question)
		if most := search.Respelled * (search.RespellSimilar + 1); err != nil || n > most {
			t.Errorf("%s: compared with %d words, %v; the bound is %d", name, n, err, most)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := search.Compared(ended, data, question); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: a question whose caller has gone: %v", name, err)
		}
	}
}

// numbered returns n words that begin with prefix and are similar to no word.
func numbered(prefix string, n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("%s%06d", prefix, i)
	}
	return words
}

// farFromKangaroo are the further letters of words that are similar to "kangarro" and have three slips at least.
const farFromKangaroo = "ngaroxzq"

func TestAMisspeltWordWithTooManySimilarOnesStays(t *testing.T) {
	t.Parallel()
	many := strings.Join(shuffled("ka", farFromKangaroo, 0, search.RespellSimilar+1000), " ")
	for name, tt := range map[string]struct {
		body string
		want []string
	}{
		"too many similar words":                {many, nil},
		"too many words that begin like it":     {strings.Join(numbered("ka", search.RespellRead+1), " "), nil},
		"as many that begin otherwise":          {strings.ReplaceAll(many, "ka", "ko"), []string{"a"}},
		"almost as many words that are similar": {many[:len(many)/2], []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, lib, _ := newIndex(t)
			publish(t, x, lib, doc("wiki", "a", "The kangaroo of a small country", 1), doc("wiki", "b", tt.body, 1))
			if titles, _ := ask(t, x, search.Query{Text: "kangarro"}); !slices.Equal(titles, tt.want) {
				t.Errorf("found %q, want %q", titles, tt.want)
			}
		})
	}
}

// TestWordsThatAReaderMayNotReadUseUpNoBound asks whether those words would show in what is corrected.
func TestWordsThatAReaderMayNotReadUseUpNoBound(t *testing.T) {
	t.Parallel()
	hidden := doc("wiki", "hidden", strings.Join(shuffled("ka", farFromKangaroo, 0, search.RespellSimilar+1000), " "), 1)
	hidden.Access = nobody
	numbers := doc("guide", "numbers", strings.Join(numbered("ka", search.RespellRead+1), " "), 1)
	numbers.Access = nobody
	shown := doc("wiki", "shown", "The kangaroo of a small country", 1)
	own := doc("wiki", "own", strings.Join(shuffled("ha", "ppines", 0, 720), " ")+" happiness", 1)
	for _, ranged := range []bool{false, true} {
		t.Run(fmt.Sprint("by range ", ranged), func(t *testing.T) {
			t.Parallel()
			all, lib, _ := newIndex(t)
			publish(t, all, lib, hidden, shown)
			publish(t, all, lib, numbers, own)
			only, lib, _ := newIndex(t)
			publish(t, only, lib, shown)
			publish(t, only, lib, own)
			if ranged {
				all, only = again(all, 0), again(only, 0)
				all.ReadByRange(1)
				only.ReadByRange(1)
			}
			for _, question := range []string{"kangarro", "small countri kangarro", "hapiness", "kangraroo happines"} {
				got := seen(t, all, search.Query{Text: question, Reader: eve})
				if want := seen(t, only, search.Query{Text: question, Reader: access.Everything()}); !slices.Equal(got, want) {
					t.Errorf("%q:\n%s\nan index of only that:\n%s", question, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
			if titles, _ := ask(t, all, search.Query{Text: "kangarro", Reader: access.Everything()}); titles != nil {
				t.Errorf("who reads everything finds %q: this tests too little", titles)
			}
		})
	}
}
