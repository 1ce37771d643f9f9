package search

import (
	"regexp"
	"strings"

	"docent/shared/search/text"
)

// commentLines returns the number of lines of the HTML comment that begins with first, which stands for lines[0]. It is 0 if
// none begins there, if it does not end in lines, or if text follows on its last line.
func commentLines(first string, lines []string) int {
	if isIndented(first) || !strings.HasPrefix(strings.TrimLeft(first, " "), "<!--") {
		return 0
	}
	for n, line := range lines {
		if _, after, ended := strings.Cut(line, "-->"); ended {
			if strings.TrimSpace(after) != "" {
				return 0
			}
			return n + 1
		}
	}
	return 0
}

var (
	// commentEnd matches a line that only ends a comment, and anyFence the marks of a fence at the start of a line.
	commentEnd = regexp.MustCompile(`(?m)^[ \t]*-->[ \t]*\r?$`)
	anyFence   = regexp.MustCompile("(?m)^[ \t]*(?:```|~~~)")
)

// openComment returns where in s, which begins in a fence or not, an HTML comment begins that does not end in s, or -1.
func openComment(s, fence string) int {
	at, place := -1, 0
	for line := range strings.Lines(s) {
		switch {
		case at >= 0:
			if strings.Contains(line, "-->") {
				at = -1
			}
		case fence == "" && !isIndented(line) && strings.HasPrefix(strings.TrimLeft(line, " "), "<!--"):
			if !strings.Contains(line, "-->") {
				at = place
			}
		default:
			fence = text.FenceAfter(fence, line)
		}
		place += len(line)
	}
	return at
}
