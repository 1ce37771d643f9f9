package markup_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"

	"docent/shared/growthtest"
	"docent/shared/markup"
)

// convert returns the Markdown of a page, with the cells of tables padded, or with those that are spanned repeated.
func convert(t testing.TB, page string, padded bool, more ...converter.Plugin) string {
	t.Helper()
	tables := table.NewTablePlugin()
	if !padded {
		tables = table.NewTablePlugin(table.WithSpanCellBehavior(table.SpanBehaviorMirror), table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal))
	}
	c := converter.NewConverter(converter.WithPlugins(append([]converter.Plugin{base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), tables}, more...)...))
	out, err := c.ConvertString(page)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var rep = strings.Repeat

func TestUsualPagesAreConvertedAsBefore(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]string{
		"a table":          "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>a longer one</td></tr><tr><td>2</td></tr></table>",
		"spans":            "<table><tr><td rowspan=3 colspan=2>a</td><td>b</td></tr><tr><td>c</td></tr><tr><td>d</td></tr></table>",
		"a table of 100":   "<table>" + rep("<tr>"+rep("<td>some text</td>", 10)+"</tr>", 100) + "</table>",
		"a wide table":     "<table><tr>" + rep("<td>a</td>", 400) + "</tr></table>",
		"tables in tables": "<table><tr><td><table><tr><td>a</td></tr></table></td></tr></table>",
		"lists":            rep("<ul><li>a", 10) + rep("</ul>", 10) + "<ol><li>b<blockquote>c</blockquote></ol>",
		"brackets":         "<p>[a] [b [c]] [d</p><p>![e] [ <br>]</p>",
	} {
		for _, padded := range []bool{false, true} {
			if got, want := convert(t, page, padded, markup.Bounds{Padded: padded}), convert(t, page, padded); got != want {
				t.Errorf("%s, padded %v:\n%s\nwithout bounds:\n%s", name, padded, got, want)
			}
		}
	}
}

func TestAnchorsThatShowNothingAreDropped(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ page, want string }{
		"before the text of an item": {`<ul><li><a id="i1"></a><div>one</div></li><li><a name="i2"> </a>two</li></ul>`, "- one\n- two"},
		"in a heading":               {`<h2><a id="x"></a>Rights<a class="headerlink" href="#x" title="Permalink">¶</a></h2>`, "## Rights"},
		"a mark in a heading":        {`<h2>Rights <a href="#x">#</a></h2><h3><a href="#y"><span>§</span></a>More</h3>`, "## Rights\n\n### More"},
		"of a term":                  {`<dl><dt>run()<a href="#run">¶</a></dt><dd>Runs.</dd></dl>`, "run()\n\nRuns."},
		"a link with text":           {`<p>See <a href="#x">the rights</a>, <a href="#y">#</a>, <a href="#z">§ 3</a>.</p>`, `See [the rights](#x), [#](#y), [§ 3](#z).`},
		"a link with an image":       {`<p><a href="https://x.test"><img src="https://x.test/i" alt="Logo"></a></p>`, "[![Logo](https://x.test/i)](https://x.test)"},
		"with an icon":               {`<h2>Rights<a href="#x"><i class="icon"></i></a></h2>`, "## Rights"},
	} {
		if got := convert(t, tt.page, false, markup.Bounds{}); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, tt.want)
		}
	}
}

func TestTextThatIsStruckThroughHasMarks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ page, want string }{
		"words":                {"<p>The fee is <del>50</del> <ins>80</ins>, <s>net </s><strike>gross</strike>.</p>", "The fee is ~~50~~ 80, ~~net~~ ~~gross~~."},
		"within each other":    {"<p><s>a <del>b</del></s></p>", "~~a b~~"},
		"other marks":          {`<p><del><strong>a</strong> <a href="https://x.test">b</a></del></p>`, "~~**a** [b](https://x.test)~~"},
		"in a cell":            {"<table><tr><th>a</th></tr><tr><td><s>1</s> 2</td></tr></table>", "| a |\n|---|\n| ~~1~~ 2 |"},
		"paragraphs and lines": {"<del><p>a</p><p>b</p></del><p><s>c<br>d</s></p>", "a\n\nb\n\nc  \nd"},
		"nothing":              {"<p>a<s> </s>b<del></del></p>", "a b"},
	} {
		if got := convert(t, tt.page, false, markup.Bounds{}); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func TestNumbersAboveTheLineSayIt(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ page, want string }{
		"a power, an area and the end of a number": {"<p>10<sup>-6</sup> N, 20 m<sup>2</sup>, the 21<sup>st</sup>, H<sub>2</sub>O</p>", "10⁻⁶ N, 20 m², the 21st, H2O"},
		"the mark of a note":                       {`<p>in 1990<sup><a href="#n">1</a></sup> and 1991<sup>[2]</sup></p>`, `in 1990[¹](#n) and 1991\[2]`},
	} {
		if got := convert(t, tt.page, false, markup.Bounds{}); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func TestCellsThatBecomeTextStayApart(t *testing.T) {
	t.Parallel()
	page := "<table><tr><th>Model</th><th>Weight</th></tr>\n<tr><td>ZX-1</td>\n<td>12<br>kg</td></tr></table>"
	if got, want := convert(t, page, true, markup.Bounds{Padded: true}), "Model Weight\n\nZX-1 12  \nkg"; got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestWhatIsTooLargeBecomesParagraphs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		page   string
		padded bool
		want   string // a part of the result
	}{
		"too many cells":         {"<table><tr>" + rep("<td>a</td>", 400) + "</tr>" + rep("<tr><td>b</td></tr>", 600) + "</table>", false, "a\n\na\n\na"},
		"too many columns":       {"<table><caption>c</caption><tr>" + rep("<td>a</td>", 501) + "</tr></table>", false, "c\n\na\n\na"},
		"a long cell is padded":  {"<table><tr><td>" + rep("x", 40_000) + "</td></tr>" + rep("<tr><td>b</td></tr>", 300) + "</table>", true, "x\n\nb\n\nb"},
		"and not without":        {"<table><tr><td>" + rep("x", 40_000) + "</td></tr>" + rep("<tr><td>b</td></tr>", 300) + "</table>", false, "\n| b |\n| b |"},
		"a long cell is spanned": {"<table><tr><td colspan=100 rowspan=100>" + rep("x", 40_000) + "</td></tr><tr><td>b</td></tr></table>", false, "x |\n| b |"},
		"a hostile span":         {"<table><tr><td colspan=1000000000>a</td><td rowspan=99999999>b</td></tr></table>", true, "| a | b |"},
		"many tables":            {rep("<table><tr><td colspan=100>a</td></tr>"+rep("<tr><td>b</td></tr>", 9)+"</table>", 300) + "<p>end</p>", true, "b\n\nb\n\nend"},
		"deep quotations":        {rep("<blockquote>", 100) + "a<p>b", false, rep("> ", 20) + "a\n" + rep("> ", 20) + "\n" + rep("> ", 20) + "b"},
		"deep lists":             {rep("<ul><li>a", 100), false, rep("  ", 19) + "- a\n"},
	} {
		if got := convert(t, tt.page, tt.padded, markup.Bounds{Padded: tt.padded}); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q is not in\n%s", name, tt.want, got[:min(len(got), 2000)])
		}
	}
}

