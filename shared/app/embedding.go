package app

import "fmt"

// Embedding says which model embeds texts, so that search finds what is meant and not only what is written.
type Embedding struct {
	Provider string // DOCENT_EMBEDDING_PROVIDER: local, bedrock, openai or none; the default is that of Resolved
	// DOCENT_EMBEDDING_MODEL: the model's name on the server, with Bedrock its id, with local the folder with its
	// weights; empty: the program's own, but a server needs it.
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
		if e.Size != 0 {
			return wrong("size", "is for a model of bedrock or openai")
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
