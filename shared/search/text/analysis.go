// Package text has everything about text that needs no index: it cuts bodies into
// passages, detects languages, and makes terms of texts.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// AnalysisVersion is stored in every segment. Raise it with every change that affects the terms
// or passages of a text: segments of another version are rebuilt and never merged.
const AnalysisVersion = 3

// maxTermBytes bounds a term. A longer one is cut.
const maxTermBytes = 64

// Analyser makes terms of text in one language.
type Analyser struct {
	Language *Language
	Code     bool // split identifiers into their parts, and keep irregular forms
}

// AppendTerms appends the terms of text in order. A stop word is an empty term, so that the
// distances between terms stay correct.
func (a Analyser) AppendTerms(dst []string, text string) []string {
	text = norm.NFKC.String(stripLinks(text))
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if !asciiWord[c] {
				i++
				continue
			}
		} else if r, size := utf8.DecodeRuneInString(text[i:]); !isWord(r) {
			i += size
			continue
		}
		end, paired := tokenEnd(text, i)
		if paired {
			dst = appendRun(dst, text[i:end])
		} else {
			dst = a.appendToken(dst, text[i:end])
		}
		i = end
	}
	return dst
}

// Bounded returns text, or its beginning if it becomes longer than most bytes, and than it is, when terms are made of it: one character
// may stand for eighteen.
func Bounded(text string, most int) string {
	if norm.NFKC.IsNormalString(text) {
		return text
	}
	most = max(most, len(text))
	var characters norm.Iter
	characters.InitString(norm.NFKC, text)
	for n := 0; !characters.Done(); {
		at := characters.Pos()
		if n += len(characters.Next()); n > most {
			return text[:at]
		}
	}
	return text
}

var asciiWord = func() (set [utf8.RuneSelf]bool) {
	for c := range set {
		r := rune(c)
		set[c] = r == '_' || r == '\'' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	return set
}()

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return asciiWord[r]
	}
	return r == '’' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || isInvisible(r)
}

// isInvisible reports whether r may be within a word without being part of it: a soft hyphen, a joiner or a byte order mark.
func isInvisible(r rune) bool {
	return r == '\u00ad' || r == '\u200d' || r == '\u2060' || r == '\ufeff'
}

// plainRune returns r as terms have it, or -1 if they leave it out.
func plainRune(r rune) rune {
	switch {
	case r == '’':
		return '\''
	case isInvisible(r):
		return -1
	}
	return r
}

// Unspaced reports whether r is of a script written without spaces.
func Unspaced(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// tokenEnd returns the end of the token that starts at i, and whether it is in a script without
// spaces. Such a token contains no other script.
func tokenEnd(text string, i int) (end int, paired bool) {
	first, _ := utf8.DecodeRuneInString(text[i:])
	paired = Unspaced(first)
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '.' && !paired:
			next, _ := utf8.DecodeRuneInString(text[i+1:])
			if !unicode.IsLetter(next) && !unicode.IsDigit(next) || Unspaced(next) {
				return i, paired
			}
		case !isWord(r), !unicode.IsMark(r) && Unspaced(r) != paired:
			return i, paired
		}
		i += size
	}
	return i, paired
}

// appendRun appends the overlapping groups of characters of a run: pairs, or longer groups in an
// alphabet, where pairs of letters are too common. A shorter run is one term.
func appendRun(dst []string, run string) []string {
	var starts [pairedLetters]int // of the last characters
	length := pairedCharacters
	if first, _ := utf8.DecodeRuneInString(run); unicode.In(first, pairedAlphabets...) {
		length = pairedLetters
	}
	n := 0
	for at := range run {
		if n >= length {
			dst = append(dst, run[starts[n%length]:at])
		}
		starts[n%length] = at
		n++
	}
	if n < length {
		return append(dst, run)
	}
	return append(dst, run[starts[n%length]:])
}

// Terms of scripts without spaces: the number of their characters, and the number of words that
// one of them counts for.
const (
	pairedCharacters = 2
	pairedLetters    = 4
	pairedWords      = 0.5
	letterWords      = 0.25
)

