package search

import (
	"regexp"
	"strings"

	"docent/shared/search/text"
)

// items are the list items that are open at a line, as the columns where their contents
// begin, outermost first.
type items []int

// itemMark matches the mark of an item and the blanks after it.
var itemMark = regexp.MustCompile(`^\s*(?:[-*+]|\d{1,9}[.)])(?:\s+|$)`)

const (
	tabStop    = 4
	codeIndent = 4 // of code, more than the content around it
)

// columnsOf returns the width of white space at the start of s, if it begins at column from.
func columnsOf(s string, from int) int {
	column := from
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			column++
		case '\t':
			column += tabStop - column%tabStop
		default:
			return column - from
		}
	}
	return column - from
}

func indentOf(line string) int { return columnsOf(line, 0) }

// outdent removes up to n columns of the indent of line.
func outdent(line string, n int) string {
	if n <= 0 {
		return line
	}
	return spaces(indentOf(line)-n) + strings.TrimLeft(line, " \t")
}

func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }

// item is the first line of a list item.
type item struct {
	indent, offset int // the columns of its mark and of its content
	mark, content  string
}

// itemOf returns the item that line begins; itemMark matches it. The offset is CommonMark's
// (0.31, section 5.2).
func itemOf(line string) item {
	first := itemMark.FindString(line)
	it := item{indent: indentOf(line), mark: strings.TrimSpace(first), content: strings.TrimSpace(line[len(first):])}
	end := it.indent + len(it.mark)
	blanks := columnsOf(strings.TrimLeft(line, " \t")[len(it.mark):], end)
	if it.content == "" || blanks > codeIndent {
		blanks = 1
	}
	it.offset = end + blanks
	return it
}

// last returns where the content of the innermost item begins, 0 if there is none.
func (open items) last() int {
	if len(open) == 0 {
		return 0
	}
	return open[len(open)-1]
}

// enter closes the items that a line which begins a block is not in, and returns the column from
// which its indent counts. The outermost item ends only at an unindented line, because many
// authors indent less than CommonMark wants.
func (open *items) enter(line string) int {
	indent := indentOf(line)
	for n := len(*open); n > 0 && (*open)[n-1] > indent && (n > 1 || indent == 0); n-- {
		*open = (*open)[:n-1]
	}
	return min(open.last(), indent)
}

// begin opens an item, and closes those that it is not in.
func (open *items) begin(it item) {
	for len(*open) > 0 && open.last() > it.indent {
		*open = (*open)[:len(*open)-1]
	}
	*open = append(*open, it.offset)
}

// read opens and closes the items of s, which is not quoted, and returns the line of the code
// fence that is open after it.
func (open *items) read(s string) (opening string) {
	fence, blank := "", true
	for line := range strings.Lines(s) {
		line = text.Unquote(strings.TrimRight(line, "\r\n"))
		if strings.TrimSpace(line) == "" {
			blank = true
			continue
		}
		if fence != "" {
			if fence = text.FenceAfter(fence, strings.TrimLeft(line, " \t")); fence == "" {
				blank = true // what follows begins a block
			}
			continue
		}
		if blank || !itemMark.MatchString(line) && openFence(line) != "" {
			open.enter(line)
		}
		inner := outdent(line, min(open.last(), indentOf(line)))
		level, _ := text.ATXHeading(inner)
		isBreak := level > 0 || breakLine.MatchString(inner)
		if holdsIndented.MatchString(inner) {
			open.begin(item{indent: indentOf(line), offset: indentOf(line) + codeIndent})
			blank = true
			continue
		}
		if !isBreak && itemMark.MatchString(line) && !(blank && isIndented(inner)) {
			it := itemOf(line)
			open.begin(it)
			line = spaces(it.offset) + it.content
		}
		if isBreak {
			open.enter(line)
		}
		blank = isBreak
		if fence = openFence(line); fence != "" {
			opening = line
		}
	}
	if fence == "" {
		return ""
	}
	return opening
}

// presumedItems returns the items that s begins in if the text before it is not known, and the line of the code fence that it
// begins in. An indented start is of an item, not code, if it has marks of Markdown, or if the list goes on after it.
func presumedItems(s string) (open items, within string) {
	least, goesOn, marked, before := codeIndent, false, false, ""
	var fences []string
	if s = strings.TrimLeft(s, "\r\n"); indentOf(s) == 0 {
		return nil, ""
	}
	for line := range strings.Lines(s) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		line = strings.TrimRight(line, "\r\n")
		indent := indentOf(line)
		if indent == 0 {
			goesOn = itemMark.MatchString(line) && !breakLine.MatchString(line) || holdsIndented.MatchString(line)
			break
		}
		least = min(least, indent)
		if openFence(line) != "" {
			fences = append(fences, strings.TrimSpace(line))
		}
		marked = marked || isMarked(before, line)
		before = line
	}
	if n := len(fences); n > 0 {
		if isBare(fences[0]) && (n%2 == 1 || !isBare(fences[1])) {
			within = spaces(least) + fences[0] + "\n"
		}
		return items{least}, within
	}
	if goesOn || marked {
		return items{least}, ""
	}
	return nil, ""
}

// isBare reports whether line is the marks of a fence alone, which may be its first or its last line.
func isBare(line string) bool { return line == openFence(line) }

var (
	// key matches the start of an item of data, such as YAML.
	key = regexp.MustCompile(`^["']?[\w.-]+["']?:`)
	// link matches the middle of a link.
	link = regexp.MustCompile(`\]\((?:https?://|\.{0,2}/|#|[\w/-]+\.(?:md|mdx|html|rst)\b)`)
)

// isMarked reports whether line, which follows before, has marks of Markdown that are rare in code.
func isMarked(before, line string) bool {
	if link.MatchString(line) || text.IsTable(before, line) || holdsIndented.MatchString(strings.TrimSpace(line)) {
		return true
	}
	if !itemMark.MatchString(line) {
		return false
	}
	content := itemOf(line).content
	return len(strings.Fields(content)) >= 4 && !key.MatchString(content)
}
