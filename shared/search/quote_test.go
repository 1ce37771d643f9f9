package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"docent/shared/access"
	"docent/shared/search"
)

const runbook = `# Runbook

## Deploying

### Rolling back

Keep the old version until the new one is healthy. To roll back, run ` + "`deployctl undo`" + ` within 24 hours. Then the image is removed.

Steps in short:

- Freeze the channel first.
- Tell everybody.

| what | who |
|------|-----|
| canary | release team |

` + "```sh\ndeployctl canary --start\n```\n"

// answerTo publishes bodies by title and returns the answer to a question.
func answerTo(t testing.TB, question string, titlesAndBodies ...string) search.Answer {
	t.Helper()
	x, lib, _ := newIndex(t)
	var docs []search.Document
	for i := 0; i < len(titlesAndBodies); i += 2 {
		docs = append(docs, doc("wiki", titlesAndBodies[i], titlesAndBodies[i+1], 1))
	}
	publish(t, x, lib, docs...)
	_, r := ask(t, x, search.Query{Text: question})
	return search.Quote(question, r)
}

func TestQuotedBlocks(t *testing.T) {
	t.Parallel()
	const (
		paragraph = "> Keep the old version until the new one is healthy. To roll back, run `deployctl undo` within 24 hours. Then the image is removed.\n"
		list      = ">\n> Steps in short:\n>\n> - Freeze the channel first.\n> - Tell everybody.\n"
		rest      = ">\n> | what | who |\n> |---|---|\n> | canary | release team |\n>\n> ```sh\n> deployctl canary --start\n> ```\n"
	)
	cases := []struct{ name, question, bold string }{
		{"a sentence of a paragraph in bold", "How do I roll back the new version?", "To roll back, run `deployctl undo` within 24 hours."},
		{"an item of a list in bold", "Who should freeze the channel first?", "Freeze the channel first."},
		{"nothing in bold in a table", "canary release team", ""},
		{"nothing in bold in code", "deployctl canary start", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := answerTo(t, c.question, "runbook", runbook)
			head := "*Quoted from 1 document, not written.*\n\n**runbook: Deploying \\> Rolling back** ([1](https://docs.example/runbook))\n\n"
			want := head + paragraph + list + rest
			if c.bold != "" {
				want = strings.Replace(want, c.bold, "**"+c.bold+"**", 1)
			}
			if !a.Found || a.Markdown != want {
				t.Errorf("found %v:\n%s\nwant\n%s", a.Found, a.Markdown, want)
			}
			if len(a.References) != 1 || a.References[0] != (search.Reference{URL: "https://docs.example/runbook", Title: "runbook"}) {
				t.Errorf("references %+v", a.References)
			}
		})
	}
}

func TestFurtherDocumentsAreQuotedOnce(t *testing.T) {
	t.Parallel()
	a := answerTo(t, "How do I roll back a release?",
		"one", "To roll back a release, press the button.\n\n## Again\n\nA release can roll back only once.",
		"two", "Roll back the release, then look for the cause.", "three", "Soup needs salt.")
	if len(a.References) != 2 || strings.Count(a.Markdown, "\n> ") != 2 || !strings.HasPrefix(a.Markdown, "*Quoted from 2 documents, not written.*\n") ||
		!strings.Contains(a.Markdown, "([2](https://docs.example/") || strings.Contains(a.Markdown, "salt") {
		t.Errorf("references %+v in\n%s", a.References, a.Markdown)
	}
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	const said = "Nothing in the documents that you can read answers this."
	cases := []struct{ name, question, want string }{
		{"nothing near", "volcano eruption", said + "\n"},
		{"a question without terms", "what is it?", said + " The question names nothing to look for: name what it is about.\n"},
		{"something near is named", "salt volcano eruption", said + "\n\nClosest:\n\n- [a \\[soup\\]](https://docs.example/a%20[soup])\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := answerTo(t, c.question, "a [soup]", "Salt.", "b", "Grass.", "c", "Water.", "d", "Lions.")
			if a.Found || len(a.References) > 0 || a.Markdown != c.want {
				t.Errorf("found %v:\n%s", a.Found, a.Markdown)
			}
		})
	}
}

