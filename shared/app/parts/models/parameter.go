package models

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"docent/shared/pause"
)

// maxParameter bounds a reply of Parameter Store, whose values have at most 8 KB.
const maxParameter = 64 << 10

// parameter is a value in Parameter Store of AWS Systems Manager. One request, signed by the
// SDK, reads it; the SDK's client of the service would add 1.2 MiB to two functions.
type parameter struct {
	settings aws.Config
	name     string // or ARN
}

// secret reads the decrypted value, with the retries of settings. An unencrypted value
// is an error.
func (p parameter) secret(ctx context.Context) (string, error) {
	retryer := p.settings.Retryer()
	for attempt := 1; ; attempt++ {
		value, err := p.read(ctx)
		if err == nil || attempt == retryer.MaxAttempts() || !retryer.IsErrorRetryable(err) {
			return value, err
		}
		wait, refused := retryer.RetryDelay(attempt, err)
		if refused != nil || pause.For(ctx, wait) != nil {
			return "", err
		}
	}
}

// read makes one request of GetParameter.
func (p parameter) read(ctx context.Context) (string, error) {
	body, err := json.Marshal(map[string]any{"Name": p.name, "WithDecryption": true})
	if err != nil {
		return "", err
	}
	address, err := p.endpoint(ctx)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.1")
	request.Header.Set("X-Amz-Target", "AmazonSSM.GetParameter")
	own, err := p.settings.Credentials.Retrieve(ctx)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(ctx, own, request, hex.EncodeToString(sum[:]), "ssm", p.settings.Region, time.Now()); err != nil {
		return "", err
	}
	reply, err := p.settings.HTTPClient.Do(request)
	if err != nil {
		return "", &smithyhttp.RequestSendError{Err: err}
	}
	defer func() { _ = reply.Body.Close() }()
	var read struct {
		Type      string `json:"__type"` // of an error
		Parameter struct{ Type, Value string }
	}
	bad := json.NewDecoder(io.LimitReader(reply.Body, maxParameter)).Decode(&read)
	switch {
	case reply.StatusCode != http.StatusOK:
		code := read.Type[strings.LastIndex(read.Type, "#")+1:]
		return "", &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: reply}, Err: &smithy.GenericAPIError{Code: code}}
	case bad != nil:
		return "", errors.New("the reply of Parameter Store cannot be read")
	case read.Parameter.Type != "SecureString":
		return "", errors.New("the parameter is not a SecureString")
	}
	return read.Parameter.Value, nil
}

// endpoint returns the address of Parameter Store. Each partition of AWS has its own domain,
// which is taken from a client of the SDK that is linked anyway.
func (p parameter) endpoint(ctx context.Context) (string, error) {
	if p.settings.BaseEndpoint != nil {
		return *p.settings.BaseEndpoint, nil
	}
	queues, err := sqs.NewDefaultEndpointResolverV2().ResolveEndpoint(ctx, sqs.EndpointParameters{Region: &p.settings.Region})
	if err != nil {
		return "", err
	}
	return strings.Replace(queues.URI.String(), "://sqs.", "://ssm.", 1), nil
}