func TestAPageTakesMemoryInProportionToItsLength(t *testing.T) {
	for name, page := range map[string]func(n int) string{
		"rows and columns": func(n int) string {
			return "<table><tr>" + rep("<td>a</td>", n) + "</tr>" + rep("<tr><td>b</td></tr>", n) + "</table>"
		},
		"a cell to pad to": func(n int) string {
			return "<table><tr><td>" + rep("x", 30*n) + "</td></tr>" + rep("<tr><td>b</td></tr>", n) + "</table>"
		},
		"cells of all rows": func(n int) string { return "<table>" + rep("<tr><td rowspan=150>a</td></tr>", n) + "</table>" },
		"wide cells":        func(n int) string { return "<table><tr>" + rep("<td colspan=90>a</td>", n) + "</tr></table>" },
		"tables":            func(n int) string { return rep("<table><tr><td colspan=150 rowspan=150>a</table>", n) },
		"a spanned text": func(n int) string {
			return "<table><tr><td colspan=100 rowspan=100>" + rep("some text ", 30*n) + "</td></tr></table>"
		},
		"quotations":      func(n int) string { return rep("<blockquote>", min(n/8, 400)) + rep("a<br>", n) },
		"lists":           func(n int) string { return rep("<ul><li>", min(n/8, 200)) + rep("a<br>", n) },
		"parts of a text": func(n int) string { return rep("some text<noscript></noscript><!-- -->", n) },
	} {
		for _, padded := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", padded ", padded), func(t *testing.T) {
				growthtest.Linear(t, 800, func(n int) { convert(t, page(n), padded, markup.Bounds{Padded: padded}) })
			})
		}
	}
}

func TestTheEndOfALinkIsLookedForNearby(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		want int
	}{
		"no bracket": {"a", -1}, "a link": {"[a]", 1}, "no end": {"[a", -1}, "an end on the next line": {"[a\n]", -1},
		"an end far away": {"[" + rep("a", 300) + "]", 1}, "no end nearby": {"[" + rep("[", 1<<20), 1}, "no end on a long line": {"[" + rep("a", 256) + "\n", 1},
		"no end on a line": {"[" + rep("a", 255) + "\n", -1},
	} {
		if got := markup.EscapesBracket([]byte(tt.text), 0); got != tt.want {
			t.Errorf("%s: %d", name, got)
		}
	}
}

// TestABarInCodeEndsNoCell: whoever shows the table would see the rest of the code in the next column.
func TestABarInCodeEndsNoCell(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ page, want string }{
		"in a table":           {"<table><tr><th>a</th><th>b</th></tr><tr><td><code>x | y</code> or <kbd>|</kbd></td><td>1 | 2</td></tr></table>", "| a | b |\n|---|---|\n| `x \\| y` or `\\|` | 1 \\| 2 |"},
		"not in a table":       {"<p><code>x | y</code> | z</p><pre>a | b</pre>", "`x | y` | z\n\n```\na | b\n```"},
		"in one that is none":  {"<table><tr><td><code>x | y</code><ul><li>one</li></ul></td></tr></table>", "`x | y`\n\n- one"},
		"in a table in a cell": {"<table><tr><td>a<table><tr><td><code>x | y</code></td></tr></table></td></tr></table>", "a\n\n|  |\n|---|\n| `x \\| y` |"},
	} {
		if got := convert(t, tt.page, false, markup.Bounds{}); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
