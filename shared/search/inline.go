package search

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"docent/shared/search/text"
)

// safeInline makes the inline Markdown of a paragraph, item or row safe to render. Links become
// their text and images their alternative text; raw HTML and definitions of link targets are
// removed; characters that could form any of these again are escaped. Code spans and emphasis
// stay.
func safeInline(s string) string {
	lines := strings.Split(escapeInline(unlink(s), false), "\n")
	for i, line := range lines {
		// A line whose tags are removed must not turn into the rule of a table.
		if text := strings.TrimLeft(line, " \t>"); strings.Contains(text, "-") && strings.Trim(text, "-:| \t") == "" {
			lines[i] = line[:len(line)-len(text)] + `\` + text
		}
	}
	return strings.Join(lines, "\n")
}

// safeRow is safeInline for a row of a table, where '|' ends a cell even within a code
// span.
func safeRow(s string) string {
	return escapeInline(unlink(s), true)
}

// unlink replaces links and images by their texts, outside code spans.
func unlink(s string) string {
	out := make([]byte, 0, len(s))
	var open []int // where in out an unmatched '[' is
	spans := codeSpans{text: s}
	for i := 0; i < len(s); {
		if n := spans.at(i); n > 0 {
			out = append(out, s[i:i+n]...)
			i += n
			continue
		}
		switch s[i] {
		case '\\':
			if i+1 < len(s) && isPunct(s[i+1]) {
				out = append(out, s[i])
				i++
			}
		case '[':
			open = append(open, len(out))
		case ']':
			if len(open) == 0 {
				break
			}
			at := open[len(open)-1]
			open = open[:len(open)-1]
			n := text.LinkTargetLen(s[i+1:])
			if n == 0 {
				n = labelLen(s[i+1:])
			}
			if n > 0 {
				out[at] = 0
				if at > 0 && out[at-1] == '!' {
					out[at-1] = 0
				}
				i += 1 + n
				i += len(linkAttributes.FindString(s[i:min(len(s), i+maxAttributes)]))
				continue
			}
		}
		out = append(out, s[i])
		i++
	}
	return string(out)
}

// maxAttributes bounds linkAttributes, so that scanning is linear.
const maxAttributes = 200

// linkAttributes matches the attributes after a link, as Python-Markdown, Pandoc and kramdown write them.
var linkAttributes = regexp.MustCompile(`^\{:?[ \t]*(?:(?:[.#][\w:-]+|[\w-]+=(?:"[^"]*"|[^\s"{}]+))[ \t]*)+\}`)

// labelLen returns the length of the "[label]" of a reference at the start of s, or 0.
func labelLen(s string) int {
	if s == "" || s[0] != '[' {
		return 0
	}
	end := strings.IndexAny(s[1:min(len(s), 200)], "[]\n")
	if end < 0 || s[1+end] != ']' {
		return 0
	}
	return end + 2
}

// escapeInline removes tags, control and hidden characters, and escapes what could form a link
// or HTML, outside code spans. In a row, a code span across cells is not one.
func escapeInline(s string, row bool) string {
	var out inlineWriter
	spans := codeSpans{text: s}
	for i := 0; i < len(s); {
		if n := spans.at(i); n > 0 {
			if span := s[i : i+n]; row && strings.Contains(span, "|") {
				out.text(escapeInline(strings.Trim(span, "`"), true))
			} else {
				out.code(span)
			}
			i += n
			continue
		}
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s) && isPunct(s[i+1]):
			out.escaped(s[i+1])
			i++
		case c == '\\' && i+1 < len(s) && s[i+1] == '\n': // a line break, as two spaces are
		case c == '\\':
			out.escaped('\\')
		case c == '`':
			out.text("&#96;")
		case c == '<':
			n, text := tag(s[i:])
			if n == 0 {
				out.escaped('<')
				break
			}
			if text == " " {
				out.gap()
			} else {
				out.plain(text)
			}
			i += n
			continue
		case c == '(' && anchorID.MatchString(s[i:min(len(s), i+maxAnchor)]):
			i += len(anchorID.FindString(s[i:min(len(s), i+maxAnchor)]))
			continue
		case c == '\v' || c == '\f': // between words, as in texts of pages
			out.byte(' ')
		case c == 0x7f || c < ' ' && c != '\n' && c != '\t':
		case c == 0xc2 && i+1 < len(s) && 0x80 <= s[i+1] && s[i+1] <= 0x9f: // U+0080 to U+009F
			if s[i+1] == 0x85 { // the end of a line
				out.byte(' ')
			}
			i++
		case c == 0xf3 && i+3 < len(s) && s[i+1] == 0xa0 && (s[i+2] == 0x80 || s[i+2] == 0x81): // isHidden, in bytes
			i += 3
		default:
			out.byte(c)
		}
		i++
	}
	return out.b.String()
}

// maxAnchor bounds anchorID, so that scanning is linear.
const maxAnchor = 200

// anchorID matches the id of a term or heading, as HashiCorp writes it, with the blank after it.
var anchorID = regexp.MustCompile(`^\(\(#[\w\\-]+\)\)[ \t]?`)

// inlineWriter prevents a removal from forming a new link.
type inlineWriter struct {
	b       strings.Builder
	bracket bool // the last byte written is an unescaped ']'
}

func (w *inlineWriter) byte(c byte) {
	if w.bracket && (c == '(' || c == '[' || c == ':') {
		w.b.WriteByte('\\')
	}
	w.b.WriteByte(c)
	w.bracket = c == ']'
}

func (w *inlineWriter) escaped(c byte) {
	w.b.WriteByte('\\')
	w.b.WriteByte(c)
	w.bracket = false
}

func (w *inlineWriter) text(s string) {
	w.b.WriteString(s)
	w.bracket = false
}

// plain writes text that is not Markdown.
func (w *inlineWriter) plain(s string) {
	if s != "" {
		w.text(escapeText(s))
	}
}

// gap writes a space if text is before it on its line.
func (w *inlineWriter) gap() {
	if s := w.b.String(); s != "" && strings.IndexByte(" \t\n", s[len(s)-1]) < 0 {
		w.byte(' ')
	}
}

// code writes a code span on one line, so that it cannot be read as a fence.
func (w *inlineWriter) code(span string) {
	w.text(strings.Map(func(r rune) rune {
		switch {
		case '\t' <= r && r <= '\r':
			return ' '
		case unicode.IsControl(r), isHidden(r):
			return -1
		}
		return r
	}, span))
}

// codeSpans finds code spans in a text, in time linear in its length.
type codeSpans struct {
	text string
	runs map[int][]int // length of a run of backticks → where such runs begin
	end  int           // of the last run or span that at was asked for
}

// at returns the length of the code span that begins at i, or 0. Calls must have
// increasing i.
func (c *codeSpans) at(i int) int {
	if c.text[i] != '`' || i < c.end {
		return 0
	}
	if c.runs == nil {
		c.runs = map[int][]int{}
		for j := 0; j < len(c.text); {
			n := runLen(c.text[j:])
			if n > 0 {
				c.runs[n] = append(c.runs[n], j)
			}
			j += max(n, 1)
		}
	}
	n := runLen(c.text[i:])
	c.end = i + n
	places := c.runs[n]
	for len(places) > 0 && places[0] <= i {
		places = places[1:]
	}
	c.runs[n] = places
	if len(places) == 0 {
		return 0
	}
	c.end = places[0] + n
	return c.end - i
}

func runLen(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }

func isPunct(c byte) bool {
	return c > ' ' && c < utf8.RuneSelf && !unicode.IsLetter(rune(c)) && !unicode.IsDigit(rune(c))
}

// escapeText returns text that is not Markdown, such as a title, on one line and
// escaped so that it shows as it is.
func escapeText(s string) string {
	var b strings.Builder
	s = strings.Map(func(r rune) rune {
		if isHidden(r) {
			return -1
		}
		return r
	}, s)
	for i, word := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || unicode.IsControl(r) }) {
		if i > 0 {
			b.WriteByte(' ')
		}
		for j := range len(word) {
			if strings.IndexByte("\\`*_[]<>#|~&!", word[j]) >= 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(word[j])
		}
	}
	return b.String()
}
