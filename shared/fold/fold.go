// Package fold gives texts that differ only in case one form, so that keys of the
// store, filters and sort orders agree on which texts are equal.
package fold

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Text returns the folded form of text. Two texts have the same form exactly if
// strings.EqualFold reports them as equal. The form is never longer than text.
func Text(text string) string {
	if isASCII(text) {
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

// Composed returns the folded form of text with its marks composed: the letter \u00e9 for an e with a combining accent. Two
// texts that are canonically equivalent in Unicode, so that people see no difference, have the same.
func Composed(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	return Text(norm.NFC.String(text))
}

// Forms returns the folded forms, without repetition, of text as it is, with its marks composed, and with its
// marks decomposed. What is kept under Text of a name is under one of them, whichever of the last two spellings it
// was given in.
func Forms(text string) []string {
	forms := []string{Text(text)}
	if isASCII(text) {
		return forms
	}
	for _, form := range []norm.Form{norm.NFC, norm.NFD} {
		if other := Text(form.String(text)); !slices.Contains(forms, other) {
			forms = append(forms, other)
		}
	}
	return forms
}

func isASCII(text string) bool {
	for i := range len(text) { // a filter asks this of each value
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
