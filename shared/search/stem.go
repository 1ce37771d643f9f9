package search

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// stemSlots bounds the cache of stems: one word a slot, so a few MB at most.
const stemSlots = 1 << 14

var (
	stemCache [stemSlots]atomic.Pointer[stemmed]
	stemSeed  = maphash.MakeSeed()
)

type stemmed struct{ word, stem string }

// stem is the Snowball English stem of a word in lower case.
func stem(word string) string {
	slot := &stemCache[maphash.String(stemSeed, word)%stemSlots]
	if s := slot.Load(); s != nil && s.word == word {
		return s.stem
	}
	env := snowballstem.NewEnv(word)
	english.Stem(env)
	s := &stemmed{word: strings.Clone(word), stem: strings.Clone(env.Current())}
	slot.Store(s)
	return s.stem
}
