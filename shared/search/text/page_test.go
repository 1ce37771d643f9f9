package text_test

import (
	"slices"
	"strings"
	"testing"

	"docent/shared/search/text"
)

// paged joins pages, numbered from 1, and cuts the whole.
func paged(pages ...string) (body string, passages []text.Passage) {
	var starts []text.Page
	for n, p := range pages {
		starts = append(starts, text.Page{Start: len(body), Number: n + 1})
		body += p
	}
	for _, c := range text.CutPages(body, starts) {
		passages = append(passages, c.Passages...)
	}
	return body, passages
}

func TestPassagesNeverJoinPages(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("word ", 700) + "\n"
	for name, pages := range map[string][]string{
		"short pages":            {"one\n", "two\n", "three\n"},
		"long pages":             {words, words},
		"a heading and its text": {"## A\n", "text\n"},
		"a fence over pages":     {"```\ncode\n", "## A\ntext\n"},
		"a table over pages":     {"| a |\n|---|\n| 1 |\n", "| 2 |\n"},
		"blank pages between":    {"one\n\n\n", "\n\n", "three\n"},
	} {
		body, passages := paged(pages...)
		at, end := 0, 0
		var joined strings.Builder
		for _, p := range passages {
			joined.WriteString(body[p.Start:p.End])
			for p.Start >= end {
				end += len(pages[at])
				at++
			}
			if p.Page != at || p.End > end {
				t.Errorf("%s: %+v on page %d, which ends at %d", name, p, at, end)
			}
		}
		if joined.String() != body {
			t.Errorf("%s: the passages are %q", name, joined.String())
		}
	}
}

// TestManyShortPagesCostLittle cuts a file of very many pages with a word each: some share a passage, whose page is the first.
func TestManyShortPagesCostLittle(t *testing.T) {
	t.Parallel()
	_, few := paged(slices.Repeat([]string{"A short slide.\n"}, 240)...)
	body, many := paged(slices.Repeat([]string{"slide\n"}, 20_000)...)
	if len(few) != 240 || len(many) > 1500 {
		t.Errorf("%d and %d passages", len(few), len(many))
	}
	for _, p := range many {
		if want := p.Start/len("slide\n") + 1; p.Page != want {
			t.Fatalf("the passage at %d of %d is on page %d, want %d", p.Start, len(body), p.Page, want)
		}
	}
}

func TestThePathOfHeadingsContinuesOnTheNextPage(t *testing.T) {
	t.Parallel()
	_, passages := paged("## Fees\nThey are due.\n", "In March.\n", "```\ncode\n", "### Late\nThey grow.\n")
	var got []string
	for _, p := range passages {
		got = append(got, p.Heading)
		if p.Page == 4 && p.Opening != "" {
			t.Errorf("a fence of another page is open: %q", p.Opening)
		}
	}
	if want := []string{"Fees", "Fees", "Fees", "Fees > Late"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
