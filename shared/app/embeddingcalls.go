package app

import (
	"context"
	"errors"
	"sync"

	"docent/shared/embed"
)

// embeddingCalls counts the calls of an embedding model. A function handles one request or batch at a time, so
// what it has counted when it writes the line of one belongs to that line.
type embeddingCalls struct {
	mu          sync.Mutex
	all, failed int
}

// watchedEmbedder is an embedding model elsewhere whose calls are counted.
type watchedEmbedder struct {
	embed.Engine
	calls *embeddingCalls
}

// watch returns engine with its calls counted, and the count. A model in the process gets none: it does not go away.
func (e Embedding) watch(engine embed.Engine) (embed.Engine, *embeddingCalls) {
	if engine == nil || e.Provider != EmbeddingOfBedrock && e.Provider != EmbeddingOfOpenAI {
		return engine, nil
	}
	calls := &embeddingCalls{}
	return watchedEmbedder{engine, calls}, calls
}

// Embed implements embed.Engine. Texts that no model takes, and a caller that leaves, say nothing about the model.
func (w watchedEmbedder) Embed(ctx context.Context, texts []string, purpose embed.Purpose) ([]embed.Vector, error) {
	vectors, err := w.Engine.Embed(ctx, texts, purpose)
	if errors.Is(err, embed.ErrInvalid) || errors.Is(err, context.Canceled) {
		return vectors, err
	}
	w.calls.mu.Lock()
	defer w.calls.mu.Unlock()
	w.calls.all++
	if err != nil {
		w.calls.failed++
	}
	return vectors, err
}
