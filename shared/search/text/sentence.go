package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// abbreviations end in a point that does not end a sentence.
var abbreviations = map[string]bool{
	"mr": true, "mrs": true, "ms": true, "dr": true, "prof": true, "st": true, "jr": true, "sr": true, "vs": true, "etc": true,
	"e.g": true, "i.e": true, "cf": true, "fig": true, "no": true, "vol": true, "approx": true, "ca": true, "inc": true, "ltd": true,
	"co": true, "corp": true, "gen": true, "col": true, "capt": true, "lt": true, "sgt": true, "rev": true, "gov": true, "sen": true,
	"rep": true, "jan": true, "feb": true, "mar": true, "apr": true, "jun": true, "jul": true, "aug": true, "sep": true, "sept": true,
	"oct": true, "nov": true, "dec": true, "al": true, "op": true, "pp": true, "resp": true,
}

// Sentences returns the byte ranges of the sentences of text, in order and
// without the white space around them.
func Sentences(text string) [][2]int {
	var out [][2]int
	start := 0
	add := func(end int) {
		piece := text[start:end]
		from := start + len(piece) - len(strings.TrimLeftFunc(piece, unicode.IsSpace))
		to := start + len(strings.TrimRightFunc(piece, unicode.IsSpace))
		if from < to {
			out = append(out, [2]int{from, to})
		}
		start = end
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch r {
		case '。', '！', '？':
			add(i)
		case '.', '!', '?':
			end := i
			for end < len(text) && strings.IndexByte("\"')]*_", text[end]) >= 0 {
				end++
			}
			if end == len(text) || !isSpaceAt(text, end) {
				continue
			}
			next, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
			if unicode.IsLower(next) || r == '.' && endsAbbreviation(text[start:i-1]) {
				continue
			}
			add(end)
			i = end
		}
	}
	add(len(text))
	return out
}

func isSpaceAt(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.IsSpace(r)
}

// endsAbbreviation reports whether the word before a point is an abbreviation or an
// initial.
func endsAbbreviation(s string) bool {
	word := s[strings.LastIndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '(' || r == '"' })+1:]
	if utf8.RuneCountInString(word) == 1 {
		r, _ := utf8.DecodeRuneInString(word)
		return unicode.IsUpper(r)
	}
	return abbreviations[strings.ToLower(word)]
}
