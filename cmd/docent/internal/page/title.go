package page

import (
	"path/filepath"
	"strings"
	"unicode"
)

// fileTitle returns the file's name without its extension.
func fileTitle(name string) string {
	base := filepath.Base(name)
	title := clean(strings.TrimSuffix(base, filepath.Ext(base)))
	if title == "" {
		title = choose(clean(base), "untitled")
	}
	return title
}

// choose returns the first of two titles that is not blank.
func choose(first, second string) string {
	if first = clean(first); first != "" {
		return first
	}
	return second
}

// clean puts a title on one line of at most maxTitle code points.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > maxTitle {
		s = strings.TrimSpace(string(runes[:maxTitle-1])) + "…"
	}
	return s
}
