package wordpiece

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Encode appends to ids the tokens of text between those that mark the beginning and the end, at most limit with these
// two, and returns the result. Longer texts are cut off. A limit below 2 counts as 2.
func (t *Tokenizer) Encode(ids []int32, text string, limit int) []int32 {
	e := encoder{Tokenizer: t, ids: append(ids, t.first), limit: len(ids) + max(limit, 2) - 1}
	for text != "" && !e.full() {
		before, found := t.findSpecial(text)
		e.addText(text[:before])
		text = text[before:]
		if found != nil {
			e.add(found.id)
			text = text[len(found.text):]
		}
	}
	return append(e.ids, t.last)
}

// findSpecial returns where the first special token of text begins, or the length of text and nil.
func (t *Tokenizer) findSpecial(text string) (int, *special) {
	at, found := len(text), (*special)(nil)
	for i := range t.specials {
		if n := strings.Index(text[:min(len(text), at+len(t.specials[i].text))], t.specials[i].text); n >= 0 && n < at {
			at, found = n, &t.specials[i]
		}
	}
	return at, found
}

// encoder holds the tokens of one text.
type encoder struct {
	*Tokenizer
	ids   []int32
	limit int    // of ids, without the end
	word  []byte // normalised
	parts []byte // decomposed characters
}

func (e *encoder) full() bool { return len(e.ids) >= e.limit }

func (e *encoder) add(id int32) {
	if !e.full() {
		e.ids = append(e.ids, id)
	}
}

// addText normalises text character by character, and adds the tokens of each word when it ends.
func (e *encoder) addText(text string) {
	for i := 0; i < len(text) && !e.full(); {
		if c := text[i]; c < utf8.RuneSelf {
			e.addRune(rune(c))
			i++
			continue
		}
		// Accents are removed from all characters up to the next ASCII character at once, because normalisation can reorder
		// them.
		end := i
		for end < len(text) && text[end] >= utf8.RuneSelf {
			end++
		}
		e.addOther(text[i:end])
		i = end
	}
	e.endWord()
}

// addOther adds characters outside ASCII.
func (e *encoder) addOther(text string) {
	if e.accents {
		for _, r := range text {
			e.addRune(r)
		}
		return
	}
	e.parts = norm.NFD.AppendString(e.parts[:0], text)
	for parts := e.parts; len(parts) > 0 && !e.full(); {
		r, n := utf8.DecodeRune(parts)
		parts = parts[n:]
		if !isAccent(r) {
			e.addRune(r)
		}
	}
}

// addRune adds one character whose accents are removed.
func (e *encoder) addRune(r rune) {
	switch {
	case e.clean && isRemoved(r):
		return
	case isSpace(r):
		e.endWord()
		return
	}
	if e.lowercase {
		r = lower(r)
	}
	if isPunctuation(r) || e.spread && isChinese(r) {
		e.endWord()
		e.word = utf8.AppendRune(e.word, r)
		e.endWord()
		return
	}
	e.word = utf8.AppendRune(e.word, r)
}

// endWord adds the tokens of the word: each is the longest that fits. A word that they do not cover is unknown.
func (e *encoder) endWord() {
	word := e.word
	e.word = e.word[:0]
	if len(word) == 0 || e.full() {
		return
	}
	if len(word) > e.maxWord && utf8.RuneCount(word) > e.maxWord {
		e.add(e.unknown)
		return
	}
	start := len(e.ids)
	tokens := e.starts
	for len(word) > 0 {
		id, n := longest(tokens, word[:min(len(word), e.longest)])
		if n == 0 {
			e.ids = append(e.ids[:start], e.unknown)
			return
		}
		if e.ids = append(e.ids, id); len(e.ids) > e.limit+e.maxWord {
			break
		}
		word, tokens = word[n:], e.rests
	}
	e.ids = e.ids[:min(len(e.ids), e.limit)]
}

// longest returns the longest token at the beginning of word, and its length in bytes, or 0 if there is none.
func longest(tokens map[string]int32, word []byte) (int32, int) {
	for n := len(word); n > 0; n-- {
		if id, found := tokens[string(word[:n])]; found {
			return id, n
		}
	}
	return 0, 0
}
