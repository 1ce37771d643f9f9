package atlassian

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of the facts of an item, in characters.
const (
	MaxFact  = 256
	MaxLabel = 100
)

// Fact returns text on one line without control characters, with at most that many
// characters.
func Fact(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most])
	}
	return text
}

// Facts returns at most that many of texts, each as Fact does; empty ones are left out.
func Facts(texts []string, each, most int) []string {
	var out []string
	for _, text := range texts {
		if text = Fact(text, each); text != "" && len(out) < most {
			out = append(out, text)
		}
	}
	return out
}
