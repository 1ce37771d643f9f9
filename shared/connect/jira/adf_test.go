package jira

import (
	"encoding/json"
	"strings"
	"testing"

	"docent/shared/growthtest"
)

func doc(content string) json.RawMessage {
	return json.RawMessage(`{"type":"doc","version":1,"content":[` + content + `]}`)
}

func paragraph(inner string) string { return `{"type":"paragraph","content":[` + inner + `]}` }
func words(text string) string      { return `{"type":"text","text":"` + text + `"}` }
func item(inner string) string      { return `{"type":"listItem","content":[` + inner + `]}` }

func TestDocumentsBecomeMarkdown(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ content, want string }{
		"paragraphs":      {paragraph(words("a")) + "," + paragraph(words("b")+`,{"type":"hardBreak"},`+words("c")), "a\n\nb\nc"},
		"a heading":       {`{"type":"heading","attrs":{"level":3},"content":[` + words("Why") + `]}`, "### Why"},
		"a wrong level":   {`{"type":"heading","attrs":{"level":99},"content":[` + words("Why") + `]}`, "###### Why"},
		"marks":           {paragraph(`{"type":"text","text":"bold ","marks":[{"type":"strong"}]},{"type":"text","text":"it","marks":[{"type":"em"}]},{"type":"text","text":" x","marks":[{"type":"strike"},{"type":"code"}]}`), "**bold** *it* ~~`x`~~"},
		"a power":         {paragraph(words("10") + `,{"type":"text","text":"6","marks":[{"type":"subsup","attrs":{"type":"sup"}}]},` + words(" H") + `,{"type":"text","text":"2","marks":[{"type":"subsup","attrs":{"type":"sub"}}]}`), "10⁶ H2"},
		"a mark twice":    {paragraph(`{"type":"text","text":"x","marks":[{"type":"em"},{"type":"strong"},{"type":"em"},{"type":"code"},{"type":"code"}]}`), "***`x`***"},
		"a link":          {paragraph(`{"type":"text","text":"here","marks":[{"type":"link","attrs":{"href":"https://x.test/a(b)"}}]}`), "[here](https://x.test/a(b%29)"},
		"lists":           {`{"type":"bulletList","content":[` + item(paragraph(words("a"))+`,{"type":"orderedList","attrs":{"order":3},"content":[`+item(paragraph(words("b")))+`]}`) + "," + item(paragraph(words("c"))) + `]}`, "- a\n  \n  3. b\n- c"},
		"tasks":           {`{"type":"taskList","content":[{"type":"taskItem","attrs":{"state":"DONE"},"content":[` + words("a") + `]},{"type":"taskItem","attrs":{"state":"TODO"},"content":[` + words("b") + `]}]}`, "- [x] a\n- [ ] b"},
		"decisions":       {`{"type":"decisionList","content":[{"type":"decisionItem","attrs":{"state":"DECIDED"},"content":[` + words("a") + `]}]}`, "- a"},
		"code":            {`{"type":"codeBlock","attrs":{"language":"go"},"content":[{"type":"text","text":"if a < b {\n\t}"}]}`, "```go\nif a < b {\n\t}\n```"},
		"code with fence": {`{"type":"codeBlock","content":[{"type":"text","text":"` + "```" + `"}]}`, "````\n```\n````"},
		"a quote":         {`{"type":"blockquote","content":[` + paragraph(words("a")) + "," + paragraph(words("b")) + `]}`, "> a\n> \n> b"},
		"a panel":         {`{"type":"panel","attrs":{"panelType":"warning"},"content":[` + paragraph(words("a")) + `]}`, "> **Warning**\n> \n> a"},
		"an expand":       {`{"type":"expand","attrs":{"title":"More"},"content":[` + paragraph(words("a")) + `]}`, "**More**\n\na"},
		"a rule":          {paragraph(words("a")) + `,{"type":"rule"},` + paragraph(words("b")), "a\n\n---\n\nb"},
		"a mention":       {paragraph(words("Ask ") + `,{"type":"mention","attrs":{"id":"5:a","text":"@Ada"}},{"type":"mention","attrs":{"id":"5:b"}}`), "Ask @Ada@someone"},
		"an emoji":        {paragraph(`{"type":"emoji","attrs":{"shortName":":smile:","text":"🙂"}}`), "🙂"},
		"a date":          {paragraph(words("due ") + `,{"type":"date","attrs":{"timestamp":"1767312000000"}}`), "due 2026-01-02"},
		"a status":        {paragraph(`{"type":"status","attrs":{"text":"DONE","color":"green"}}`), "DONE"},
		"a card":          {paragraph(`{"type":"inlineCard","attrs":{"url":"https://x.test/a"}}`) + `,{"type":"blockCard","attrs":{"url":"https://x.test/b"}}`, "<https://x.test/a>\n\n<https://x.test/b>"},
		"media":           {`{"type":"mediaSingle","content":[{"type":"media","attrs":{"type":"file","id":"1","alt":"plan.png"}}]},{"type":"mediaGroup","content":[{"type":"media","attrs":{"type":"file","id":"2"}}]}`, "[plan.png]"},
		"a table": {`{"type":"table","content":[{"type":"tableRow","content":[{"type":"tableHeader","content":[` + paragraph(words("A")) + `]},{"type":"tableHeader","content":[` + paragraph(words("B")) + `]}]},` +
			`{"type":"tableRow","content":[{"type":"tableCell","content":[` + paragraph(words("1|2")) + "," + paragraph(words("3")) + `]}]}]}`, "| A | B |\n|---|---|\n| 1\\|2<br />3 |  |"},
		"an unknown node": {`{"type":"future","content":[` + paragraph(words("a")) + `]}`, "a"},
		"odd attributes":  {`{"type":"heading","attrs":[],"content":[` + words("a") + `]}`, "# a"},
		"nothing":         {"", ""},
	} {
		if got := text(doc(tt.content), ""); got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, tt.want)
		}
	}
	for _, body := range []string{"", "null", "3", "[]", `{"content":3}`, "{"} {
		if got := text(json.RawMessage(body), ""); got != "" {
			t.Errorf("%s: %q", body, got)
		}
	}
}

