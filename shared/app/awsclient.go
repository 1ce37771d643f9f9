package app

import (
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// AWSClient returns a client of the SDK for AWS that sends through client and reads every reply to its end. The SDK
// closes the body of a request as soon as the reply begins. If net/http has not left that body by then, it calls
// WriteTo, gets io.EOF (smithy-go 1.28.8), and closes the connection within the reply. So the body has no WriteTo here.
func AWSClient(client aws.HTTPClient) aws.HTTPClient { return awsClient{client} }

type awsClient struct{ client aws.HTTPClient }

func (c awsClient) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return c.client.Do(r)
}