func TestSmallCollectionsAnswerFromALowerScore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		passages int
		want     float64
	}{{0, 0.12}, {1, 0.12}, {10, 0.2121}, {100, 0.3042}, {245, 0.33}, {1_000_000, 0.33}} {
		if got := search.Threshold(c.passages); got < c.want-0.0005 || got > c.want+0.0005 {
			t.Errorf("%d passages: %.4f, want %.4f", c.passages, got, c.want)
		}
	}
}

func TestMarkdownOfDocumentsGoesOutSafe(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, body, want string }{
		{"link", "zebra [text](https://evil.example/a_(b) \"t\") end", "zebra text end"},
		{"reference link", "zebra [text][ref] end\n\n[ref]: https://evil.example", "zebra text end"},
		{"image", "zebra ![alt *x*](https://evil.example/i.png) end", "zebra alt *x* end"},
		{"linked image", "zebra [![alt](i.png)](https://evil.example) end", "zebra alt end"},
		{"tags", "zebra <b>bold</b> <img src=x alt=\"pic\" onerror=y> end<br>", "zebra bold pic end"},
		{"comment", "zebra <!-- hidden --> end", "zebra  end"},
		{"script", "zebra <script>alert(1)</script> end", "zebra alert(1) end"},
		{"angle brackets of code", "zebra List<String> end", `zebra List\<String> end`},
		{"autolink", "zebra <https://evil.example/a> end", "zebra https://evil.example/a end"},
		{"code span stays", "zebra `a[i](x) <b>` end", "zebra `a[i](x) <b>` end"},
		{"escapes stay", `zebra \<b\> \[a\](b) end`, `zebra \<b\> \[a\](b) end`},
		{"a link that forms when another goes", "zebra [a][](x)(https://evil.example) end", `zebra a(x)(https://evil.example) end`},
		{"a link that forms when a tag goes", "zebra [a]<b>(https://evil.example) end", `zebra [a]\(https://evil.example) end`},
		{"lines that end in a carriage return", "zebra eats 12.\r2 of them\rsleep", "zebra eats 12.\n2 of them\nsleep"},
		{"words between form feeds and vertical tabs", "zebra eats 12.\f2 of them\vsleep `in\va\fden`", "zebra eats 12. 2 of them sleep `in a den`"},
		{"control characters", "zebra \x1b[2J\x7f\u009b2J `a\x1b\u009bb` one\u0085two <img alt=\"\u009d0;x\"> end", "zebra [2J2J `ab` one two 0;x end"},
		{"control characters of code", "```\nzebra\t\x1b[2J\u009b2J\n```", "```\nzebra\t[2J2J\n```"},
		{"characters that hide a text", "zebra e\U000e0049\U000e0067ats `a\U000e0000b` <img alt=\"x\U000e007fy\"> [a]\U000e0041(https://evil.example) \U000e0100end", "zebra eats `ab` xy [a]\\(https://evil.example) \U000e0100end"},
		{"characters that hide a text in code", "```\nzebra \U000e0049eats\n```", "```\nzebra eats\n```"},
		{"a lone backtick", "zebra ``<b>`[x](https://evil.example)` end", "zebra &#96;&#96;`[x](https://evil.example)` end"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(quotedPieces(answerTo(t, "zebra", "t", c.body).Markdown), "\n---\n")
			if got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			checkSafe(t, got)
		})
	}
}

func TestTitlesHeadingsAndAddressesAreEscaped(t *testing.T) {
	t.Parallel()
	a := answerTo(t, "zebra", "a*b]( <i> `c` | d", "## [x](y) *z* <b>\n\nzebra\n")
	want := "**a\\*b\\]( \\<i\\> \\`c\\` \\| d: x \\*z\\* \\<b\\>** ([1](https://docs.example/a*b]%28%20%3Ci%3E%20%60c%60%20%7C%20d))"
	if !strings.Contains(a.Markdown, want) {
		t.Errorf("got\n%s", a.Markdown)
	}
	checkSafe(t, a.Markdown)
}

