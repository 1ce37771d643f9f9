package app

import (
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
		Region: c.Region,
		Credentials: aws.NewCredentialsCache(credentials.NewStaticCredentialsProvider(
			c.Credentials.KeyID, c.Credentials.Secret, c.Credentials.SessionToken)),
		HTTPClient: awshttp.NewBuildableClient().
			WithDialerOptions(func(d *net.Dialer) { d.Timeout = dialTimeout }).
			WithTransportOptions(func(t *http.Transport) {
				t.MaxIdleConns, t.MaxIdleConnsPerHost, t.IdleConnTimeout = 2*idlePerHost, idlePerHost, keepIdle
				t.TLSHandshakeTimeout, t.ResponseHeaderTimeout = tlsTimeout, answerTimeout
			}),
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

// openAWS makes the clients of a function. It sends no request.
func openAWS(c Config) engines {
	settings := AWSConfig(c)
	messages := awssqs.NewFromConfig(settings)
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
	return engines{
		table:      dynamo.New(dynamodb.NewFromConfig(settings), dynamo.Options{Names: c.Tables, Prefix: c.TablePrefix, Now: c.Now}),
		blobs:      s3.New(objects, c.Bucket, c.BlobPrefix),
		questions:  sqs.New(messages, c.QuestionsQueue),
		documents:  sqs.New(messages, c.DocumentsQueue),
		syncs:      sqs.New(messages, c.SyncsQueue),
		rebuilds:   optional(c.RebuildsQueue),
		embeddings: optional(c.EmbeddingsQueue),
	}
}

// TeamsOnAWS returns the teams and keys of the installation on AWS that c names, for
// commands. It sends no request.
func TeamsOnAWS(c Config, log *slog.Logger) *team.Service { return joinOnAWS(c, Parts{}, log).teams }
