package confluence

import (
	"strings"
	"testing"

	"docent/shared/growthtest"
)

func at(name string) place {
	return place{base: "https://acme.test/wiki", space: "ENG", page: "12", name: func(person) string { return name }}
}

func macro(name, inner string) string {
	return `<ac:structured-macro ac:name="` + name + `" ac:schema-version="1">` + inner + `</ac:structured-macro>`
}

func param(name, value string) string {
	return `<ac:parameter ac:name="` + name + `">` + value + `</ac:parameter>`
}

func rich(inner string) string { return `<ac:rich-text-body>` + inner + `</ac:rich-text-body>` }
func text(inner string) string {
	return `<ac:plain-text-body><![CDATA[` + inner + `]]></ac:plain-text-body>`
}

func TestStorageFormatBecomesMarkdown(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ storage, want string }{
		"text":                       {`<h2>Why&nbsp;so</h2><p>One <strong>two</strong> <em>three</em> <code>four</code>&mdash;five<br />six</p>`, "## Why so\n\nOne **two** *three* `four`—five  \nsix"},
		"lists":                      {`<ul><li><p>a</p><ol><li>b</li></ol></li><li>c</li></ul>`, "- a\n  \n  1. b\n- c"},
		"a code block":               {macro("code", param("language", "go")+param("title", "main.go")+text("if a < b {\n\t*p = 1\n}")), "**main.go**\n\n```go\nif a < b {\n\t*p = 1\n}\n```"},
		"text in parts":              {`<p>a<!-- x -->b<![CDATA[c]]>d<?x?>e</p>f<b>g</b>h</i>i`, "abcde\n\nf**g**hi"},
		"code in two parts":          {macro("code", `<ac:plain-text-body><![CDATA[a]]]]><![CDATA[>b]]></ac:plain-text-body>`), "```\na]]>b\n```"},
		"preformatted text":          {macro("noformat", text("a  b")), "```\na  b\n```"},
		"a diagram":                  {macro("mermaid", text("graph TD")), "```mermaid\ngraph TD\n```"},
		"a panel":                    {macro("warning", param("title", "Mind")+rich("<p>the gap</p>")), "> **Warning: Mind**\n> \n> the gap"},
		"a panel without a title":    {macro("info", rich("<p>a</p>")), "> **Info**\n> \n> a"},
		"a panel of the new editor":  {`<ac:adf-extension><ac:adf-node type="panel"><ac:adf-attribute key="panel-type">note</ac:adf-attribute><ac:adf-content><p>new</p></ac:adf-content></ac:adf-node><ac:adf-fallback><p>old</p></ac:adf-fallback></ac:adf-extension>`, "new"},
		"only a fallback":            {`<ac:adf-extension><ac:adf-node type="x"></ac:adf-node><ac:adf-fallback><p>old</p></ac:adf-fallback></ac:adf-extension>`, "old"},
		"an expand":                  {macro("expand", param("title", "More")+rich("<p>inside</p>")), "**More**\n\ninside"},
		"an expand without a title":  {macro("expand", rich("<p>inside</p>")), "**Details**\n\ninside"},
		"an excerpt":                 {macro("excerpt", rich("<p>short</p>")), "short"},
		"an unknown macro":           {macro("roadmap", param("x", "y")), ""},
		"a table of contents":        {macro("toc", param("maxLevel", "2")) + "<p>a</p>", "a"},
		"a status":                   {"<p>It is " + macro("status", param("colour", "Green")+param("title", "DONE")) + "</p>", "It is DONE"},
		"an issue of Jira":           {"<p>See " + macro("jira", param("server", "x")+param("key", "OPS-1")) + "</p>", "See OPS-1"},
		"an included page":           {macro("include", `<ac:parameter ac:name=""><ac:link><ri:page ri:space-key="OPS" ri:content-title="Runbook" /></ac:link></ac:parameter>`), "Includes the page\n\n[Runbook](https://acme.test/wiki/pages/viewpage.action?spaceKey=OPS&title=Runbook)"},
		"tasks":                      {`<ac:task-list><ac:task><ac:task-id>1</ac:task-id><ac:task-status>complete</ac:task-status><ac:task-body><span>a</span></ac:task-body></ac:task><ac:task><ac:task-status>incomplete</ac:task-status><ac:task-body>b</ac:task-body></ac:task></ac:task-list>`, "- [x] a\n- [ ] b"},
		"a link to a page":           {`<ac:link><ri:page ri:content-title="A &amp; B" /><ac:plain-text-link-body><![CDATA[here]]></ac:plain-text-link-body></ac:link>`, "[here](https://acme.test/wiki/pages/viewpage.action?spaceKey=ENG&title=A%20%26%20B)"},
		"a link with its title":      {`<ac:link><ri:page ri:space-key="OPS" ri:content-title="Runbook" /></ac:link>`, "[Runbook](https://acme.test/wiki/pages/viewpage.action?spaceKey=OPS&title=Runbook)"},
		"a link with a rich body":    {`<ac:link ac:anchor="x"><ri:page ri:content-title="T" /><ac:link-body><strong>b</strong></ac:link-body></ac:link>`, "[**b**](https://acme.test/wiki/pages/viewpage.action?spaceKey=ENG&title=T)"},
		"a link to a file":           {`<ac:link><ri:attachment ri:filename="a b.pdf" /></ac:link>`, "[a b.pdf](https://acme.test/wiki/download/attachments/12/a%20b.pdf)"},
		"a link to another page's":   {`<ac:link><ri:attachment ri:filename="b.pdf"><ri:page ri:content-title="T" /></ri:attachment></ac:link>`, "[b.pdf](https://acme.test/wiki/pages/viewpage.action?spaceKey=ENG&title=T)"},
		"a file that is shown":       {macro("view-file", `<ac:parameter ac:name="name"><ri:attachment ri:filename="plan.docx" /></ac:parameter>`+param("height", "250")), "[plan.docx](https://acme.test/wiki/download/attachments/12/plan.docx)"},
		"a video that is shown":      {macro("widget", `<ac:parameter ac:name="url"><ri:url ri:value="https://x.test/v?a=1&amp;b=2" /></ac:parameter>`), "[https://x.test/v?a=1&b=2](https://x.test/v?a=1&b=2)"},
		"a link elsewhere":           {`<a href="https://x.test/a">x</a>`, "[x](https://x.test/a)"},
		"a mention":                  {`<p>Ask <ac:link><ri:user ri:account-id="5:a" /></ac:link>.</p>`, "Ask @Ada."},
		"a mention with a text":      {`<ac:link><ri:user ri:userkey="k" /><ac:plain-text-link-body><![CDATA[the boss]]></ac:plain-text-link-body></ac:link>`, "the boss"},
		"an image":                   {`<ac:image ac:alt="The plan"><ri:attachment ri:filename="p 1.png" /></ac:image>`, "![The plan](https://acme.test/wiki/download/attachments/12/p%201.png)"},
		"an image without a text":    {`<ac:image><ri:url ri:value="https://x.test/a.png" /></ac:image>`, "![](https://x.test/a.png)"},
		"an emoticon":                {`<p>Good <ac:emoticon ac:name="smile" ac:emoji-fallback="🙂" /></p>`, "Good 🙂"},
		"a date":                     {`<p>Due <time datetime="2026-01-02" /></p>`, "Due 2026-01-02"},
		"a placeholder":              {`<p>a<ac:placeholder>type here</ac:placeholder></p>`, "a"},
		"a comment's mark":           {`<p>a <ac:inline-comment-marker ac:ref="1">b</ac:inline-comment-marker></p>`, "a b"},
		"a layout":                   {`<ac:layout><ac:layout-section ac:type="two_equal"><ac:layout-cell><p>a</p></ac:layout-cell><ac:layout-cell><p>b</p></ac:layout-cell></ac:layout-section></ac:layout>`, "a\n\nb"},
		"a table":                    {`<table><colgroup><col /></colgroup><tbody><tr><th><p>A</p></th><th>B</th></tr><tr><td><p>1</p><p>2</p></td><td><ul><li>x</li><li>y</li></ul></td></tr></tbody></table>`, "| A | B |\n|---|---|\n| 1  <br />2 | • x  <br />• y |"},
		"a table without a head":     {`<table><tbody><tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></tbody></table>`, "| 1 | 2 |\n|---|---|\n| 3 | 4 |"},
		"a wide cell":                {`<table><tbody><tr><th>A</th><th>B</th></tr><tr><td colspan="2">w</td></tr></tbody></table>`, "| A | B |\n|---|---|\n| w | w |"},
		"a hostile cell":             {`<table><tbody><tr><td colspan="999999999" rowspan="99999999">w</td></tr></tbody></table>`, "| w |\n|---|"},
		"nothing":                    {"", ""},
		"elements that do not close": {`<p>a <strong>b<p>c`, "a **b**\n\n**c**"},
		"elements that only close":   {`a</p></div></ac:link>b`, "ab"},
		"an unknown entity":          {`<p>a &bogus; b</p>`, "a &bogus; b"},
		"scripts":                    {`<script>alert(1)</script><p>a</p>`, "a"},
	} {
		if got := markdown(tt.storage, at("Ada")); got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, tt.want)
		}
	}
}