func TestAddressesStayReadable(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, uri, want string }{
		{"as it is", "https://docs.example/a_b*c~d?x=1&y=[2]#e_f", "https://docs.example/a_b*c~d?x=1&y=[2]#e_f"},
		{"letters of other scripts", "https://docs.example/größe/日本", "https://docs.example/größe/日本"},
		{"what is escaped already", "https://docs.example/a%20b", "https://docs.example/a%20b"},
		{"what ends a target", "https://docs.example/a (b) <c>\\d", "https://docs.example/a%20%28b%29%20%3Cc%3E%5Cd"},
		{"a code span", "https://docs.example/`a`", "https://docs.example/%60a%60"},
		{"an entity", "https://docs.example/?a&copy;b&c", "https://docs.example/?a&amp;copy;b&c"},
		{"invisible characters", "https://docs.example/a\u202eb\u00a0c\xff", "https://docs.example/a%E2%80%AEb%C2%A0c%FF"},
		{"several entities", "https://docs.example/?a&copy;&amp;b", "https://docs.example/?a&amp;copy;&amp;amp;b"},
		{"another scheme", "javascript:alert(1)", ""},
		{"no host", "https:///a", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := search.LinkTarget(c.uri); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if c.want != "" {
				checkSafe(t, "`x` [1]("+search.LinkTarget(c.uri)+") `y`")
			}
		})
	}
}

func TestHeadingThatRepeatsTheTitleShowsOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, want string }{
		{"## Rolling back\n\nPress the button.\n", "**Rolling Back** ("},
		{"## Rolling back\n\n### Buttons\n\nPress the button.\n", "**Rolling Back: Buttons** ("},
		{"## Buttons\n\nPress the button.\n", "**Rolling Back: Buttons** ("},
	} {
		if a := answerTo(t, "press button", "Rolling Back", c.body); !strings.Contains(a.Markdown, c.want) {
			t.Errorf("no %q in\n%s", c.want, a.Markdown)
		}
	}
}

func TestBlocksThatAPassageCutsStayWhole(t *testing.T) {
	t.Parallel()
	rows := strings.Repeat("| some words of a row | and more words in it |\n", 40)
	code := strings.Repeat("some code on one line here\n", 60)
	for _, c := range []struct{ name, body, want string }{
		{"a table repeats its head", "| what | who |\n|------|-----|\n" + rows + "| the zebra | grazes |\n",
			"> | what | who |\n> |---|---|\n> | some words"},
		{"rows without a head are rows", rows + "| the zebra | grazes |\n", "> |  |  |\n> |--|--|\n> | some words"},
		{"code stays code", "```sh\n" + code + "zebra graze\n```\n", "> ```sh\n> some code"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := answerTo(t, "zebra graze", "t", c.body)
			_, quoted, _ := strings.Cut(a.Markdown, "\n> ")
			if strings.Contains(quoted, "**") || !strings.Contains(a.Markdown, c.want) || !strings.Contains(quoted, "zebra") {
				t.Errorf("want %q in\n%s", c.want, a.Markdown)
			}
			checkSafe(t, a.Markdown)
		})
	}
}

func TestLeadInIsNoAnswer(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, body, want string }{
		{"the list that it leads in", "To feed the zebra:\n\n- Bring grass.\n", "> To feed the zebra:\n>\n> - **Bring grass.**\n"},
		{"the table that it leads in", "To feed the zebra:\n\n| a | b |\n|---|---|\n| grass | hay |\n", "> To feed the zebra:\n>\n> | a | b |\n"},
		{"what another paragraph says", "To feed the zebra:\n\n## Other\n\nThe zebra is fed with grass.\n", "> **The zebra is fed with grass.**\n"},
		{"the mark of a note", "> [!NOTE]\n> The zebra is fed with grass.\n", "\n> **The zebra is fed with grass.**\n"},
		{"better than nothing", "To feed the zebra:\n", "> **To feed the zebra:**\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if a := answerTo(t, "How do I feed the zebra?", "t", c.body); !strings.Contains(a.Markdown, c.want) {
				t.Errorf("want %q in\n%s", c.want, a.Markdown)
			}
		})
	}
}

