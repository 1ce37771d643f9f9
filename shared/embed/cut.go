package embed

import (
	"strings"
	"unicode/utf8"
)

// Cut returns at most size bytes of the beginning of a valid text, in whole characters and without white space around
// the text.
func Cut(text string, size int) string {
	text = strings.TrimSpace(text)
	if len(text) <= size {
		return text
	}
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return text[:size]
}
