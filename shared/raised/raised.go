// Package raised writes digits that stand above the line as characters that say so: without them, ten to the power of six reads as 106,
// and a year with the mark of a note as a number of five digits. Search takes these characters for the digits.
package raised

import (
	"strings"
	"unicode"
)

// characters are the forms of those that have one in most fonts.
var characters = map[rune]rune{
	'0': '⁰', '1': '¹', '2': '²', '3': '³', '4': '⁴', '5': '⁵', '6': '⁶', '7': '⁷', '8': '⁸', '9': '⁹',
	'+': '⁺', '-': '⁻', '−': '⁻', '\u2010': '⁻', '\u2011': '⁻', '–': '⁻', '=': '⁼', '(': '⁽', ')': '⁾',
}

// Text returns text that stands above the line. Text with letters, such as the end of "21st", is returned as it is, and so is a mark in
// square brackets, which nobody takes for a part of what is before it.
func Text(text string) string {
	if !Number(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if raised, ok := characters[r]; ok {
			return raised
		}
		return r
	}, text)
}

// Number reports whether Text changes text: it has a digit or a sign, and besides these only what may be between numbers.
func Number(text string) bool {
	found := false
	for _, r := range text {
		if _, ok := characters[r]; ok {
			found = true
		} else if r != ',' && r != '.' && !unicode.IsSpace(r) {
			return false
		}
	}
	return found
}
