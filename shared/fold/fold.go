// Package fold gives texts that differ only in case one form, so that keys of the
// store, filters and sort orders agree on which texts are equal.
package fold

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns the folded form of text. Two texts have the same form exactly if
// strings.EqualFold reports them as equal. The form is never longer than text.
func Text(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return strings.ToLower(text) // the least of the letters that fold to each other
	}
	folded := []rune(text)
	for i, r := range folded {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		if 'A' <= least && least <= 'Z' {
			least += 'a' - 'A'
		}
		folded[i] = least
	}
	return string(folded)
}
