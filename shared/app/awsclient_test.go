package app_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"docent/shared/app"
)

// slowly is a connection that continues after the last byte of a request only when released.
type slowly struct {
	net.Conn
	last     string
	released <-chan struct{}
}

func (c slowly) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if strings.HasSuffix(string(p), c.last) {
		<-c.released
	}
	return n, err
}

// TestAReplyThatBeginsEarlyIsReadToItsEnd: the reply begins before the client has left the body of its request.
func TestAReplyThatBeginsEarlyIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	written := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "begin")
		_ = http.NewResponseController(w).Flush()
		<-written
		_, _ = io.WriteString(w, " and end")
	}))
	t.Cleanup(server.Close)
	left := sync.OnceFunc(func() { close(written) })
	t.Cleanup(left)

	released := make(chan struct{})
	client := app.AWSClient(awshttp.NewBuildableClient().WithTransportOptions(func(transport *http.Transport) {
		transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
			return slowly{conn, "the last word", released}, err
		}
	}))
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{WroteRequest: func(info httptrace.WroteRequestInfo) {
		if info.Err != nil {
			t.Errorf("the request was written with %v", info.Err)
		}
		left()
	}})
	request := smithyhttp.NewStackRequest().(*smithyhttp.Request)
	request, err := request.SetStream(strings.NewReader("a body and the last word"))
	if err != nil {
		t.Fatal(err)
	}
	request.Method, request.ContentLength = http.MethodPost, 24
	request.URL.Scheme, request.URL.Host = "http", strings.TrimPrefix(server.URL, "http://")
	out, _, err := smithyhttp.NewClientHandlerWithOptions(client).Handle(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	close(released)
	body := out.(*smithyhttp.Response).Body
	defer body.Close()
	if text, err := io.ReadAll(body); string(text) != "begin and end" || err != nil {
		t.Errorf("read %q, %v", text, err)
	}
}