func TestLongBlocksAreCutAroundTheMatch(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("Some words stand here. ", 40)
	row := strings.Repeat("|x|words-of-a-row|\n", 80)
	item := strings.Repeat("- some item or other\n", 45)
	for _, c := range []struct{ name, body, want string }{
		{"paragraph", filler + "The zebra is here. " + filler, "… Some words stand here. "},
		{"table keeps its head", "| a | b |\n|---|---|\n" + row + "| zebra | here |\n" + row, "| a | b |\n|---|---|\n|x|"},
		{"list", item + "- The zebra is here.\n" + item, "…\n\n- some item or other\n"},
		{"code", "```\n" + strings.Repeat("some code here\n", 85) + "zebra()\n" + strings.Repeat("some code here\n", 85) + "```\n", "…\n\n```\nsome code here\n"},
		{"one endless sentence", "The zebra " + strings.Repeat("and words ", 140), "The zebra and words"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := answerTo(t, "zebra", "t", c.body)
			pieces := quotedPieces(a.Markdown)
			if len(pieces) != 1 || len(pieces[0]) > 1300 || !strings.HasPrefix(pieces[0], c.want) || !strings.Contains(pieces[0], "zebra") || !strings.Contains(pieces[0], "…") {
				t.Errorf("%d characters:\n%s", len(a.Markdown), a.Markdown)
			}
		})
	}
}

// quotedPieces returns the blocks that an answer quotes, in order, without bold.
func quotedPieces(markdown string) []string {
	var pieces []string
	open := false
	for line := range strings.SplitSeq(markdown, "\n") {
		text, quoted := strings.CutPrefix(line, ">")
		if quoted && !open {
			pieces = append(pieces, "")
		}
		if open = quoted; quoted {
			pieces[len(pieces)-1] += strings.TrimPrefix(text, " ") + "\n"
		}
	}
	for i, p := range pieces {
		pieces[i] = strings.TrimSpace(strings.ReplaceAll(p, "**", ""))
	}
	return pieces
}

