package text

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/blevesearch/snowballstem"
)

// stemSlots is the number of words in the cache of stems, which takes a few MB at most.
const stemSlots = 1 << 14

var (
	stemCache [stemSlots]atomic.Pointer[stem]
	stemSeed  = maphash.MakeSeed()
)

// stem is the stem of a word in a language, in prose or in code.
type stem struct {
	in         *Language
	code       bool
	word, stem string
}

// stemmed returns the Snowball stem of a word in lower case. English words are stemmed
// in American spelling, and in prose by their regular form.
func (a Analyser) stemmed(word string) string {
	slot := &stemCache[maphash.String(stemSeed, word)%stemSlots]
	if s := slot.Load(); s != nil && s.word == word && s.in == a.Language && s.code == a.Code {
		return s.stem
	}
	plain := word
	if a.Language == inEnglish {
		plain = spelling(word)
		if regular, ok := irregular[plain]; ok && !a.Code {
			plain = regular
		}
	}
	env := snowballstem.NewEnv(plain)
	a.Language.stem(env)
	s := &stem{in: a.Language, code: a.Code, word: strings.Clone(word), stem: strings.Clone(env.Current())}
	slot.Store(s)
	return s.stem
}
