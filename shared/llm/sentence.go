package llm

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// numbers matches numbers of passages in brackets: [2] or [1, 3].
const numbers = `\[\s*\d{1,9}(?:\s*[,;]\s*\d{1,9})*\s*\]`

// mark matches a citation within text: numbers, or several of them in parentheses, as in ([1], [3]).
var mark = regexp.MustCompile(`\(\s*(?:` + numbers + `[\s,;]*)+\)|` + numbers)

// marksAfter matches the citations after the end of a sentence.
var marksAfter = regexp.MustCompile(`^(?:\s*(?:` + mark.String() + `))+`)

// abbreviations end in a point that does not end a sentence.
var abbreviations = map[string]bool{"mr": true, "mrs": true, "ms": true, "dr": true, "prof": true, "st": true, "vs": true, "etc": true,
	"e.g": true, "i.e": true, "cf": true, "fig": true, "no": true, "vol": true, "approx": true, "ca": true, "inc": true, "ltd": true, "co": true,
	"z.b": true, "d.h": true, "bzw": true, "nr": true}

// sentences cuts l into sentences, each with the citations after its end.
func sentences(l line) []line {
	var out []line
	start := 0
	add := func(end int) {
		if s := l.slice(start, end).trim(); s.text != "" {
			out = append(out, s)
		}
		start = end
	}
	for i := 0; i < len(l.text); {
		r, size := utf8.DecodeRuneInString(l.text[i:])
		at := i
		i += size
		if l.style[at]&code != 0 || !strings.ContainsRune(".!?。！？", r) {
			continue
		}
		end := i
		for end < len(l.text) {
			closer, n := utf8.DecodeRuneInString(l.text[end:])
			if !strings.ContainsRune("\"')”’»", closer) {
				break
			}
			end += n
		}
		marks := len(marksAfter.FindString(l.text[end:]))
		rest := l.text[end+marks:]
		next, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(rest, unicode.IsSpace))
		switch {
		case strings.ContainsRune("。！？", r):
		case marks > 0 && strings.TrimLeft(rest, " ") != rest, rest == "":
		case strings.TrimLeftFunc(rest, unicode.IsSpace) == rest, unicode.IsLower(next), r == '.' && abbreviated(l.text[start:at]):
			continue
		}
		add(end + marks)
		i = start
	}
	add(len(l.text))
	return out
}

func abbreviated(before string) bool {
	word := before[strings.LastIndexAny(before, " (\"")+1:]
	if utf8.RuneCountInString(word) == 1 {
		r, _ := utf8.DecodeRuneInString(word)
		return unicode.IsUpper(r)
	}
	return abbreviations[strings.ToLower(word)]
}
