// Package wordpiece cuts texts into the tokens of a BERT model, as a Hugging Face tokenizer.json of type WordPiece
// says, with the normalisation of BERT. The file's own truncation and padding are not used.
package wordpiece

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// ErrFormat means that the file is not a tokenizer of this kind, or it is damaged.
var ErrFormat = errors.New("not a WordPiece tokenizer file")

// Bounds of a tokenizer file.
const (
	MaxFileBytes = 16 << 20
	maxVocab     = 1 << 20
)

// Tokenizer is a vocabulary and its rules. Its methods are safe for concurrent use.
type Tokenizer struct {
	starts    map[string]int32 // tokens that begin a word
	rests     map[string]int32 // tokens that continue one, without the prefix
	specials  []special        // found in the text before it is normalised
	unknown   int32
	first     int32 // [CLS]
	last      int32 // [SEP]
	maxWord   int   // characters; a longer word is unknown
	longest   int   // bytes of the longest token
	size      int
	lowercase bool
	accents   bool // are kept
	spread    bool // Chinese characters are words
	clean     bool // control characters are removed
}

type special struct {
	text string
	id   int32
}

// file is what is read of tokenizer.json.
type file struct {
	AddedTokens []struct {
		ID         int32  `json:"id"`
		Content    string `json:"content"`
		SingleWord bool   `json:"single_word"`
		Lstrip     bool   `json:"lstrip"`
		Rstrip     bool   `json:"rstrip"`
		Normalized bool   `json:"normalized"`
	} `json:"added_tokens"`
	Normalizer struct {
		Type               string `json:"type"`
		CleanText          bool   `json:"clean_text"`
		HandleChineseChars bool   `json:"handle_chinese_chars"`
		StripAccents       *bool  `json:"strip_accents"`
		Lowercase          bool   `json:"lowercase"`
	} `json:"normalizer"`
	PreTokenizer struct {
		Type string `json:"type"`
	} `json:"pre_tokenizer"`
	Model struct {
		Type     string           `json:"type"`
		Unknown  string           `json:"unk_token"`
		Prefix   string           `json:"continuing_subword_prefix"`
		MaxChars int              `json:"max_input_chars_per_word"`
		Vocab    map[string]int32 `json:"vocab"`
	} `json:"model"`
}

// New reads a tokenizer.json. Errors wrap ErrFormat.
func New(data []byte) (*Tokenizer, error) {
	var f file
	if len(data) > MaxFileBytes {
		return nil, fmt.Errorf("%w: %d bytes, the limit is %d", ErrFormat, len(data), MaxFileBytes)
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if f.Model.Type != "WordPiece" || f.Normalizer.Type != "BertNormalizer" || f.PreTokenizer.Type != "BertPreTokenizer" {
		return nil, fmt.Errorf("%w: model %q, normalizer %q, pre-tokenizer %q", ErrFormat, f.Model.Type, f.Normalizer.Type, f.PreTokenizer.Type)
	}
	if f.Model.MaxChars < 1 || f.Model.Prefix == "" || len(f.Model.Vocab) > maxVocab {
		return nil, fmt.Errorf("%w: words of %d characters, prefix %q, %d tokens", ErrFormat, f.Model.MaxChars, f.Model.Prefix, len(f.Model.Vocab))
	}
	t := &Tokenizer{
		maxWord: f.Model.MaxChars, lowercase: f.Normalizer.Lowercase, accents: !f.Normalizer.Lowercase,
		spread: f.Normalizer.HandleChineseChars, clean: f.Normalizer.CleanText,
	}
	if f.Normalizer.StripAccents != nil {
		t.accents = !*f.Normalizer.StripAccents
	}
	if err := t.enter(f.Model.Vocab, f.Model.Prefix); err != nil {
		return nil, err
	}
	for _, a := range f.AddedTokens {
		if a.Content == "" || a.SingleWord || a.Lstrip || a.Rstrip || a.Normalized || f.Model.Vocab[a.Content] != a.ID || !utf8.ValidString(a.Content) {
			return nil, fmt.Errorf("%w: added token %q", ErrFormat, a.Content)
		}
		t.specials = append(t.specials, special{a.Content, a.ID})
	}
	for _, needed := range []struct {
		token string
		id    *int32
	}{{f.Model.Unknown, &t.unknown}, {"[CLS]", &t.first}, {"[SEP]", &t.last}} {
		id, found := f.Model.Vocab[needed.token]
		if !found {
			return nil, fmt.Errorf("%w: no token %q", ErrFormat, needed.token)
		}
		*needed.id = id
	}
	return t, nil
}

// enter splits the vocabulary into tokens that begin and that continue a word.
func (t *Tokenizer) enter(vocab map[string]int32, prefix string) error {
	t.starts, t.rests = make(map[string]int32, len(vocab)), make(map[string]int32, len(vocab)/4)
	t.size = len(vocab)
	for token, id := range vocab {
		if id < 0 || int(id) >= len(vocab) {
			return fmt.Errorf("%w: token %q has number %d of %d", ErrFormat, token, id, len(vocab))
		}
		t.longest = max(t.longest, len(token))
		t.starts[token] = id
		if len(token) > len(prefix) && token[:len(prefix)] == prefix {
			t.rests[token[len(prefix):]] = id
		}
	}
	return nil
}

// Knows reports whether word, in the case of the vocabulary, is one token.
func (t *Tokenizer) Knows(word string) bool {
	_, found := t.starts[word]
	return found
}

// Size returns the number of tokens. Every id is below it.
func (t *Tokenizer) Size() int { return t.size }
