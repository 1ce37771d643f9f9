package text_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"docent/shared/search/text"
)

// passages returns all passages of Cut in order, as text.
func passages(body string) (texts, headings []string) {
	for _, c := range text.Cut(body) {
		for _, p := range c.Passages {
			texts = append(texts, body[p.Start:p.End])
			headings = append(headings, p.Heading)
		}
	}
	return texts, headings
}

func TestCutAtHeadingsAndBlankLines(t *testing.T) {
	t.Parallel()
	para := func(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) + "\n" }
	cases := []struct {
		name, body string
		want       []int    // words of each passage
		headings   []string // of each passage
	}{
		{"empty", "", []int{0}, []string{""}},
		{"white space alone", " \n\n ", []int{0}, []string{""}},
		{"level 1 is not in the path", "# T\n\ntext\n", []int{3}, []string{""}},
		{"path", "intro\n## A\nx\n### B\ny\n## C\nz\n", []int{1, 3, 3, 3}, []string{"", "A", "A > B", "C"}},
		{"headings without text stay with what follows", "## A\n\n### B\n\nx\n", []int{5}, []string{"A > B"}},
		{"level 1 ends the path", "## A\nx\n# T\ny\n", []int{3, 3}, []string{"A", ""}},
		{"closing marks and links in a heading", "## [A](http://x) `b` ##\nx\n", []int{5}, []string{"A b"}},
		{"no heading in a fence", "```\n## A\n```\nx\n", []int{5}, []string{""}},
		{"no heading without a space", "##A\nx\n", []int{2}, []string{""}},
		{"indented code is not a heading", "    ## A\nx\n", []int{3}, []string{""}},
		{"short paragraphs stay together", para(90) + "\n" + para(90), []int{180}, []string{""}},
		{"blank line after 200 words", para(200) + "\n" + para(90), []int{200, 90}, []string{"", ""}},
		{"300 words without a blank line", para(650), []int{300, 300, 50}, []string{"", "", ""}},
		{"a late line end is the better place", para(250) + para(100), []int{250, 100}, []string{"", ""}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			texts, headings := passages(c.body)
			if len(texts) != len(c.want) {
				t.Fatalf("%d passages, want %d: %q", len(texts), len(c.want), texts)
			}
			for i := range texts {
				if n := len(strings.Fields(texts[i])); n != c.want[i] || headings[i] != c.headings[i] {
					t.Errorf("passage %d: %d words under %q, want %d under %q", i, n, headings[i], c.want[i], c.headings[i])
				}
			}
		})
	}
}

func TestPassagesThatBeginWithinABlock(t *testing.T) {
	t.Parallel()
	lines := func(line string, n int) string { return strings.Repeat(line+"\n", n) }
	row := "| five | words |"
	cases := []struct{ name, body, want string }{
		{"code", "```sh\n" + lines("three short words", 120), "```sh"},
		{"code behind a long line", "```" + strings.Repeat("x", 600) + "\n" + lines("three short words", 120), "```"},
		{"code that was closed", "```\nx\n```\n" + lines("three short words", 120), ""},
		{"a table", "|a|b|\n|-|-|\n" + lines(row, 80), "|a|b|\n|-|-|"},
		{"a table that ended", "|a|b|\n|-|-|\n" + row + "\n\n" + lines("three short words", 120), ""},
		{"rows without a head", lines(row, 80), ""},
		{"a head that is too long", "|a|" + strings.Repeat("b", 600) + "|\n|-|-|\n" + lines(row, 80), ""},
		{"text", lines("three short words", 120), ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			all := text.Cut(c.body)[0].Passages
			if len(all) < 2 || all[0].Opening != "" || all[1].Opening != c.want {
				t.Errorf("passages %+v", all)
			}
		})
	}
}

