// Package foundation opens the models of Amazon Bedrock. It stands apart from app
// because its client adds a MiB to a binary: only the functions that ask a model
// link it, and docent serve.
package foundation

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
)

// Bounds of one request to a model.
const (
	modelAttempts  = 3
	longestBackoff = time.Second
)

// Open returns the model that c names, nil when it names none. A model that is not
// of Bedrock is an error: this build has no client of it. It asks AWS nothing.
func Open(c app.Config) (llm.Composer, error) {
	switch c.ModelProvider {
	case "":
		return nil, nil
	case app.ModelOfBedrock:
		return New(app.AWSConfig(c), c.Model, c.ModelURL), nil
	}
	return nil, fmt.Errorf("this build of the function asks models of Amazon Bedrock only, and none of %s", c.ModelProvider)
}

// New returns a model by its id, or the id or ARN of an inference profile, with the
// region and the credentials of settings. The endpoint is for all requests, such as
// one of a VPC; empty: that of settings, or AWS's own. It asks AWS nothing.
// A model answers when it has written, so that no bound but that of its whole time
// is on the first byte.
func New(settings aws.Config, model, endpoint string) llm.Composer {
	settings.HTTPClient = awshttp.NewBuildableClient().WithTimeout(llm.MaxTime + time.Second)
	settings.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = modelAttempts, longestBackoff })
	}
	return bedrock.New(bedrockruntime.NewFromConfig(settings, func(o *bedrockruntime.Options) {
		if endpoint != "" {
			o.BaseEndpoint = &endpoint
		}
	}), model)
}
