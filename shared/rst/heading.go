package rst

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// headingLength returns the number of lines of the heading at the beginning: 2, 3 with a line above it, or 0 if there is none.
func headingLength(lines []string) int {
	if len(lines) < 2 || lines[1] == "" {
		return 0
	}
	if over := adornment(lines[0]); over != 0 {
		if len(lines) > 2 && adornment(lines[1]) == 0 && adornment(lines[2]) == over && underlines(strings.TrimSpace(lines[1]), lines[2]) {
			return 3
		}
		return 0
	}
	if lines[0] != "" && lines[0][0] != ' ' && underlines(lines[0], lines[1]) {
		return 2
	}
	return 0
}

// underlines reports whether line is long enough to make a heading of title. A line that is a bit short is an accepted slip.
func underlines(title, line string) bool {
	return adornment(line) != 0 && (len(line) >= 4 || len(line) >= utf8.RuneCountInString(title))
}

// heading converts a heading. The order in which styles of underlines occur is that of their levels.
func (d *document) heading(lines []string) block {
	title, style := lines[0], lines[1][:1]
	if len(lines) == 3 {
		title, style = strings.TrimSpace(lines[1]), "over "+lines[2][:1]
	}
	level := slices.Index(d.styles, style)
	if level < 0 {
		level = len(d.styles)
		d.styles = append(d.styles, style)
	}
	return block{text: strings.Repeat("#", min(level+1, 6)) + " " + d.inline(title)}
}