func TestWikiMarkupBecomesMarkdown(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ markup, want string }{
		"a power":                    {"10^-6^ N, 21^st^, a ^ b ^ c", "10⁻⁶ N, 21^st^, a ^ b ^ c"},
		"headings":                   {"h2. Why *so*\r\ntext", "## Why **so**\ntext"},
		"lists":                      {"* a\n** b\n*# c\n- d", "- a\n  - b\n  1. c\n- d"},
		"code":                       {"before\n{code:java|title=A.java}\nint *a* = 1; // {quote}\n{code}\nafter", "before\n**A.java**\n\n```java\nint *a* = 1; // {quote}\n```\nafter"},
		"code on a line":             {"{noformat}a *b*{noformat} then", "```\na *b*\n```\n then"},
		"code left open":             {"{code}\na", "```\na\n```"},
		"a quote":                    {"{quote}\na\n*b*\n{quote}\nc", "> a\n> **b**\n\nc"},
		"a quote on a line":          {"he said {quote}a{quote} then", "he said \n> a\n\n then"},
		"marks in braces":            {"{*}bold{*}: {_}so{_}", "**bold**: _so_"},
		"code in an entry":           {"* run {code:bash}\n# a *b*\n{code}\n* then {noformat}x | y{noformat} z\n# c", "- run \n```bash\n# a *b*\n```\n- then \n```\nx | y\n```\n z\n1. c"},
		"code in a cell":             {"||A||B||\n|{code:sh}a | b{code}|{noformat}{noformat}|\n|1|2|", "|A|B|\n|---|---|\n|`a \\| b`||\n|1|2|"},
		"about code":                 {"use {code} here\n* a\n\\{quote} b {quote} c", "use {code} here\n- a\n\\{quote} b {quote} c"},
		"code left open twice":       {"{noformat}\na{noformat} b {noformat} c", "```\na\n```\n b {noformat} c"},
		"a cell of lines":            {"||A||B||\n|1|two\nthree|\n|4|5|\n|6|seven\n\nx|", "|A|B|\n|---|---|\n|1|two<br>three|\n|4|5|\n|6|seven\n\nx|"},
		"a quote in a cell of lines": {"|1 {quote}a{quote} b\nc|", "|1 \n|---|\n> a\n\n b\nc|"},
		"a quoted line":              {"bq. a", "> a"},
		"links":                      {"see [here|https://x.test/a] and [https://x.test/b] and [that|OPS-1]", "see [here](https://x.test/a) and <https://x.test/b> and [that](https://jira.test/browse/OPS-1)"},
		"mentions":                   {"[~ada] and [~accountid:5:x]", "@ada and @someone"},
		"text":                       {"{color:red}red{color} {{mono}} 2*3*4 !plan.png|width=3! really!", "red `mono` 2*3*4 [plan.png] really!"},
		"a table":                    {"||A||B||\n|1|2|\nx", "|A|B|\n|---|---|\n|1|2|\nx"},
		"a table no head":            {"|1|2|\n|3|4|", "|1|2|\n|---|---|\n|3|4|"},
		"a table of links":           {"|[a|https://x.test]|[b|OPS-1]|\n|1|2|", "|[a](https://x.test)|[b](https://jira.test/browse/OPS-1)|\n|---|---|\n|1|2|"},
		"a table with a bar":         {"|{code}a|b{code}|2|\n|3|4|", "|`a\\|b`|2|\n|---|---|\n|3|4|"},
		"a table left open":          {"|1|2", "|1|2\n|---|---|"},
		"a panel":                    {"{panel:title=Mind}\na\n{panel}", "**Mind**\n\na"},
	} {
		body, _ := json.Marshal(tt.markup)
		if got := text(body, "https://jira.test"); got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, tt.want)
		}
	}
}

