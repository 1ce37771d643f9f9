package page

import (
	"bytes"
	"slices"
	"strings"

	"docent/shared/fetch"
)

// Bounds of the tree that the HTML of a page becomes.
const (
	maxElements = 100_000 // an element takes up to two kilobytes until the page is Markdown
	maxRepeated = 200_000 // links, and other elements, that the parser may add because some were left open
	maxNested   = 8       // formatting elements within each other that can be known to be closed
	maxRoots    = 16      // tags of html and body; the parser joins their attributes
	costOfOne   = 64      // bytes of a tag that cost as much as an element, when it is repeated
)

// formats are the elements that the parser opens again in each paragraph after the one that they were left open in.
var formats = []string{"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"}

// mark is a tag that bound may change.
type mark struct {
	name      string
	at, until int // where its name begins, and where the tag ends
	ends      bool
	// closed means of a start that its end follows, with nothing but text and closed elements between them, and of an end that it is that one.
	closed bool
}

// bound returns text so that its tree is in proportion to it, and an error if it has too many elements. The parser repeats formatting
// elements that were not closed where they were opened, with their attributes, so a page of 10 KB could become gigabytes. On a
// page where that could make too many links or others, those that are not known to be closed become spans. Tags are looked for
// everywhere, also in comments and scripts, because only the parser knows what is one.
func bound(text []byte) ([]byte, error) {
	var marks []mark
	var open []int // places in marks
	starts, others, roots := 0, 0, 0
	for at, c := range text {
		if c != '<' {
			continue
		}
		m := markAt(text, at)
		if m.name == "" || m.ends {
			others++
		} else {
			starts++
		}
		if max(starts, others) > maxElements {
			return nil, &fetch.Error{Code: fetch.Failed, Detail: "The page has more than 100,000 elements."}
		}
		last := len(open) - 1
		switch {
		case m.name == "br" || m.name == "img" || m.name == "wbr":
			continue
		case m.name != "span" && !slices.Contains(formats, m.name):
			open = open[:0]
			if m.ends || m.name != "html" && m.name != "body" {
				continue
			}
			roots++
		case !m.ends && m.until > 0 && len(open) < maxNested:
			open = append(open, len(marks))
		case m.ends && m.until > 0 && last >= 0 && marks[open[last]].name == m.name:
			marks[open[last]].closed, m.closed = true, true
			open = open[:last]
		default:
			open = open[:0]
		}
		marks = append(marks, m)
	}
	link, formatted := repeated(marks, len(text))
	manyLinks, manyFormats := (starts+others)*link > maxRepeated, (starts+others)*formatted > maxRepeated
	if !manyLinks && !manyFormats && roots <= maxRoots {
		return text, nil
	}
	var changed bytes.Buffer
	from := 0
	for _, m := range marks {
		to := ""
		switch m.name {
		case "span":
		case "html", "body":
			if roots--; roots >= maxRoots {
				to = "!" + m.name // a comment
			}
		default:
			if !m.closed && (m.name == "a" && manyLinks || m.name != "a" && manyFormats) {
				to = "span"
			}
		}
		if to != "" {
			changed.Write(text[from:m.at])
			changed.WriteString(to)
			from = m.at + len(m.name)
		}
	}
	changed.Write(text[from:])
	return changed.Bytes(), nil
}

// repeated returns what the link costs that the parser may repeat at one place of a page of size bytes, and what the other elements
// cost together. It repeats one link at most.
func repeated(marks []mark, size int) (link, others int) {
	for _, m := range marks {
		if m.closed || m.ends || !slices.Contains(formats, m.name) {
			continue
		}
		cost := 1 + (max(m.until, m.at)-m.at)/costOfOne
		if m.until == 0 {
			cost += size / costOfOne
		}
		if m.name == "a" {
			link = max(link, cost)
		} else {
			others += cost
		}
	}
	return link, others
}

// markAt reads the tag that may begin at a place of text. It has no name if none does; until is 0 if another < comes before its end.
func markAt(text []byte, at int) mark {
	m := mark{at: at + 1}
	if m.at < len(text) && text[m.at] == '/' {
		m.at, m.ends = m.at+1, true
	}
	rest := text[m.at:]
	rest = rest[:until(rest, "<")]
	if len(rest) == 0 || !('a' <= rest[0]|0x20 && rest[0]|0x20 <= 'z') {
		return m
	}
	name := until(rest, space+"/>")
	m.name = strings.ToLower(string(rest[:name]))
	if size := tagSize(rest[name:]); size > 0 {
		m.until = m.at + name + size
	}
	return m
}

const space = " \t\n\r\f"

// until returns how many bytes are before the first one of those in ends, or all.
func until(text []byte, ends string) int {
	if n := bytes.IndexAny(text, ends); n >= 0 {
		return n
	}
	return len(text)
}

// tagSize returns how many bytes of a tag follow its name, as the tokenizer of package html reads it, or 0 if rest does not have its end.
func tagSize(rest []byte) int {
	left := rest
	for {
		left = bytes.TrimLeft(left, space)
		if len(left) == 0 {
			return 0
		}
		if left[0] == '>' {
			return len(rest) - len(left) + 1
		}
		first := 0
		if left[0] == '=' {
			first = 1
		}
		left = left[first+until(left[first:], space+"=/>"):]
		left = bytes.TrimLeft(left, space)
		switch {
		case len(left) == 0:
			return 0
		case left[0] == '/':
			left = left[1:]
			continue
		case left[0] != '=':
			continue
		}
		left = bytes.TrimLeft(left[1:], space)
		if len(left) == 0 {
			return 0
		}
		if quote := left[0]; quote == '"' || quote == '\'' {
			end := bytes.IndexByte(left[1:], quote)
			if end < 0 {
				return 0
			}
			left = left[1+end+1:]
			continue
		}
		left = left[until(left, space+">"):]
	}
}
