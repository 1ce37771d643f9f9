package search

import (
	"regexp"
	"strings"

	"docent/shared/search/text"
)

// blanks and dashes match what pads the cells of a table to the same width. It is not shown, but it would count as text.
var (
	blanks = regexp.MustCompile(`[ \t]+`)
	dashes = regexp.MustCompile(`-{4,}`)
)

func tableBlock(lines []string) (block, int) {
	b := block{kind: tableKind}
	n := 0
	for ; n < len(lines); n++ {
		line := strings.TrimSpace(text.Unquote(lines[n]))
		if line == "" || n > 1 && !strings.Contains(line, "|") {
			break
		}
		if line = blanks.ReplaceAllString(line, " "); n == 1 {
			line = dashes.ReplaceAllString(line, "---")
		}
		b.units = append(b.units, safeRow(line))
	}
	return b, n
}

// isRow reports whether line is a row of a table between pipes.
func isRow(line string) bool {
	line = strings.TrimSpace(line)
	return len(line) > 2 && line[0] == '|' && line[len(line)-1] == '|'
}

// rowsBlock reads rows whose head is unknown, and adds an empty head, because rows without one
// are rendered as text.
func rowsBlock(lines []string) (block, int) {
	b := block{kind: tableKind}
	n := 0
	for ; n < len(lines); n++ {
		line := strings.TrimSpace(text.Unquote(lines[n]))
		if !isRow(line) {
			break
		}
		if text.IsTableRule(line) {
			continue
		}
		row := safeRow(blanks.ReplaceAllString(line, " "))
		if b.units == nil {
			cells := max(strings.Count(row, "|")-strings.Count(row, `\|`)-1, 1)
			b.units = append(b.units, "|"+strings.Repeat("  |", cells), "|"+strings.Repeat("--|", cells))
		}
		b.units = append(b.units, row)
	}
	return b, max(n, 1)
}

// begins reports whether a table begins with line, which these lines follow.
func begins(line string, lines []string) bool {
	return isRow(line) || len(lines) > 0 && text.IsTable(line, lines[0])
}