func TestAHostileBodyIsBounded(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"deep":          strings.Repeat("<div>", 100_000) + "end",
		"deep macros":   strings.Repeat(`<ac:structured-macro ac:name="info"><ac:rich-text-body>`, 50_000) + "end",
		"deep fallback": strings.Repeat(`<ac:adf-extension><ac:adf-fallback>`, 50_000) + "end",
		"deep quotes":   strings.Repeat("<blockquote>", 1000) + strings.Repeat("a<br/>", 1000),
		"deep tables":   strings.Repeat("<table><tr><td colspan='20' rowspan='20'>", 200) + "end",
		"long":          strings.Repeat("<p>a</p>", 700_000),
		"one text":      strings.Repeat("a", 20<<20),
		"not UTF-8":     "<p>\xff\xfe</p>",
	} {
		if got := markdown(body, at("")); got == "" || len(got) > maxText {
			t.Errorf("%s: %d bytes", name, len(got))
		}
	}
}

func TestABodyTakesMemoryInProportionToItsLength(t *testing.T) {
	rep := strings.Repeat
	for name, body := range map[string]func(n int) string{
		"parts of a text":    func(n int) string { return "<p>" + rep("<![CDATA[some text]]>", n) + "</p>" },
		"comments":           func(n int) string { return "<p>" + rep("some text<!-- -->", n) + "</p>" },
		"what shows nothing": func(n int) string { return "<p>" + rep("some text<ri:page/><input/>", n) + "</p>" },
		"ends of nothing":    func(n int) string { return "<p>" + rep("some text</b>", n) + "</p>" },
		"paragraphs":         func(n int) string { return rep("<p>some text</p>", n) },
		"a wide table":       func(n int) string { return "<table><tr>" + rep("<td/>", n) + "</tr>" + rep("<tr/>", n) + "</table>" },
		"spans": func(n int) string {
			return "<table><tr>" + rep(`<td colspan="20" rowspan="20">a</td>`, n) + "</tr></table>"
		},
		"deep quotations": func(n int) string { return rep("<blockquote>", min(n/20, 55)) + rep("a<br/>", n) },
		"nested rows":     func(n int) string { return "<table>" + rep("<tr>", 50) + rep("<td>a</td>", n) },
		"panels and tasks": func(n int) string {
			return rep(macro("info", param("title", "a")+rich("<ac:task-list><ac:task><ac:task-body>b</ac:task-body></ac:task></ac:task-list>")), n)
		},
	} {
		t.Run(name, func(t *testing.T) {
			growthtest.Linear(t, 1000, func(n int) { markdown(body(n), at("")) })
		})
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add(macro("code", text("a")))
	f.Add(macro("panel", rich("<p>a</p>")) + "<table><tr><td colspan=\"2\">x</td></tr></table>")
	f.Add(`<ac:link><ri:page ri:content-title="T"/></ac:link><ac:task-list><ac:task></ac:task></ac:task-list>`)
	f.Fuzz(func(t *testing.T, body string) {
		if got := markdown(body, at("Ada")); len(got) > maxText {
			t.Errorf("%d bytes", len(got))
		}
	})
}
