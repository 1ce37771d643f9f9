package llm

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// style is how a byte of a line is shown.
type style uint8

const (
	code style = 1 << iota
	strong
)

// line is the text of one block as a reader sees it: without marks of Markdown and
// HTML, with links and images as their text.
type line struct {
	text  string
	style []style // of each byte
	from  []int   // the place in the draft of each byte
}

func (l line) slice(from, to int) line {
	return line{l.text[from:to], l.style[from:to], l.from[from:to]}
}

// trim returns l without white space at its ends.
func (l line) trim() line {
	start := len(l.text) - len(strings.TrimLeftFunc(l.text, unicode.IsSpace))
	return l.slice(start, max(start, len(strings.TrimRightFunc(l.text, unicode.IsSpace))))
}

func (l *line) add(text string, as style, from int) {
	for range len(text) {
		l.style = append(l.style, as)
		l.from = append(l.from, from)
	}
	l.text += text
}

// lineOf returns the line of a block of the draft.
func lineOf(block ast.Node, source []byte) line {
	var l line
	l.children(block, source, 0)
	return l.trim()
}

func (l *line) children(parent ast.Node, source []byte, as style) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			l.segment(source[n.Segment.Start:n.Segment.Stop], as, n.Segment.Start)
			if n.SoftLineBreak() || n.HardLineBreak() {
				l.add(" ", as&^code, n.Segment.Stop)
			}
		case *ast.String:
			l.add(string(n.Value), as, l.last())
		case *ast.CodeSpan:
			l.children(n, source, as|code)
		case *ast.Emphasis:
			if n.Level > 1 {
				l.children(n, source, as|strong)
			} else {
				l.children(n, source, as)
			}
		case *ast.AutoLink:
			l.add(string(n.Label(source)), as, l.last())
		case *ast.RawHTML:
			if tag := n.Segments.At(0); strings.HasPrefix(strings.ToLower(string(tag.Value(source))), "<br") {
				l.add(" ", as&^code, tag.Start)
			}
		default:
			l.children(n, source, as)
		}
	}
}

func (l *line) last() int {
	if len(l.from) == 0 {
		return 0
	}
	return l.from[len(l.from)-1]
}

// reference matches a character reference of HTML.
var reference = regexp.MustCompile(`^&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[0-9A-Za-z]{1,31});`)

// segment adds text, with its escapes and character references resolved.
func (l *line) segment(raw []byte, as style, from int) {
	var plain []byte
	put := func(at int, text ...byte) {
		plain = append(plain, text...)
		for range text {
			l.style = append(l.style, as)
			l.from = append(l.from, from+at)
		}
	}
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case c == '\n' || c == '\r' || c == '\t':
			c = ' '
		case as&code != 0:
		case c == '\\' && i+1 < len(raw) && util.IsPunct(raw[i+1]):
			i++
			c = raw[i]
		case c == '&':
			if found := reference.Find(raw[i:]); found != nil {
				put(i, []byte(clean(string(util.ResolveEntityNames(util.ResolveNumericReferences(found)))))...)
				i += len(found) - 1
				continue
			}
		}
		put(i, c)
	}
	l.text += string(plain)
}

// clean returns s as valid text without invisible characters, which could hide data or
// instructions. Joiners stay, because Persian and the scripts of India need them.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\u200c' || r == '\u200d':
			return r
		case r == unicode.ReplacementChar || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Variation_Selector):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}