// TestManyShortSectionsCostLittle cuts bodies of headings with little text: of a usual body each section is a passage, but a body of
// nothing else costs a few times its size.
func TestManyShortSectionsCostLittle(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("path ", 24)
	deep := "## " + long + "\n### " + long + "\n#### " + long + "\n##### " + long + "\n"
	section := func(n int, text string) string { return fmt.Sprintf("## Section %d\n\n%s\n\n", n, text) }
	var few, many, glossary strings.Builder
	for n := range 240 {
		few.WriteString(section(n, "Yes."))
	}
	for n := range 20_000 {
		many.WriteString(section(n, "Yes."))
	}
	for n := range 5000 {
		glossary.WriteString(section(n, strings.Repeat("words of it ", 12)))
	}
	for name, c := range map[string]struct {
		body        string
		least, most int // passages
	}{
		"some short sections":         {few.String(), 240, 240},
		"many sections of 160 bytes":  {glossary.String(), 5000, 5000},
		"very many short sections":    {many.String(), 1000, 5000},
		"below a long path":           {deep + strings.Repeat("######\nx\n", 30_000), 100, 1000},
		"headings alone and one word": {strings.Repeat("# \nx\n", 200_000), 1000, 10_000},
	} {
		texts, _ := passages(c.body)
		if len(texts) < c.least || len(texts) > c.most {
			t.Errorf("%s: %d passages of %d bytes", name, len(texts), len(c.body))
		}
		checkCut(t, c.body)
	}
}

func TestCutInsideLongWords(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("é", 10_000)
	texts, _ := passages(body)
	for i, s := range texts {
		if len(s) > 3584 || !utf8.ValidString(s) {
			t.Errorf("passage %d: %d bytes, valid %v", i, len(s), utf8.ValidString(s))
		}
	}
}

func TestCutRebuildsTheBody(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{"# A\n", "## B b\n", "###### C ##\n", "```\n", "~~~~ go\n", "\n", "\n\n", " ", "word ", "wörd\n",
		"- item\n", strings.Repeat("x", 4000), strings.Repeat("many words ", 150), strings.Repeat("line\n", 120), "\xff", "\r\n", "\u00a0"})
	rapid.Check(t, func(rt *rapid.T) {
		checkCut(rt, strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(rt, "pieces"), ""))
	})
}

func FuzzCut(f *testing.F) {
	f.Add("# A\n\ntext\n\n```\n## B\n```\n")
	f.Add(strings.Repeat("word ", 700))
	f.Add(strings.Repeat("## h\nx\n", 900))
	f.Fuzz(func(t *testing.T, body string) { checkCut(t, body) })
}

type fataler interface{ Fatalf(string, ...any) }

// checkCut checks the guarantees of Cut(body).
func checkCut(t fataler, body string) {
	all := text.Cut(body)
	if len(all) == 0 || len(body) <= text.InlineBytes && len(all) != 1 {
		t.Fatalf("%d chunks for %d bytes", len(all), len(body))
	}
	at, cost := 0, 0
	for _, c := range all {
		if c.Start != at || len(c.Passages) == 0 || c.End-c.Start > 3584 {
			t.Fatalf("chunk %d-%d after %d with %d passages", c.Start, c.End, at, len(c.Passages))
		}
		heads := 0
		for _, p := range c.Passages {
			if p.Start != at || p.End < p.Start || p.End == p.Start && body != "" {
				t.Fatalf("passage %d-%d after %d", p.Start, p.End, at)
			}
			if n := len(strings.Fields(body[p.Start:p.End])); n > 301 {
				t.Fatalf("passage of %d words", n)
			}
			if len(p.Heading) > 612 || utf8.ValidString(body) && !utf8.ValidString(p.Heading) {
				t.Fatalf("heading of %d bytes: %q", len(p.Heading), p.Heading)
			}
			if len(p.Opening) > 512 || strings.Count(p.Opening, "\n") > 1 || p.Opening != "" && p.Start == 0 {
				t.Fatalf("opening %q at %d", p.Opening, p.Start)
			}
			heads += len(p.Heading) + len(p.Opening) + 16
			cost += len(p.Heading) + 256
			at = p.End
		}
		if c.End != at || len(body) > text.InlineBytes && heads > 4<<10 {
			t.Fatalf("chunk ends at %d, its passages at %d, %d bytes of headings", c.End, at, heads)
		}
	}
	if cost > 64<<10+3*len(body)+1000 {
		t.Fatalf("%d bytes are indexed as %d more", len(body), cost)
	}
	if at != len(body) {
		t.Fatalf("passages cover %d of %d bytes", at, len(body))
	}
}
