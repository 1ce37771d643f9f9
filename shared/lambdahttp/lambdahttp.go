// Package lambdahttp serves an http.Handler as a Lambda function behind a REST
// API of API Gateway. It is the only package that knows a proxy event.
//
// The conversion of requests and responses is aws-lambda-go-api-proxy's. Its Proxy
// methods, which join the two, are not used: they turn some client input into function
// errors, and a second status replaces the first.
//
// Responses are text: a body that is not UTF-8 is answered with 500, because the
// gateway passes base64 on as it is unless the media type is listed with it.
// Flush is accepted and does nothing.
package lambdahttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"docent/shared/pause"
)

// MaxResponse is the maximum length of the JSON form of a response in bytes. Lambda
// turns a longer one into a function error.
const MaxResponse = 6 << 20

// Margin is the time before the end of an invocation at which the handler's context
// ends, so that it can still answer. If less than twice the Margin is left, half of
// that is kept.
const Margin = time.Second

// Function answers the events of one Lambda function.
type Function struct {
	Handler http.Handler
	Log     *slog.Logger // takes panics and responses that cannot be sent; nil: slog.Default()
}

// Start serves h until the process ends. Only main may call it.
func Start(h http.Handler) {
	lambda.Start((&Function{Handler: h}).Handle)
}

// Handle answers one event. Its error is always nil: a bad event is a 400 or 404, a
// panic or a response that cannot be sent a 500, all as RFC 9457 problems.
func (f *Function) Handle(ctx context.Context, event events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	ctx, cancel := pause.WithMargin(ctx, Margin)
	defer cancel()
	r, refused := newRequest(ctx, event)
	if refused != nil {
		return refused.response(r, nil), nil
	}
	w := newWriter(r, f.log())
	if !f.serve(w, w, r) {
		return internal.response(r, w.header()), nil
	}
	response, err := w.response()
	if err != nil {
		f.log().ErrorContext(ctx, "response cannot be sent", "err", err, "method", r.Method, "route", r.Pattern,
			"requestId", requestID(r, w.header()))
		return internal.response(r, w.header()), nil
	}
	return response, nil
}

func (f *Function) log() *slog.Logger {
	if f.Log == nil {
		return slog.Default()
	}
	return f.Log
}

// serve runs the handler and reports whether it returned. A panic must not end the
// process: the next call would need a cold start. The headers for its log line are those of sent.
func (f *Function) serve(w http.ResponseWriter, sent *writer, r *http.Request) (whole bool) {
	defer func() {
		p := recover()
		if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			return
		}
		if p != nil {
			f.log().ErrorContext(r.Context(), "handler panicked", "err", fmt.Sprint(p), "stack", string(debug.Stack()),
				"method", r.Method, "requestId", requestID(r, sent.header()))
		}
	}()
	f.Handler.ServeHTTP(w, r)
	return true
}

// size returns the length of the JSON form of response as the runtime makes it.
func size(response events.APIGatewayProxyResponse) (int, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(response)
	return text.Len(), err
}