// checkSafe renders Markdown as readers do, and fails the test for HTML, images and links except
// Docent's own.
func checkSafe(t testing.TB, markdown string) {
	t.Helper()
	for _, md := range []goldmark.Markdown{goldmark.New(), goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Footnote))} {
		source := []byte(markdown)
		err := ast.Walk(md.Parser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if !entering {
				return ast.WalkContinue, nil
			}
			switch n := n.(type) {
			case *ast.RawHTML, *ast.HTMLBlock, *ast.Image, *ast.AutoLink:
				t.Errorf("%T in\n%s", n, markdown)
			case *ast.Link:
				if !strings.HasPrefix(string(n.Destination), "https://docs.example/") {
					t.Errorf("link to %q in\n%s", n.Destination, markdown)
				}
			}
			return ast.WalkContinue, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func FuzzQuote(f *testing.F) {
	for _, s := range []string{runbook, "a | b\n<b>--|--\n`x | <img src=y>`", "<b>```\n\n```\n[x](y)\n", "`a\n\n- b` <i>\n", "> > ~~~\n> <b>\n",
		"| `a | <img src=x>` |\n|-|-|\n| `b \\| c` <u> | `d` |", "<b>~~~\n\n    <img>\n", "[a]: x\n\n[a]", "![a][](b)(c)", "1. x\n\n   ```\n<i>",
		"* x\n\n    <b>```\n    [a](b)\n\n      * `c\n\n        d`<i>\n\n    ~~~\n    <b>\n", "-\t~~~\n\t<b>\n\n\t    <i>\n10) <u>~~~\n\n    | <b> |\n    |-|\n"} {
		f.Add(s, "zebra deployctl x a b")
	}
	f.Fuzz(func(t *testing.T, body, question string) {
		for _, markdown := range search.QuoteAll(body, question) {
			checkSafe(t, markdown)
		}
	})
}

// A further document's block is quoted only if it alone answers nearly as well.
func TestFurtherBlocksAnswerToo(t *testing.T) {
	t.Parallel()
	const answer = "Both daily allowances are reset at midnight, Pacific time."
	table := "| what | where |\n|---|---|\n| the daily digest of mail | inbox |\n| a list of rooms | portal |\n| a badge for guests | desk |\n" +
		"| the plan of shifts | board |\n| forms to reset a password | helpdesk |\n| a parking permit | garage |\n| allowances for travel | payroll |\n"
	cases := []struct {
		name, body string
		quoted     bool
	}{
		{"a paragraph that says it otherwise", "When the day ends, daily allowances are reset.", true},
		{"a table whose rows hold a word each", table, false},
		{"a table of contents", "- [Daily allowances are reset](a.md)\n- [When allowances are reset](b.md)\n  - [Daily reset](c.md)\n", false},
		{"a list that says it with links", "- [Daily allowances](a.md) are reset\n- [Tokens](b.md) are not\n- [Keys](c.md) are not\n", true},
		{"a table with a row that says it", "| what | when |\n|---|---|\n| daily allowances are reset | midnight |\n", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := answerTo(t, "When are daily allowances reset?", "Limits", answer, "Other", c.body)
			if !strings.Contains(a.Markdown, answer[:20]) {
				t.Fatalf("the answer is not quoted:\n%s", a.Markdown)
			}
			if got := strings.Contains(a.Markdown, "**Other**"); got != c.quoted {
				t.Errorf("the other document quoted: %v, want %v:\n%s", got, c.quoted, a.Markdown)
			}
		})
	}
}

func TestAWhenQuestionPrefersTextWithATime(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, told string }{
		{"a time of day", "It is reset at midnight, as every quota of a team is."},
		{"a duration", "It is reset some hours later, as every quota of a team is."},
		{"a year", "It was reset in 2024, as every quota of a team was."},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := answerTo(t, "When is the quota reset?", "Limits", c.told+" A quota can be reset.")
			if !strings.Contains(a.Markdown, "**"+c.told+"**") {
				t.Errorf("not in bold: %s\n%s", c.told, a.Markdown)
			}
		})
	}
}

// Sentences of Chinese and Japanese follow each other without a space.
func TestABoldSentenceIsBoldForAReader(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, question, body, want string }{
		{"Japanese", "シマウマは何を食べますか", "シマウマは草を食べます。水も飲みます。", "<strong>シマウマは草を食べます</strong>。水も"},
		{"Chinese", "斑马吃草吗", "草原很大。斑马吃草！水很少。", "。<strong>斑马吃草</strong>！水"},
		{"a quotation", "シマウマは何を食べますか", "「シマウマは草を食べます。」と言う。", "<strong>「シマウマは草を食べます</strong>。」と"},
		{"the end of a paragraph", "斑马吃草吗", "草原很大。斑马吃草。", "<strong>斑马吃草。</strong></p>"},
		{"a space", "zebra graze", "The zebra grazes. It rests.", "<strong>The zebra grazes.</strong> It"},
		{"code at the end", "斑马喜欢吃", "斑马喜欢吃 `草`。水很少。", "<strong>斑马喜欢吃 <code>草</code></strong>。水"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var html strings.Builder
			if err := goldmark.Convert([]byte(answerTo(t, c.question, "t", c.body).Markdown), &html); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(html.String(), c.want) {
				t.Errorf("no %q in\n%s", c.want, html.String())
			}
		})
	}
}

