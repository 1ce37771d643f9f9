package text

import (
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/blevesearch/snowballstem"
)

// stemSlots is the number of words in the cache of stems, which takes a few MB at most.
const stemSlots = 1 << 14

var (
	stemCache [stemSlots]atomic.Pointer[stem]
	stemSeed  = maphash.MakeSeed()
	stemEnvs  = sync.Pool{New: func() any { return snowballstem.NewEnv("") }}
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
	word = strings.Clone(word) // a part of a whole text
	plain := word
	if a.Language == inEnglish {
		plain = spelling(word)
		if regular, ok := irregular[plain]; ok && !a.Code {
			plain = regular
		}
	}
	env := stemEnvs.Get().(*snowballstem.Env) //nolint:forcetypeassert // it has no others
	env.SetCurrent(plain)
	a.Language.stem(env)
	s := &stem{in: a.Language, code: a.Code, word: word, stem: env.Current()}
	stemEnvs.Put(env)
	slot.Store(s)
	return s.stem
}