// pairedAlphabets are the scripts without spaces that are written in letters.
var pairedAlphabets = []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// Words returns how many words a term counts for.
func Words(term string) float64 {
	first, _ := utf8.DecodeRuneInString(term)
	switch {
	case !Unspaced(first):
		return 1
	case unicode.In(first, pairedAlphabets...):
		return letterWords
	}
	return pairedWords
}

func (a Analyser) appendToken(dst []string, token string) []string {
	token = strings.Trim(strings.Map(plainRune, token), "'_.")
	token = strings.TrimSuffix(strings.TrimSuffix(token, "'s"), "'S")
	token = strings.Trim(token, "'_.")
	if token == "" {
		return dst
	}
	if !a.Code && isNumber(token) {
		return append(dst, cutRunes(token, maxTermBytes))
	}
	if a.Code {
		if number, line, ok := version(cutRunes(token, maxTermBytes)); ok {
			return append(dst, number, line)
		}
		return a.appendIdentifier(dst, cutParts(token))
	}
	for token != "" {
		part := token
		if i := strings.IndexAny(token, "_."); i >= 0 {
			part, token = token[:i], token[i+1:]
		} else {
			token = ""
		}
		dst = a.appendWord(dst, part)
	}
	return dst
}

// appendIdentifier appends a token with parts, whole and unstemmed, and then its parts. A part
// begins after '_' or '.', or at a change of case.
func (a Analyser) appendIdentifier(dst []string, token string) []string {
	whole := len(dst)
	dst = append(dst, "")
	start := 0
	runes := [3]rune{} // the one before, this one, the next
	for i := 0; i < len(token); {
		r, size := utf8.DecodeRuneInString(token[i:])
		next, _ := utf8.DecodeRuneInString(token[i+size:])
		runes = [3]rune{runes[1], r, next}
		switch {
		case r == '_' || r == '.':
			dst = a.appendWord(dst, token[start:i])
			start = i + size
		case i > start && caseChange(runes):
			dst = a.appendWord(dst, token[start:i])
			start = i
		}
		i += size
	}
	if start == 0 { // no parts
		return a.appendWord(dst[:whole], token)
	}
	dst = a.appendWord(dst, token[start:])
	dst[whole] = cutRunes(strings.ToLower(token), maxTermBytes)
	return dst
}

// cutParts cuts each part of a token, which ends at '_' or '.', to the length of a term.
func cutParts(token string) string {
	if len(token) <= maxTermBytes {
		return token
	}
	var cut strings.Builder
	for token != "" {
		part := token
		if i := strings.IndexAny(token, "_."); i >= 0 {
			part = token[:i]
		}
		cut.WriteString(cutRunes(part, maxTermBytes))
		if token = token[len(part):]; token != "" {
			cut.WriteByte(token[0])
			token = token[1:]
		}
	}
	return cut.String()
}

// caseChange reports whether a part begins at the middle rune, as at HTTP and Request
// in parseHTTPRequest.
func caseChange(r [3]rune) bool {
	if !unicode.IsUpper(r[1]) {
		return false
	}
	return !unicode.IsUpper(r[0]) || unicode.IsLower(r[2])
}

// appendWord appends the stem of one word, or an empty term for a stop word.
func (a Analyser) appendWord(dst []string, word string) []string {
	if word == "" {
		return dst
	}
	word = a.Language.unelided(strings.ToLower(cutRunes(word, maxTermBytes)))
	if a.Language.IsStop(word) {
		return append(dst, "")
	}
	return append(dst, cutRunes(a.stemmed(word), maxTermBytes))
}

// version returns the number of a token such as 3.8.2 or v3.8.2, of three groups or
// more, and its release line, 3.8. Its groups are not terms: 3 and 8 alone
// occur in every other text.
func version(token string) (number, line string, ok bool) {
	number = strings.TrimPrefix(strings.TrimPrefix(token, "v"), "V")
	major, rest, _ := strings.Cut(number, ".")
	minor, _, ok := strings.Cut(rest, ".")
	if !ok || !isNumber(number) {
		return "", "", false
	}
	return number, number[:len(major)+len(".")+len(minor)], true
}

// isNumber reports whether token consists of digits and points, as 2.6.1.
func isNumber(token string) bool {
	for i := range len(token) {
		if c := token[i]; c != '.' && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
