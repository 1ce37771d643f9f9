package faulttest

import (
	"context"

	"docent/shared/embed"
)

// Embedder is an embedding model under a plan.
type Embedder struct {
	embed.Engine
	Plan *Plan
}

// Embed implements embed.Engine.
func (e Embedder) Embed(ctx context.Context, texts []string, purpose embed.Purpose) (vectors []embed.Vector, err error) {
	err = e.Plan.run(func() (err error) {
		vectors, err = e.Engine.Embed(ctx, texts, purpose)
		return err
	}, "Embed", len(texts))
	return vectors, err
}
