// Package models opens language models and embedding models, of Amazon Bedrock, of servers that
// speak OpenAI's API, and the embedding model in the process. The clients add 1 MiB to a binary,
// so only programs that use a model link it.
package models

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"

	"docent/shared/app"
	"docent/shared/llm"
	"docent/shared/llm/bedrock"
	"docent/shared/llm/openai"
)

// Bounds of one request to Bedrock.
const (
	maxAttempts = 3
	maxBackoff  = time.Second
)

// OnAWS returns the model that c names for a function, nil if it names none. It sends no
// request: the key of an OpenAI-compatible server is read with the first question.
func OnAWS(c app.Config) (llm.Composer, error) {
	switch c.ModelProvider {
	case "":
		return nil, nil
	case app.ModelOfBedrock:
		return Bedrock(app.AWSConfig(c), c.Model, c.ModelURL), nil
	case app.ModelOfOpenAI:
	default:
		return nil, fmt.Errorf("unknown model provider %q", c.ModelProvider)
	}
	model, err := OpenAI(c.ModelURL, c.Model, "") // checks the address now, even if a key is read later
	if err != nil || c.ModelKeyParameter == "" {
		return model, err
	}
	return composer{newKeyed(c, c.ModelKeyParameter, func(key string) (llm.Composer, error) { return OpenAI(c.ModelURL, c.Model, key) })}, nil
}

// OpenAI returns the model of that name on the server at baseURL, which is the address
// without /chat/completions. The key may be empty. It makes no request.
func OpenAI(baseURL, model, key string) (llm.Composer, error) {
	client, err := openai.New(baseURL, model, openai.Options{Key: key})
	if err != nil {
		return nil, err
	}
	return client, nil
}

// Bedrock returns a model by its id, or the id or ARN of an inference profile, with the
// region and the credentials of settings. All requests go to endpoint, for example one of a
// VPC; if it is empty, to the endpoint of settings or AWS's own. Bedrock makes no request.
// The only timeout is on the whole reply, because a model sends nothing until it has finished
// writing.
func Bedrock(settings aws.Config, model, endpoint string) llm.Composer {
	return bedrock.New(runtime(settings, endpoint, llm.MaxTime+time.Second), model)
}

// runtime returns the client of Bedrock. A reply may take limit.
func runtime(settings aws.Config, endpoint string, limit time.Duration) *bedrockruntime.Client {
	settings.HTTPClient = app.AWSClient(awshttp.NewBuildableClient().WithTimeout(limit))
	settings.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = maxAttempts, maxBackoff })
	}
	return bedrockruntime.NewFromConfig(settings, func(o *bedrockruntime.Options) {
		if endpoint != "" {
			o.BaseEndpoint = &endpoint
		}
	})
}