// TestATextIsQuotedOnce: documents with the same text are references of one quotation, those that the reader may read.
func TestATextIsQuotedOnce(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	docs := []search.Document{
		doc("wiki", "First", "The zebra grazes here.", 1), doc("wiki", "Second", "The zebra grazes here.", 1),
		doc("wiki", "Third", "Here the zebra grazes, too.", 1),
	}
	docs[1].Access = forAda
	publish(t, x, lib, docs...)
	for _, c := range []struct {
		name   string
		reader access.Reader
		want   []string // titles of the references
		links  string
	}{
		{"all", ada, []string{"Second", "First", "Third"}, "**Second** ([1](https://docs.example/Second), [2](https://docs.example/First))"},
		{"one of them restricted", eve, []string{"First", "Third"}, "**First** ([1](https://docs.example/First))"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const question = "Where does the zebra graze?"
			_, r := ask(t, x, search.Query{Text: question, Reader: c.reader})
			a := search.Quote(question, r)
			var titles []string
			for _, ref := range a.References {
				titles = append(titles, ref.Title)
			}
			of := fmt.Sprintf("*Quoted from %d documents, not written.*", len(c.want))
			if !slices.Equal(titles, c.want) || strings.Count(a.Markdown, "The zebra grazes here.") != 1 || !strings.Contains(a.Markdown, c.links) || !strings.HasPrefix(a.Markdown, of) {
				t.Errorf("%q\n%s", titles, a.Markdown)
			}
		})
	}
}

// TestVersionsOfAPageAreQuotedOnce: the same words are one text, however they are wrapped and marked, and a long paragraph is the
// same one wherever it stands. What differs is quoted.
func TestVersionsOfAPageAreQuotedOnce(t *testing.T) {
	t.Parallel()
	const grazes = "The zebra of the northern plains grazes from the early morning until the sun is high, and then rests in the shade of a tree."
	for name, c := range map[string]struct {
		first, second string
		once          bool
	}{
		"wrapped otherwise":           {"The zebra grazes here,\nand sleeps there.", "The zebra grazes here, and\nsleeps there.", true},
		"marked otherwise":            {"The zebra *grazes* here, and sleeps there.", "The zebra grazes here, and `sleeps` there.", true},
		"in capitals":                 {"The zebra grazes here.", "The Zebra grazes HERE.", true},
		"with another text below":     {grazes + "\n\nIt drinks in the evening.\n", grazes + "\n\nIt drinks at night.\n", true},
		"a short one with another":    {"The zebra grazes here.\n\nIt drinks in the evening.\n", "The zebra grazes here.\n\nIt drinks at night.\n", false},
		"with another number":         {strings.Replace(grazes, "the early morning", "6.30", 1), strings.Replace(grazes, "the early morning", "7.30", 1), false},
		"with another word in a code": {grazes + " See `a.b`.", grazes + " See `ab`.", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := answerTo(t, "Where and when does the zebra graze?", "Animals 1", c.first, "Animals 2", c.second)
			if links := strings.Count(a.Markdown, "\n**Animals"); len(a.References) != 2 || links != map[bool]int{true: 1, false: 2}[c.once] {
				t.Errorf("%d quotations, %v\n%s", links, a.References, a.Markdown)
			}
		})
	}
}

func TestPaddingOfTablesIsNotQuoted(t *testing.T) {
	t.Parallel()
	table := "| animal" + strings.Repeat(" ", 500) + " | food |\n|:" + strings.Repeat("-", 500) + "|------|\n"
	for _, animal := range []string{"zebra", "lion", "emu"} {
		table += "| The " + animal + strings.Repeat(" ", 500) + " |\teats\t\tsome `" + animal + "  food` |\n"
	}
	a := answerTo(t, "What food does the zebra eat?", "t", table)
	const want = "> | animal | food |\n> |:---|---|\n> | The zebra | eats some `zebra food` |\n> | The lion | eats some `lion food` |\n> | The emu | eats some `emu food` |\n"
	if !strings.HasSuffix(a.Markdown, want) {
		t.Errorf("got %s", a.Markdown)
	}
}
