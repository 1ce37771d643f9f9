package app

import (
	"cmp"
	"fmt"

	"docent/shared/embed"
)

// Embedding says which model embeds texts, so that search finds what is meant and not only what is written.
type Embedding struct {
	Provider string // DOCENT_EMBEDDING_PROVIDER: local, bedrock, openai or none; Resolved sets the default
	// DOCENT_EMBEDDING_MODEL: the model's name on the server, with Bedrock its id; empty: Titan there, but a server
	// needs it. With local the folder with the weights, which no function has elsewhere than next to its program.
	Model string
	URL   string // DOCENT_EMBEDDING_URL: of the model's server, before /embeddings; with Bedrock another endpoint than AWS's own
	Size  int    // DOCENT_EMBEDDING_SIZE: how many numbers a vector has; 0: the model's own, but a server needs it
	// DOCENT_EMBEDDING_KEY_PARAMETER: as DOCENT_MODEL_KEY_PARAMETER, for a server of openai.
	KeyParameter string
}

// The providers of embedding models.
const (
	EmbeddingLocal     = "local"   // in the process
	EmbeddingOfBedrock = "bedrock" // Amazon Bedrock
	EmbeddingOfOpenAI  = "openai"  // any server that speaks OpenAI's API of embeddings
	NoEmbedding        = "none"    // search goes by words alone
)

// MaxEmbeddingSize bounds the numbers of a vector.
const MaxEmbeddingSize = 4096

// Resolved returns e with its provider. The default is openai if there is an address, and local otherwise. The error
// names the wrong setting in the words of name, which returns "--embedding-model" for "embedding-model", for example.
func (e Embedding) Resolved(name func(string) string) (Embedding, error) {
	wrong := func(setting, format string, args ...any) (Embedding, error) {
		return e, fmt.Errorf("%s "+format, append([]any{name("embedding-" + setting)}, args...)...)
	}
	switch {
	case e.Provider == "" && e.URL != "":
		e.Provider = EmbeddingOfOpenAI
	case e.Provider == "":
		e.Provider = EmbeddingLocal
	}
	if e.Size < 0 || e.Size > MaxEmbeddingSize {
		return wrong("size", "is not from 1 to %d", MaxEmbeddingSize)
	}
	if e.KeyParameter != "" && e.Provider != EmbeddingOfOpenAI {
		return wrong("key-parameter", "is for a model of openai")
	}
	switch e.Provider {
	case EmbeddingLocal:
		if e.URL != "" {
			return wrong("url", "is for a model of bedrock or openai")
		}
	case EmbeddingOfOpenAI:
		switch {
		case e.URL == "":
			return wrong("url", "is not set")
		case e.Model == "":
			return wrong("model", "is not set")
		case e.Size == 0:
			return wrong("size", "is not set")
		}
	case EmbeddingOfBedrock, NoEmbedding:
	default:
		return wrong("provider", "is none of local, bedrock, openai and none")
	}
	return e, nil
}

// The models that are used if none is named. Package models has a test that the engines agree.
const (
	localName   = "all-MiniLM-L6-v2-int8"
	localSize   = 384
	bedrockID   = "amazon.titan-embed-text-v2:0"
	bedrockSize = 512
)

// Vectors returns the model that programs with these settings embed with; without a name: they embed nothing, or with
// the weights in a folder. It needs no engine.
func (e Embedding) Vectors() embed.Model {
	switch {
	case e.Provider == EmbeddingLocal && e.Model == "":
		return embed.Model{Name: localName, Size: localSize, English: true}
	case e.Provider == EmbeddingOfBedrock:
		return embed.Model{Name: "bedrock:" + cmp.Or(e.Model, bedrockID), Size: cmp.Or(e.Size, bedrockSize)}
	case e.Provider == EmbeddingOfOpenAI:
		return embed.Model{Name: "openai:" + e.Model, Size: e.Size}
	}
	return embed.Model{}
}
