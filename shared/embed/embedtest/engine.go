package embedtest

import (
	"context"
	"hash/fnv"
	"strings"
	"sync"
	"unicode"

	"docent/shared/embed"
)

// Engine is a cheap embed.Engine for tests, the same on every machine: texts that share words are near each other.
// A passage and a question of the same words have the same vector.
type Engine struct {
	model embed.Model

	mu    sync.Mutex
	fail  error
	calls int
	texts int
}

var _ embed.Engine = (*Engine)(nil)

// New returns an engine of that model. Engines of one model return equal vectors, engines of different models do not.
func New(model embed.Model) *Engine { return &Engine{model: model} }

// Model implements embed.Engine.
func (e *Engine) Model() embed.Model { return e.model }

// Fail makes each Embed return err from now on, and succeed again after Fail(nil).
func (e *Engine) Fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fail = err
}

// Count returns how many calls of Embed succeeded, and with how many texts.
func (e *Engine) Count() (calls, texts int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.calls, e.texts
}

// Embed implements embed.Engine. Each word adds a direction that its hash chooses.
func (e *Engine) Embed(ctx context.Context, texts []string, _ embed.Purpose) ([]embed.Vector, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := embed.Check(texts); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.fail != nil {
		return nil, e.fail
	}
	e.calls++
	e.texts += len(texts)
	vectors := make([]embed.Vector, len(texts))
	for i, text := range texts {
		vectors[i] = e.vector(text)
	}
	return vectors, nil
}

func (e *Engine) vector(text string) embed.Vector {
	v := make(embed.Vector, e.model.Size)
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, word := range words {
		e.add(v, word)
	}
	if !embed.Normalize(v) {
		e.add(v, "\x00"+text)
		embed.Normalize(v)
	}
	return v
}

// add adds the direction of word: each number is 1 or -1.
func (e *Engine) add(v embed.Vector, word string) {
	h := fnv.New64a()
	h.Write([]byte(e.model.Name + "\x00" + word))
	state := h.Sum64() | 1
	for i := range v {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		v[i] += float32(int(state>>40&1)*2 - 1)
	}
}
