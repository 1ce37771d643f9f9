package app

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"

	"docent/shared/blob/s3"
	"docent/shared/queue"
	"docent/shared/queue/sqs"
	"docent/shared/table/dynamo"
	"docent/shared/team"
)

// Bounds of a call to AWS, each well below the time of an invocation. That time also bounds
// all attempts together, because none starts after it.
const (
	attempts       = 4
	longestBackoff = time.Second
	dialTimeout    = time.Second
	tlsTimeout     = 2 * time.Second
	answerTimeout  = 5 * time.Second  // from the request to the first byte of the answer
	keepIdle       = 40 * time.Second // AWS closes idle connections later
	idlePerHost    = 64               // a function sends many requests to one store in parallel
)

// AWSConfig returns the settings of a function's clients. It does not use the SDK's own
// search for settings: Lambda sets all of them in the environment, and the code that reads
// other sources is a tenth of a binary.
func AWSConfig(c Config) aws.Config {
	settings := aws.Config{
		Region:      c.Region,
		Credentials: aws.NewCredentialsCache(c.provider()),
		HTTPClient:  answeredIn(answerTimeout + c.patience),
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.MaxAttempts, o.MaxBackoff = attempts, longestBackoff
			})
		},
	}
	if c.AWSEndpoint != "" {
		settings.BaseEndpoint = &c.AWSEndpoint
	}
	return settings
}

// answeredIn returns a client whose requests are answered within timeout.
func answeredIn(timeout time.Duration) aws.HTTPClient {
	return AWSClient(awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = dialTimeout }).
		WithTransportOptions(func(t *http.Transport) {
			t.MaxIdleConns, t.MaxIdleConnsPerHost, t.IdleConnTimeout = 2*idlePerHost, idlePerHost, keepIdle
			t.TLSHandshakeTimeout, t.ResponseHeaderTimeout = tlsTimeout, timeout
		}))
}

// provider returns what gives the credentials of c.
func (c Config) provider() aws.CredentialsProvider {
	if c.Provider != nil {
		return c.Provider
	}
	return credentials.NewStaticCredentialsProvider(c.Credentials.KeyID, c.Credentials.Secret, c.Credentials.SessionToken)
}

// openAWS makes the clients of a function or of a standing process. It sends no request.
func openAWS(c Config) engines {
	if c.Engines != nil {
		return c.Engines.of(c)
	}
	settings := AWSConfig(c)
	messages := awssqs.NewFromConfig(settings, func(o *awssqs.Options) {
		if c.standing { // it waits for messages
			o.HTTPClient = answeredIn(queue.MaxWait + answerTimeout + c.patience)
		}
	})
	objects := awss3.NewFromConfig(settings, func(o *awss3.Options) {
		o.UsePathStyle = c.AWSEndpoint != ""               // stand-ins have no host name per bucket
		o.DisableLogOutputChecksumValidationSkipped = true // parts of objects never have one
	})
	optional := func(address string) queue.Queue {
		if address == "" {
			return nil
		}
		return sqs.New(messages, address)
	}
	blobs := s3.New(objects, c.Bucket, c.BlobPrefix)
	return engines{
		table:       dynamo.New(dynamodb.NewFromConfig(settings), dynamo.Options{Names: c.Tables, Prefix: c.TablePrefix, Now: c.Now}),
		blobs:       blobs,
		link:        blobs.Link,
		uploadLink:  blobs.UploadLink,
		questions:   sqs.New(messages, c.QuestionsQueue),
		documents:   sqs.New(messages, c.DocumentsQueue),
		syncs:       sqs.New(messages, c.SyncsQueue),
		rebuilds:    optional(c.RebuildsQueue),
		embeddings:  optional(c.EmbeddingsQueue),
		deliveries:  sqs.New(messages, c.DeliveriesQueue),
		extractions: optional(c.ExtractionsQueue),
	}
}

// UploadOrigin returns the origin of the addresses of uploads, for the dashboard. It sends no request.
func UploadOrigin(ctx context.Context, c Config) (string, error) {
	where := awss3.EndpointParameters{Bucket: &c.Bucket, Region: &c.Region}
	if c.AWSEndpoint != "" {
		where.Endpoint, where.ForcePathStyle = &c.AWSEndpoint, aws.Bool(true)
	}
	endpoint, err := awss3.NewDefaultEndpointResolverV2().ResolveEndpoint(ctx, where)
	if err != nil {
		return "", fmt.Errorf("address of the bucket: %w", err)
	}
	return endpoint.URI.Scheme + "://" + endpoint.URI.Host, nil
}

// TeamsOnAWS returns the teams and keys of the installation on AWS that c names, for
// commands. It sends no request.
func TeamsOnAWS(c Config, log *slog.Logger) *team.Service { return joinOnAWS(c, Parts{}, log).teams }
