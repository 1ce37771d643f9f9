// Package compatible opens models that are reached by OpenAI's Chat Completions.
// It stands apart from app because its client adds 16 MiB to a binary: docent
// serve links it, the functions do not.
package compatible

import (
	"docent/shared/llm"
	"docent/shared/llm/openai"
)

// Open returns the model of that name on the server at baseURL, an address that
// ends before /chat/completions. The key may be empty. It asks the server nothing.
func Open(baseURL, model, key string) (llm.Composer, error) {
	return openai.New(baseURL, model, openai.Options{Key: key})
}
