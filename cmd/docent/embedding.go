package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"docent/shared/app"
	"docent/shared/app/parts/models"
	"docent/shared/app/parts/operator"
	"docent/shared/embed"
)

// embeddingFlags name the embedding model.
type embeddingFlags struct {
	Meaning           bool   `name:"meaning" default:"true" negatable:"" help:"Search by meaning as well as by words (default; --no-meaning: by words alone)."`
	EmbeddingModel    string `name:"embedding-model" env:"DOCENT_EMBEDDING_MODEL" placeholder:"NAME" help:"Embedding model: a folder with the weights of a model to run in this process, the name of a model on a server, or the id of one on Amazon Bedrock (default: the built-in model; on Bedrock, Titan)."`
	EmbeddingProvider string `name:"embedding-provider" env:"DOCENT_EMBEDDING_PROVIDER" placeholder:"NAME" help:"Where the embedding model is: local, openai, bedrock, or none as --no-meaning (default: openai with --embedding-url, local without)."`
	EmbeddingURL      string `name:"embedding-url" env:"DOCENT_EMBEDDING_URL" placeholder:"URL" help:"Address of the embedding model's server, before /embeddings; with bedrock, a custom endpoint."`
	EmbeddingSize     int    `name:"embedding-size" env:"DOCENT_EMBEDDING_SIZE" placeholder:"N" help:"How many numbers a vector has; an openai server needs it. On Bedrock 256, 512 or 1024 (default 512)."`
	EmbeddingKeyEnv   string `name:"embedding-key-env" default:"DOCENT_EMBEDDING_KEY" placeholder:"NAME" help:"Environment variable that holds the key of an openai server, if it needs one (default ${default})."`
}

// embedding returns the settings, with the provider.
func (f embeddingFlags) embedding() (app.Embedding, error) {
	e := app.Embedding{Provider: f.EmbeddingProvider, Model: f.EmbeddingModel, URL: f.EmbeddingURL, Size: f.EmbeddingSize}
	if !f.Meaning {
		e = app.Embedding{Provider: app.NoEmbedding}
	}
	return e.Resolved(func(setting string) string { return "--" + setting })
}

// openEmbedder returns the model that the flags name, or why there is none.
func (f embeddingFlags) openEmbedder(ctx context.Context) (engine embed.Engine, wordsAlone string, err error) {
	e, err := f.embedding()
	if err != nil {
		return nil, "", err
	}
	switch e.Provider {
	case app.NoEmbedding:
		return nil, "no embedding model is to be used", nil
	case app.EmbeddingOfBedrock:
		engine, err = operator.Embedder(ctx, e)
	case app.EmbeddingOfOpenAI:
		engine, err = models.OpenAIEmbedder(e, os.Getenv(f.EmbeddingKeyEnv))
	default:
		engine, err = models.LocalEmbedder(e)
		switch {
		case err != nil && e.Model != "":
			err = fmt.Errorf("--embedding-model: %w", err)
		case errors.Is(err, models.ErrNoWeights):
			return nil, err.Error() + "; docent model fetch downloads them", nil
		case err != nil: // the user has no cache
			return nil, err.Error(), nil
		}
	}
	return engine, "", err
}
