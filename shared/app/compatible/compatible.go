// Package compatible opens models that are reached by OpenAI's Chat Completions.
// It stands apart from app because its client adds 15 MiB to a binary: docent serve
// links it, and the builds of functions that are deployed for such a model alone.
package compatible

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"docent/shared/app"
	"docent/shared/llm"
	"docent/shared/llm/openai"
)

// Open returns the model of that name on the server at baseURL, an address that
// ends before /chat/completions. The key may be empty. It asks the server nothing.
func Open(baseURL, model, key string) (llm.Composer, error) {
	client, err := openai.New(baseURL, model, openai.Options{Key: key})
	if err != nil {
		return nil, err
	}
	return client, nil
}

// OnAWS returns the model that c names, nil when it names none. A model that is not
// of an OpenAI-compatible server is an error: this build has no client of it. It
// asks nothing and nobody: the key is read when the model is asked first.
func OnAWS(c app.Config) (llm.Composer, error) {
	switch c.ModelProvider {
	case "":
		return nil, nil
	case app.ModelOfOpenAI:
	default:
		return nil, fmt.Errorf("this build of the function asks OpenAI-compatible servers only, and none of %s", c.ModelProvider)
	}
	model, err := Open(c.ModelURL, c.Model, "") // also tells at once what is wrong with the address
	if err != nil || c.ModelKeyParameter == "" {
		return model, err
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &keyed{parameters: ssm.NewFromConfig(app.AWSConfig(c)), parameter: c.ModelKeyParameter, now: c.Now,
		open: func(key string) (llm.Composer, error) { return Open(c.ModelURL, c.Model, key) }}, nil
}
