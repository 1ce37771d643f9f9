package search

import (
	"unicode"

	"docent/shared/search/text"
)

// How much a model that knows little but English says about a text.
const (
	foreignShare  = 0.4  // of a text in Latin letters that is not English
	otherLetters  = 0.2  // share of letters from which a text counts as not Latin
	accentLetters = 0.02 // share of letters from which a text in Latin letters counts as not English
)

// englishShare returns how much the vector of a passage by a model for English counts: 1 for
// English, less for other languages in Latin letters, and nothing for the rest.
func englishShare(language *text.Language, passage string) float64 {
	if !mostlyLatin(passage) {
		return 0
	}
	letters, accents := 0, 0
	for _, r := range passage {
		if unicode.IsLetter(r) {
			letters++
			if r > unicode.MaxASCII {
				accents++
			}
		}
	}
	if !language.IsEnglish() || float64(accents) > accentLetters*float64(letters) {
		return foreignShare
	}
	return 1
}

// mostlyLatin reports whether most letters of s are Latin.
func mostlyLatin(s string) bool {
	letters, others := 0, 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			letters++
			if !unicode.Is(unicode.Latin, r) {
				others++
			}
		}
	}
	return float64(others) <= otherLetters*float64(letters)
}
