// Package backtick marks code in Markdown. The marks are more backticks than any that follow each other in the code.
package backtick

import "strings"

// Longest returns the length of the longest run of backticks in text, in bytes.
func Longest(text string) int {
	longest, run := 0, 0
	for i := range len(text) {
		if run++; text[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// Fence returns the marks of a code fence around lines: more backticks than any run of them in a line, and three
// at least.
func Fence(lines ...string) string {
	longest := 2
	for _, line := range lines {
		longest = max(longest, Longest(line))
	}
	return strings.Repeat("`", longest+1)
}