func TestAHostileTextIsBounded(t *testing.T) {
	t.Parallel()
	deep := func(kind string, n int) json.RawMessage {
		return doc(strings.Repeat(`{"type":"`+kind+`","content":[`, n) + words("a") + strings.Repeat("]}", n))
	}
	for name, body := range map[string]json.RawMessage{
		"deep panels": deep("panel", 3000), "deep tables": deep("table", 3000), "deep lists": deep("bulletList", 3000), "too deep for JSON": deep("panel", 9999),
		"long":     doc(paragraph(words(strings.Repeat("a", 6<<20)))),
		"one line": json.RawMessage(`"` + strings.Repeat("[a|", 200_000) + `"`), "braces": json.RawMessage(`"` + strings.Repeat("{{", 200_000) + `"`),
		"blocks": json.RawMessage(`"` + strings.Repeat("{code}", 700_000) + `"`), "open blocks": json.RawMessage(`"` + strings.Repeat("a{quote:b}{code:c}", 200_000) + `"`),
		"panels that one mark ends": json.RawMessage(`"` + strings.Repeat("a{panel:b}", 400_000) + `\n{panel}"`),
		"rows of code":              json.RawMessage(`"|` + strings.Repeat("{code}a", 200_000) + `"`),
		"long rows":                 json.RawMessage(`"` + strings.Repeat("|a"+strings.Repeat(`\n`+strings.Repeat("a", 1000), 90)+`\n`, 40) + `"`),
	} {
		if got := text(body, ""); len(got) > maxText {
			t.Errorf("%s: %d bytes", name, len(got))
		}
	}
}

func TestATextTakesMemoryInProportionToItsDocument(t *testing.T) {
	rep := strings.Repeat
	for name, body := range map[string]func(n int) json.RawMessage{
		"a run of backticks": func(n int) json.RawMessage {
			return doc(`{"type":"codeBlock","content":[` + words(rep("`", 8*n)) + `]}`)
		},
		"marks": func(n int) json.RawMessage {
			return doc(paragraph(`{"type":"text","text":"a","marks":[{"type":"em"}` + rep(`,{"type":"em"}`, n) + `]}`))
		},
		"links": func(n int) json.RawMessage {
			return doc(paragraph(`{"type":"text","text":"a","marks":[{"type":"em"}` + rep(`,{"type":"link","attrs":{"href":"https://x.test/"}}`, n) + `]}`))
		},
		"paragraphs": func(n int) json.RawMessage { return doc(paragraph(words("a")) + rep(","+paragraph(words("a")), n)) },
		"a wide row": func(n int) json.RawMessage {
			return doc(`{"type":"table","content":[{"type":"tableRow","content":[{}` + rep(`,{}`, n) + `]}` + rep(`,{}`, n) + `]}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			growthtest.Linear(t, 2000, func(n int) { text(body(n), "") })
		})
	}
}

// Quotations, lists and cells within each other make each line longer by some characters, and with it all that is around
// them.
func TestATextDoesNotGrowWithItsDepthBeyondItsBound(t *testing.T) {
	lines := func(n int) string {
		return `{"type":"codeBlock","content":[` + words(strings.Repeat(`\n`, n)+"a") + `]}`
	}
	deep := func(kind string, n int) string {
		return strings.Repeat(`{"type":"`+kind+`","content":[`, maxDepth-8) + lines(n) + strings.Repeat("]}", maxDepth-8)
	}
	cell := func(n int) string { return `{"content":[` + deep("blockquote", n) + `]}` }
	for name, body := range map[string]json.RawMessage{
		"quotations":      doc(deep("blockquote", 1<<20)),
		"many of them":    doc(deep("blockquote", 20_000) + strings.Repeat(","+deep("blockquote", 20_000), 60)),
		"cells of a row":  doc(`{"type":"table","content":[{"type":"tableRow","content":[` + cell(20_000) + strings.Repeat(","+cell(20_000), 60) + `]}]}`),
		"entries":         doc(`{"type":"bulletList","content":[` + cell(20_000) + strings.Repeat(","+cell(20_000), 60) + `]}`),
		"a long document": doc(`{}` + strings.Repeat(",{}", 10<<20)),
	} {
		t.Run(name, func(t *testing.T) {
			const most = 250 * maxText // without the bound it is more than a thousand times
			if got := growthtest.Allocated(t, func() { text(body, "") }); got > most {
				t.Errorf("%d MB were allocated for a document of %d KB", got>>20, len(body)>>10)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte(doc(paragraph(words("a")) + `,{"type":"table","content":[{"type":"tableRow","content":[{"type":"tableCell"}]}]}`)))
	f.Add([]byte(doc(`{"type":"bulletList","content":[` + item(paragraph(words("a"))) + `]}`)))
	f.Add([]byte(`"h1. a\n{code}\n||a||\n* [a|b]"`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if got := text(body, "https://jira.test"); len(got) > maxText {
			t.Errorf("%d bytes", len(got))
		}
	})
}
