package lambdahttp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"docent/shared/pause"
)

// StartStreaming is Start for a function whose integration has the response transfer mode STREAM:
// clients receive every response while the handler writes it. It needs the build tag lambda.norpc.
func StartStreaming(h http.Handler) {
	lambda.Start((&Function{Handler: h}).Stream)
}

// errAborted ends the body of a handler that did not return. Lambda reports it to the gateway.
var errAborted = errors.New("the handler did not return")

// Stream answers one event. It returns when the status and the headers are known. The body
// follows while the handler writes it and ends when the handler returns, so the invocation includes
// all that the handler does. A panic before the first byte is a 500; after it, the body
// breaks off with an error. The error of Stream is always nil.
func (f *Function) Stream(ctx context.Context, event events.APIGatewayProxyRequest) (*events.APIGatewayProxyStreamingResponse, error) {
	ctx, cancel := pause.WithMargin(ctx, Margin)
	r, refused := newRequest(ctx, event)
	if refused != nil {
		cancel()
		return streamed(refused.response(r, nil)), nil
	}
	reader, sink := io.Pipe()
	w := &streamWriter{writer: newWriter(r, f.log()), sink: sink, body: reader, begun: make(chan *events.APIGatewayProxyStreamingResponse, 1)}
	go func() {
		defer cancel()
		w.end(f.serve(w, w.writer, r))
	}()
	return <-w.begun, nil
}

// streamed returns a complete response as a stream.
func streamed(r events.APIGatewayProxyResponse) *events.APIGatewayProxyStreamingResponse {
	return &events.APIGatewayProxyStreamingResponse{StatusCode: r.StatusCode, MultiValueHeaders: r.MultiValueHeaders, Body: strings.NewReader(r.Body)}
}

// streamWriter is a writer that sends the body at once instead of keeping it.
type streamWriter struct {
	*writer
	sink  *io.PipeWriter
	body  *io.PipeReader
	begun chan *events.APIGatewayProxyStreamingResponse // receives the response, once
}

// WriteHeader sends the status and the headers when they are final.
func (w *streamWriter) WriteHeader(status int) {
	known := w.status != 0
	w.writer.WriteHeader(status)
	if !known && w.status != 0 {
		w.begun <- &events.APIGatewayProxyStreamingResponse{StatusCode: w.status, MultiValueHeaders: w.sent.Header(), Body: w.body}
	}
}

// Flush sends the status and the headers. Bytes never wait.
func (w *streamWriter) Flush() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
}

func (w *streamWriter) Write(body []byte) (int, error) {
	w.Flush()
	switch {
	case w.forbidden:
		return 0, http.ErrBodyNotAllowed
	case w.r.Method == http.MethodHead || len(body) == 0:
		return len(body), nil
	}
	return w.sink.Write(body)
}

// end ends the response of a handler that returned, or not.
func (w *streamWriter) end(whole bool) {
	switch {
	case whole:
		w.Flush()
		_ = w.sink.Close()
	case w.status == 0:
		w.begun <- streamed(internal.response(w.r, w.header()))
	default:
		_ = w.sink.CloseWithError(errAborted)
	}
}
