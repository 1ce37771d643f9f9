package text

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/blevesearch/snowballstem"
)

// stemSlots bounds the cache of stems: one word a slot, so a few MB at most.
const stemSlots = 1 << 14

var (
	stemCache [stemSlots]atomic.Pointer[stem]
	stemSeed  = maphash.MakeSeed()
)

// stem is a word's stem in a language, and of prose or of code.
type stem struct {
	in         *Language
	code       bool
	word, stem string
}

// stemmed is the Snowball stem of a word in lower case, in the usual spelling and,
// in prose, of its regular form.
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
