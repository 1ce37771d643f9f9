package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/spanish"
)

// Language is a language whose words become terms.
type Language struct {
	code   string // of ISO 639-1
	bit    uint8
	stem   func(*snowballstem.Env) bool
	stop   map[string]bool // stop words
	elides bool            // articles and pronouns join the next word by an apostrophe
}

// The languages. Text in another language, or in an unknown one, counts as English.
var (
	inEnglish = &Language{code: "en", bit: 1, stem: english.Stem, stop: stopWords}
	languages = []*Language{
		inEnglish,
		{code: "de", bit: 2, stem: german.Stem, stop: wordSet(germanStop)},
		{code: "es", bit: 4, stem: spanish.Stem, stop: wordSet(spanishStop)},
		{code: "fr", bit: 8, stem: french.Stem, stop: wordSet(frenchStop), elides: true},
		{code: "it", bit: 16, stem: italian.Stem, stop: wordSet(italianStop), elides: true},
		{code: "pt", bit: 32, stem: portuguese.Stem, stop: wordSet(portugueseStop)},
		{code: "nl", bit: 64, stem: dutch.Stem, stop: wordSet(dutchStop)},
	}
	// languagesByStopWord maps a stop word to the languages that it is evidence for. A word
	// that English shares with another language is evidence for none.
	languagesByStopWord = func() map[string]uint8 {
		set := map[string]uint8{}
		for _, l := range languages {
			for w := range l.stop {
				set[w] |= l.bit
			}
		}
		for w := range set {
			if stopWords[w] && set[w] != inEnglish.bit {
				delete(set, w)
			}
		}
		for w := range wordSet(englishToo) {
			delete(set, w)
		}
		for w := range set {
			if len(w) == 1 { // a name in code, a bullet
				delete(set, w)
			}
		}
		return set
	}()
)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// A language is detected from at most detectWords words. With detectEnough English stop
// words early on, it is English.
const (
	detectWords  = 250
	detectEnough = 6
)

// LanguageOf returns the language of texts that belong together. It is not English only if three
// different stop words of another language occur, they are at least one word in six,
// and more than twice the English ones.
func LanguageOf(texts ...string) *Language {
	evidence := countStopWords(texts...)
	if evidence.different >= 3 && 6*evidence.n >= evidence.words && evidence.n > 2*evidence.english {
		return evidence.most
	}
	return inEnglish
}

// PassageLanguage returns the language of a passage with its document's title.
func PassageLanguage(title, indexed string) *Language {
	return LanguageOf(title, indexed)
}

// Code returns the code of l by ISO 639-1; "en" for an unknown language.
func (l *Language) Code() string { return l.code }

// IsEnglish reports whether l is English, or an unknown language, which counts as English.
func (l *Language) IsEnglish() bool { return l == inEnglish }

// LanguagesOf returns the languages that a question may be in, the most likely one first. If
// there are several, the terms in the index decide.
func LanguagesOf(question string) []*Language {
	evidence := countStopWords(question)
	switch {
	case evidence.n > evidence.english:
		return []*Language{evidence.most, inEnglish}
	case evidence.english > 0:
		return languages[:1]
	}
	return languages
}

// languageEvidence has the counts of stop words that decide the language of a text.
type languageEvidence struct {
	most      *Language // other than English
	n         int       // its stop words
	different int       // different ones of these, 3 at most
	english   int       // stop words of English
	words     int       // read
}

func countStopWords(texts ...string) languageEvidence {
	var v votes
	t := languageEvidence{most: inEnglish}
	for _, text := range texts {
		for t.words < detectWords && !v.isEnglish(t.words) {
			var word string
			if word, text = nextWord(text); word == "" {
				break
			}
			t.words++
			v.add(word)
		}
	}
	t.english = v.count[0]
	for i, l := range languages[1:] {
		if n := v.count[i+1]; n > t.n {
			t.most, t.n, t.different = l, n, v.different(i+1)
		}
	}
	return t
}

// nextWord returns the first run of letters in text, empty if there is none, and the text after
// it.
func nextWord(text string) (word, rest string) {
	start := strings.IndexFunc(text, unicode.IsLetter)
	if start < 0 {
		return "", ""
	}
	text = text[start:]
	end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
	if end < 0 {
		end = len(text)
	}
	return text[:end], text[end:]
}

// votes counts stop words by language, in the order of languages.
type votes struct {
	count [8]int
	first [8][3]string // different ones
}

// isEnglish reports whether the votes are enough for English after so few words.
func (v *votes) isEnglish(words int) bool {
	return v.count[0] == detectEnough && words < 4*detectEnough
}

// add counts word for each language of which it is a stop word.
func (v *votes) add(word string) {
	if len(word) > longestStopWord {
		return
	}
	word = strings.ToLower(word)
	bits := languagesByStopWord[word]
	for i := 0; bits != 0; i, bits = i+1, bits>>1 {
		if bits&1 == 0 {
			continue
		}
		v.count[i]++
		if n := v.different(i); n < len(v.first[i]) && !slices.Contains(v.first[i][:n], word) {
			v.first[i][n] = word
		}
	}
}

// different returns how many different words were counted for language i, 3 at most.
func (v *votes) different(i int) int {
	for n, w := range v.first[i] {
		if w == "" {
			return n
		}
	}
	return len(v.first[i])
}

// longestStopWord is the length of the longest stop word, in bytes.
var longestStopWord = func() (n int) {
	for w := range languagesByStopWord {
		n = max(n, len(w))
	}
	return n
}()

// unelided returns word without an article or pronoun joined to it: l'eau, qu'il.
func (l *Language) unelided(word string) string {
	if i := strings.IndexByte(word, '\''); l.elides && i > 0 && i <= 5 && utf8.RuneCountInString(word[i+1:]) > 1 {
		return word[i+1:]
	}
	return word
}

// IsStop reports whether word, in lower case, is a stop word of the language.
func (l *Language) IsStop(word string) bool { return l.stop[word] }
