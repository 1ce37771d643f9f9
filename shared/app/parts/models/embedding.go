package models

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"docent/shared/app"
	"docent/shared/embed"
	"docent/shared/embed/bedrock"
	"docent/shared/embed/local"
	"docent/shared/embed/openai"
	"docent/shared/embed/weights"
)

// ErrNoWeights means that a folder does not have the files of an embedding model.
var ErrNoWeights = errors.New("there are no weights of an embedding model")

// besideProgram is the folder next to a function's program that has the weights.
const besideProgram = "model"

// EmbedderOnAWS returns the embedding model that c names for a function, or why it has none: because it is not to have
// one, or because the weights are missing. The weights are in the folder "model" next to the program. It sends no
// request, and does not load the model.
func EmbedderOnAWS(c app.Config) (engine embed.Engine, wordsAlone string, err error) {
	e := c.Embedding
	switch e.Provider {
	case app.NoEmbedding:
		return nil, "no embedding model is to be used", nil
	case app.EmbeddingOfBedrock:
		engine, err = BedrockEmbedder(app.AWSConfig(c), e)
		return engine, "", err
	case app.EmbeddingOfOpenAI:
		engine, err = OpenAIEmbedder(e, "") // checks the settings now, even if a key is read later
		if err == nil && e.KeyParameter != "" {
			engine = embedder{newKeyed(c, e.KeyParameter, func(key string) (embed.Engine, error) { return OpenAIEmbedder(e, key) }), engine.Model()}
		}
		return engine, "", err
	case app.EmbeddingLocal:
		program, err := os.Executable()
		if err != nil {
			return nil, "", fmt.Errorf("find the weights of the embedding model: %w", err)
		}
		if engine, err = localEmbedder(filepath.Join(filepath.Dir(program), besideProgram), e); errors.Is(err, ErrNoWeights) {
			return nil, err.Error(), nil
		}
		return engine, "", err
	}
	return nil, "", fmt.Errorf("unknown provider of embedding models %q", e.Provider)
}

// LocalEmbedder returns the model in the process with the weights in the folder e.Model, which is the result of
// FindWeights if it is empty. It returns ErrNoWeights if a file is missing, and loads the model with the first text.
func LocalEmbedder(e app.Embedding) (embed.Engine, error) {
	found, err := FindWeights(e.Model)
	if err != nil {
		return nil, err
	}
	return localEmbedder(found.Folder, e)
}

func localEmbedder(folder string, e app.Embedding) (embed.Engine, error) {
	for _, name := range []string{local.ModelFile, local.TokenizerFile} {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: %s is missing", ErrNoWeights, path)
		} else if err != nil {
			return nil, fmt.Errorf("find the weights of the embedding model: %w", err)
		}
	}
	model, err := localModel(filepath.Join(folder, local.ModelFile), e)
	if err != nil {
		return nil, fmt.Errorf("read the weights of the embedding model: %w", err)
	}
	return local.New(folder, model), nil
}

// localModel returns the model of a file of weights. If it is not the published one, its name comes from its content.
func localModel(path string, e app.Embedding) (embed.Model, error) {
	model := local.MiniLM
	if e.Model == "" {
		return model, nil
	}
	opened, err := os.Open(path)
	if err != nil {
		return model, err
	}
	defer func() { _ = opened.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(hash, opened); err != nil {
		return model, err
	}
	if sum := hex.EncodeToString(hash.Sum(nil)); sum != weights.ModelSHA256 {
		model.Name, model.English = "local:"+sum[:16], false
	}
	if e.Size > 0 {
		model.Size = e.Size
	}
	return model, nil
}

// OpenAIEmbedder returns the model that e names on its server. The key may be empty. It makes no request.
func OpenAIEmbedder(e app.Embedding, key string) (embed.Engine, error) {
	engine, err := openai.New(e.URL, e.Model, e.Size, openai.Options{Key: key})
	if err != nil {
		return nil, err
	}
	return engine, nil
}

// embeddingTime is how long Bedrock's reply to one text may take.
const embeddingTime = 10 * time.Second

// BedrockEmbedder returns the model that e names, or Titan if it names none, with the region and the credentials of
// settings. All requests go to e.URL; if it is empty, to the endpoint of settings or AWS's own. It makes no request.
func BedrockEmbedder(settings aws.Config, e app.Embedding) (embed.Engine, error) {
	engine, err := bedrock.New(runtime(settings, e.URL, embeddingTime), e.Model, e.Size)
	if err != nil {
		return nil, err
	}
	return engine, nil
}
