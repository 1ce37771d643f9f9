package page_test

import (
	"fmt"
	"strings"
	"testing"

	"docent/shared/fetch/page"
)

// distinct returns n tags of an element, each with an attribute of its own.
func distinct(tag string, n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "<%s a%d>", tag, i)
	}
	return s.String()
}

func attributes(n int) string {
	return strings.Trim(strings.ReplaceAll(distinct("", n), "><", ""), "<>")
}

// TestElementsLeftOpenAreNotRepeatedWithoutEnd: the parser opens them again in each paragraph.
func TestElementsLeftOpenAreNotRepeatedWithoutEnd(t *testing.T) {
	rep := strings.Repeat
	readInProportion(t, map[string]func(n int) string{
		"elements":    func(n int) string { return "<p>" + distinct("b", n/10) + rep("<p>x", n) },
		"in capitals": func(n int) string { return "<P>" + distinct("B", n/10) + rep("<P>x", n) },
		"with ends in a cell": func(n int) string {
			return "<p>" + distinct("b", n/10) + "<table><td>" + rep("</b>", n/10) + "</table>" + rep("<p>x", n)
		},
		"with ends in a comment": func(n int) string {
			return "<p>" + distinct("b", n/10) + "<!--" + rep("</b>", n/10) + "-->" + rep("<p>x", n)
		},
		"with ends in a value": func(n int) string {
			return "<p>" + rep(`<b a="<b>x</b>">`, 100) + distinct("b a='</b>'", n/14) + rep("<p>x", n)
		},
		"in a style of SVG":    func(n int) string { return "<svg><style>" + distinct("b", n/10) + rep("<p>x", n) },
		"around blocks":        func(n int) string { return rep("<p><i><div>x</div></i>", n) + distinct("i", 400) },
		"an element with much": func(n int) string { return "<p><b" + attributes(4*n) + ">" + rep("<p>x", n) },
		"a link with much":     func(n int) string { return "<p><a" + attributes(4*n) + ">" + rep("<p>x", n) },
		"a link to much":       func(n int) string { return "<p><a href='https://a.test/" + rep("x", 20*n) + "'>" + rep("<p>x", n) },
		"bodies":               func(n int) string { return "<body" + attributes(4*n) + ">" + rep("<body x>", n) },
		"roots":                func(n int) string { return distinct("html", 4*n) },
	})
}

func TestAPageHasAsManyElementsAsFitIntoMemory(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		ok   bool
	}{
		"the most":       {strings.Repeat("<p>a</p>", 100_000), true},
		"one more":       {strings.Repeat("<p>", 100_001), false},
		"ends that open": {strings.Repeat("</p>", 100_001), false},
		"comments":       {strings.Repeat("<!>", 100_001), false},
		"no tags":        {strings.Repeat("a > b ", 100_001), true},
	} {
		if got, err := page.Bound([]byte(tt.text)); (err == nil) != tt.ok || tt.ok && string(got) != tt.text {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

// TestOnlyWhatMayBeRepeatedLosesItsFormat: on a page where elements left open could become too many.
func TestOnlyWhatMayBeRepeatedLosesItsFormat(t *testing.T) {
	t.Parallel()
	many := "<p>" + distinct("u", 400) + strings.Repeat("<p>x", 1000)
	for name, tt := range map[string]struct{ text, want string }{
		"closed":              {"<b>a</b>", "<b>a</b>"},
		"with attributes":     {`<code class="x" data-a='b>c' d=e>a</code >`, `<code class="x" data-a='b>c' d=e>a</code >`},
		"within each other":   {"<b>a <a href=/b><i>c</i><br></a><span>d</span></b>", "<b>a <a href=/b><i>c</i><br></a><span>d</span></b>"},
		"crossing":            {"<b>a<i>b</b>c</i>", "<span>a<span>b</span>c</span>"},
		"around a block":      {"<b><p>a</p></b>", "<span><p>a</p></span>"},
		"around a comment":    {"<b><!--</b>--></b>", "<span><!--</span>--></span>"},
		"a link":              {"<a href=/b><p>a</p></a>", "<a href=/b><p>a</p></a>"},
		"left open":           {"<B x=1>a", "<span x=1>a"},
		"another name":        {"<button>a</button><abbr><b2>", "<button>a</button><abbr><b2>"},
		"its end in a value":  {`<b a="</b>">c`, `<span a="</span>">c`},
		"no tag":              {"<b", "<span"},
		"deep":                {strings.Repeat("<b>", 9) + strings.Repeat("</b>", 9), strings.Repeat("<span>", 9) + strings.Repeat("</span>", 9)},
		"as deep as is known": {strings.Repeat("<b>", 8) + strings.Repeat("</b>", 8), strings.Repeat("<b>", 8) + strings.Repeat("</b>", 8)},
	} {
		got, err := page.Bound([]byte(many + "<p>" + tt.text))
		if _, rest, _ := strings.Cut(string(got), strings.Repeat("<p>x", 1000)+"<p>"); err != nil || rest != tt.want {
			t.Errorf("%s: %q, want %q, %v", name, rest, tt.want, err)
		}
		if got, err := page.Bound([]byte(tt.text)); err != nil || string(got) != tt.text {
			t.Errorf("%s alone: %q, %v", name, got, err)
		}
	}
}
