package text

import (
	"strings"
	"unicode/utf8"
)

// ATXHeading returns the level and the text of an ATX heading (CommonMark 0.31, section
// 4.2). level is 0 if line is not a heading.
func ATXHeading(line string) (level int, text string) {
	rest := strings.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 {
		return 0, ""
	}
	for level < len(rest) && rest[level] == '#' {
		level++
	}
	if level == 0 || level > 6 {
		return 0, ""
	}
	rest = rest[level:]
	if rest != "" && !strings.ContainsRune(" \t\r\n", rune(rest[0])) {
		return 0, ""
	}
	rest = strings.TrimSpace(rest)
	if closed := strings.TrimRight(rest, "#"); closed == "" || strings.HasSuffix(closed, " ") || strings.HasSuffix(closed, "\t") {
		rest = strings.TrimSpace(closed)
	}
	return level, rest
}

// FenceAfter returns the marks of the code fence that is open after line, where open is the one
// before it. "" means none (CommonMark 0.31, section 4.5).
func FenceAfter(open, line string) string {
	text := strings.TrimLeft(line, " ")
	if len(line)-len(text) > 3 {
		return open
	}
	n := 0
	for n < len(text) && (text[n] == '`' || text[n] == '~') && text[n] == text[0] {
		n++
	}
	if n < 3 {
		return open
	}
	marks, rest := text[:n], text[n:]
	switch {
	case open == "":
		if marks[0] == '`' && strings.Contains(rest, "`") {
			return "" // inline code
		}
		return marks
	case marks[0] == open[0] && n >= len(open) && strings.TrimSpace(rest) == "":
		return ""
	}
	return open
}

// headingMarks removes the marks of code and of strong emphasis.
var headingMarks = strings.NewReplacer("`", "", "**", "", "__", "")

// PlainHeading returns a heading's text for a path: without marks of links, images,
// code and emphasis, with single spaces, at most headingBytes long.
func PlainHeading(text string) string {
	text = headingMarks.Replace(stripLinks(text))
	return cutRunes(strings.Join(strings.Fields(text), " "), headingBytes)
}

// cutRunes returns the longest prefix of s with at most n bytes that ends
// between runes.
func cutRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Indexed returns the searched text of a passage: the heading path, then the passage without the
// heading lines that the path contains.
func Indexed(heading, passage string) string {
	if heading == "" {
		return passage
	}
	var kept strings.Builder
	kept.WriteString(heading)
	kept.WriteByte('\n')
	for passage != "" {
		line, rest, _ := strings.Cut(passage, "\n")
		level, text := ATXHeading(line)
		if level == 0 && strings.TrimSpace(line) != "" {
			break
		}
		if level == 1 || level > 1 && (len(text) > headingBytes || !strings.Contains(heading, PlainHeading(text))) {
			kept.WriteString(text)
			kept.WriteByte('\n')
		}
		passage = rest
	}
	kept.WriteString(passage)
	return kept.String()
}
