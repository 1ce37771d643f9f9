package text

import (
	"regexp"
	"strings"
)

// opened is the block that continues at the end of a line: a code fence or a table.
type opened struct {
	fence string // its marks, "" for none
	line  string // the line before, outside fences
	text  string // the start of the block: the fence's line or the table's head
}

// after returns the block that is open after line, where o is open before it.
func (o opened) after(line string) opened {
	text := strings.TrimRight(line, "\r\n")
	fence := FenceAfter(o.fence, line)
	switch {
	case fence != "" && fence == o.fence:
		return o
	case fence != "":
		return opened{fence: fence, text: strings.TrimLeft(text, " ")}
	case o.fence != "" || !strings.Contains(text, "|"):
		return opened{line: text}
	case o.text != "":
		return opened{line: text, text: o.text}
	case IsTable(o.line, text):
		return opened{line: text, text: o.line + "\n" + text}
	}
	return opened{line: text}
}

// at returns the opening of a passage that begins at this point, or within the next line.
func (o opened) at(inLine bool) string {
	switch {
	case len(o.text) > openingBytes && o.fence != "":
		return o.fence
	case len(o.text) > openingBytes || inLine && o.fence == "":
		return ""
	}
	return o.text
}

var (
	tableRule  = regexp.MustCompile(`^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$`)
	quoteMarks = regexp.MustCompile(`^ {0,3}(?:>[ \t]?)+`)
)

// Unquote returns line without the marks of a block quotation.
func Unquote(line string) string { return quoteMarks.ReplaceAllString(line, "") }

// IsTableRule reports whether line can be the line of dashes below a table's head.
func IsTableRule(line string) bool { return tableRule.MatchString(line) }

// IsTable reports whether a table begins with these two lines.
func IsTable(head, rule string) bool {
	rule = Unquote(rule)
	return strings.Contains(head, "|") && strings.Contains(rule, "-") && strings.Contains(rule, "|") && IsTableRule(rule)
}
