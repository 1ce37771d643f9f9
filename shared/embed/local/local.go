// Package local embeds texts in the process: a forward pass of all-MiniLM-L6-v2, or a model of the same shape, with
// weights of int8. It needs no service and no other library, and costs nothing while idle. The README has its
// measurements.
package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"docent/shared/embed"
	"docent/shared/embed/local/internal/kernel"
	"docent/shared/embed/local/internal/onnx"
	"docent/shared/embed/local/internal/wordpiece"
	"docent/shared/memory"
)

// Files of a model's folder.
const (
	ModelFile     = "model.onnx"
	TokenizerFile = "tokenizer.json"
)

// MiniLM is the default model.
var MiniLM = embed.Model{Name: "all-MiniLM-L6-v2-int8", Size: 384, English: true}

// Engine embeds texts with the model of a folder, which it loads at first use.
type Engine struct {
	folder  string
	model   embed.Model
	kernels *kernel.Set
	turns   [2]*memory.Pool // by purpose: one for each forward pass at a time, shared among teams
	spare   chan *scratch   // one for each processor, which no collection of garbage takes

	mu     sync.Mutex
	loaded *loaded
}

type loaded struct {
	tokens  *wordpiece.Tokenizer
	weights *model
}

var _ embed.Engine = (*Engine)(nil)

// New returns an engine for the model in a folder that has ModelFile and TokenizerFile. It reads nothing yet. At any
// time it works on at most as many passages as Go uses processors, and on as many questions, which do not wait for
// passages. The teams whose questions wait take turns.
func New(folder string, model embed.Model) *Engine {
	return newEngine(folder, model, kernel.Sets()[0])
}

func newEngine(folder string, model embed.Model, kernels *kernel.Set) *Engine {
	processors := runtime.GOMAXPROCS(0)
	e := &Engine{folder: folder, model: model, kernels: kernels, spare: make(chan *scratch, processors)}
	for purpose := range e.turns {
		e.turns[purpose] = memory.NewPool(int64(processors), 0)
	}
	return e
}

// Model implements embed.Engine.
func (e *Engine) Model() embed.Model { return e.model }

// Kernels names the instructions that the engine computes with. "Go" means none that help: a passage takes most of a
// second.
func (e *Engine) Kernels() string { return e.kernels.Name() }

// Load reads the model, unless that is done. It returns an error that wraps embed.ErrModel if the files are missing,
// damaged or of another kind of model; the next call tries again.
func (e *Engine) Load() error {
	_, err := e.load()
	return err
}

// Knows reports whether word, in lower case, is in the vocabulary of the model, which has the frequent English words. It reads
// the model if need be; one that cannot be read knows no word.
func (e *Engine) Knows(word string) bool {
	l, err := e.load()
	return err == nil && l.tokens.Knows(word)
}

func (e *Engine) load() (*loaded, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.loaded != nil {
		return e.loaded, nil
	}
	l, err := open(e.folder, e.kernels, e.model.Size)
	if err != nil {
		return nil, fmt.Errorf("%w: load %s from %s: %w", embed.ErrModel, e.model.Name, e.folder, err)
	}
	e.loaded = l
	return l, nil
}

func open(folder string, kernels *kernel.Set, size int) (*loaded, error) {
	tokens, err := openTokenizer(filepath.Join(folder, TokenizerFile))
	if err != nil {
		return nil, err
	}
	file, err := os.Open(filepath.Join(folder, ModelFile))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	graph, err := onnx.Open(file, info.Size())
	if err != nil {
		return nil, err
	}
	weights, err := readModel(graph, kernels, size, tokens.Size())
	if err != nil {
		return nil, err
	}
	return &loaded{tokens: tokens, weights: weights}, nil
}

func openTokenizer(path string) (*wordpiece.Tokenizer, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > wordpiece.MaxFileBytes {
		return nil, fmt.Errorf("%w: %d bytes", wordpiece.ErrFormat, info.Size())
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return wordpiece.New(data)
}

// Embed implements embed.Engine. Passages and questions have the same vectors. It reads the first 256 tokens of a text,
// about 200 English words. It works on the texts of a call one after the other, on the thread of its caller,
// who decides about parallelism and priority. Before each text it returns the error of ctx if that has ended, after each it rests as memory.Rest says.
func (e *Engine) Embed(ctx context.Context, texts []string, purpose embed.Purpose) ([]embed.Vector, error) {
	if err := embed.Check(texts); err != nil {
		return nil, err
	}
	l, err := e.load()
	if err != nil {
		return nil, err
	}
	vectors := make([]embed.Vector, len(texts))
	turn := e.turns[purpose].Lease(memory.Owner(ctx))
	defer turn.End()
	for i, text := range texts {
		if err := ctx.Err(); err != nil { // a free turn was taken anyway
			return nil, err
		}
		if err := turn.Take(ctx, 1); err != nil {
			return nil, fmt.Errorf("wait for a turn: %w: %w", err, ctx.Err())
		}
		began := time.Now()
		vectors[i] = e.vector(l, text)
		turn.Shrink(0)
		memory.Rest(ctx, time.Since(began))
		if vectors[i] == nil {
			return nil, fmt.Errorf("%w: text %d has no vector", embed.ErrInvalid, i)
		}
	}
	return vectors, nil
}

func (e *Engine) vector(l *loaded, text string) embed.Vector {
	ids := l.tokens.Encode(make([]int32, 0, maxTokens), text, maxTokens)
	var s *scratch
	select {
	case s = <-e.spare:
	default:
	}
	if s == nil || s.rows < rowsFor(len(ids)) {
		s = l.weights.newScratch(len(ids))
	}
	v := l.weights.vector(e.kernels, s, ids)
	select {
	case e.spare <- s:
	default: // of more passes at once than are kept
	}
	return v
}
