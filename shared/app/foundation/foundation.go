// Package foundation opens the models of Amazon Bedrock. It stands apart from app
// because its client adds a MiB to a binary: only the function that answers
// questions links it.
package foundation

import (
	"cmp"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
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

// Open returns the model that c names, nil when it names none. It asks AWS nothing.
// A model answers when it has written, so that no bound but that of its whole time
// is on the first byte.
func Open(c app.Config) llm.Composer {
	if c.ModelProvider != app.ModelOfBedrock {
		return nil
	}
	settings := aws.Config{
		Region: c.Region,
		Credentials: aws.NewCredentialsCache(credentials.NewStaticCredentialsProvider(
			c.Credentials.KeyID, c.Credentials.Secret, c.Credentials.SessionToken)),
		HTTPClient: awshttp.NewBuildableClient().WithTimeout(llm.MaxTime + time.Second),
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = modelAttempts, longestBackoff })
		},
	}
	if endpoint := cmp.Or(c.ModelURL, c.AWSEndpoint); endpoint != "" {
		settings.BaseEndpoint = &endpoint
	}
	return bedrock.New(bedrockruntime.NewFromConfig(settings), c.Model)
}
