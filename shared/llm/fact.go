package llm

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// facts are the parts of a text that can be compared without understanding it.
type facts struct {
	numbers map[string]bool // as written, without the commas of thousands
	words   map[string]bool // small letters
	text    string          // folded, for identifiers
}

var (
	number    = regexp.MustCompile(`\d+(?:[.,:/-]\d+)*`)
	thousands = regexp.MustCompile(`^\d{1,3}(?:,\d{3})+(?:\.\d+)?$`)
	// quantity is a number with a unit, an ordinal or a version. Each can be spelled in
	// several ways.
	quantity = regexp.MustCompile(`^[+~<>≈≤≥$€£#-]*v?(\d+(?:[.,:/-]\d+)*)[-]?[\pL%°µ/]*$`)
	between  = regexp.MustCompile(`^(\d+)-(\d+)$`)
	path     = regexp.MustCompile(`^-{1,2}[\pL\d]|^~?/[\pL\d.]|/.*/|[\pL\d]\.[\pL]{2,}|[_@\\]|::|://`)
	camel    = regexp.MustCompile(`\p{Ll}\p{Lu}`)
)

// numberWords are numbers in words, starting at the first that is more often a
// statement than a figure of speech.
var numberWords = map[string]string{"three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
	"eleven": "11", "twelve": "12", "thirteen": "13", "fourteen": "14", "fifteen": "15", "sixteen": "16", "seventeen": "17", "eighteen": "18",
	"nineteen": "19", "twenty": "20", "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80",
	"ninety": "90", "hundred": "100", "thousand": "1000", "million": "1000000", "billion": "1000000000"}

// factsOf returns the facts of a passage or a question.
func factsOf(text string) facts {
	f := facts{map[string]bool{}, map[string]bool{}, spaced(foldSigns(strings.ToLower(text)))}
	for _, w := range words(strings.ReplaceAll(text, `\`, "")) {
		w = strings.ToLower(w)
		f.words[w] = true
		for _, n := range number.FindAllString(w, -1) {
			f.numbers[plainNumber(n)] = true
			if ends := between.FindStringSubmatch(n); ends != nil {
				f.numbers[ends[1]], f.numbers[ends[2]] = true, true
			}
		}
	}
	return f
}

// unsupported returns the first number, date, version or identifier of text that is in
// none of the given facts, or "".
func unsupported(text string, in []facts) string {
	for _, w := range words(text) {
		if !founded(w, in) {
			return w
		}
	}
	return ""
}

func founded(word string, in []facts) bool {
	small := strings.ToLower(word)
	if digits := numberWords[small]; digits != "" {
		return hasNumber(digits, in) || hasWord(small, in)
	}
	if strings.ContainsFunc(word, unicode.IsDigit) {
		if q := quantity.FindStringSubmatch(small); q != nil {
			if ends := between.FindStringSubmatch(q[1]); ends != nil && hasNumber(ends[1], in) && hasNumber(ends[2], in) {
				return true
			}
			return hasNumber(plainNumber(q[1]), in)
		}
		return hasIdentifier(small, in)
	}
	if path.MatchString(word) || camel.MatchString(word) {
		return hasIdentifier(small, in)
	}
	return true
}

func hasNumber(n string, in []facts) bool {
	for _, f := range in {
		if f.numbers[n] {
			return true
		}
	}
	return false
}

func hasWord(w string, in []facts) bool {
	for _, f := range in {
		if f.words[w] {
			return true
		}
	}
	return false
}

func hasIdentifier(w string, in []facts) bool {
	for _, f := range in {
		if f.words[w] || standsIn(w, f.text) {
			return true
		}
	}
	return false
}

func plainNumber(n string) string {
	if thousands.MatchString(n) {
		return strings.ReplaceAll(n, ",", "")
	}
	return n
}

// power is a number with another above it, which is also written as 10^6.
var power = regexp.MustCompile(`\d[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+`)

// words cuts text at white space, brackets and quotes, and removes punctuation at the
// ends. Digits become ASCII, dashes become hyphens, and 10⁶ becomes 10^6.
func words(text string) []string {
	text = power.ReplaceAllStringFunc(text, func(m string) string { return m[:1] + "^" + norm.NFKC.String(m[1:]) })
	fields := strings.FieldsFunc(foldSigns(text), func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("()[]{}<>\"`|*;!?=…'", r)
	})
	var out []string
	for _, f := range fields {
		for f != "" {
			word, rest := f, ""
			for i := 1; i+1 < len(f); i++ { // a comma between digits belongs to the number
				if f[i] == ',' && (!isDigit(f[i-1]) || !isDigit(f[i+1])) {
					word, rest = f[:i], f[i+1:]
					break
				}
			}
			if word = strings.TrimRight(strings.TrimLeft(word, ".,:"), ".,:-/"); word != "" {
				out = append(out, word)
			}
			f = rest
		}
	}
	return out
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// foldSigns replaces quotes, dashes and digits of all scripts by those of ASCII.
func foldSigns(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < utf8.RuneSelf:
			return r
		case strings.ContainsRune("‐‑‒–—−", r):
			return '-'
		case strings.ContainsRune("“”„‟«»〝〞「」", r):
			return '"'
		case strings.ContainsRune("‘’‚‛‹›", r):
			return '\''
		case unicode.Is(unicode.Nd, r):
			value := rune(0) // the ten digits of a script have consecutive code points
			for unicode.Is(unicode.Nd, r-value-1) {
				value++
			}
			return '0' + value%10
		}
		return r
	}, s)
}

// spaced returns s with each run of white space as one space.
func spaced(s string) string { return strings.Join(strings.Fields(s), " ") }

// standsIn reports whether part is in whole, not within a longer word or number.
func standsIn(part, whole string) bool {
	if part == "" {
		return false
	}
	for from := 0; ; {
		i := strings.Index(whole[from:], part)
		if i < 0 {
			return false
		}
		start := from + i
		before, _ := utf8.DecodeLastRuneInString(whole[:start])
		after, _ := utf8.DecodeRuneInString(whole[start+len(part):])
		first, size := utf8.DecodeRuneInString(part)
		last, _ := utf8.DecodeLastRuneInString(part)
		if !(inWord(first) && inWord(before) && start > 0) && !(inWord(last) && inWord(after) && start+len(part) < len(whole)) {
			return true
		}
		from = start + size
	}
}

// inWord reports whether r continues a word. Scripts without spaces between words have
// no such letters.
func inWord(r rune) bool {
	return r == '_' || (unicode.IsLetter(r) || unicode.IsDigit(r)) &&
		!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
