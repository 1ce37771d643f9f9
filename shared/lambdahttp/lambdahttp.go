// Package lambdahttp serves an http.Handler as a Lambda function behind a REST
// API of API Gateway. It is the only package that knows a proxy event.
//
// The conversion is aws-lambda-go-api-proxy's, in two halves: the one that makes
// the request and the one that collects the response. Its Proxy methods, which
// join them, turn some input of clients into function errors and let a second
// status win over the first; what stands between the halves here does neither.
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

// MaxResponse is how long the JSON form of a response may be, in bytes; Lambda
// makes a longer one a function error.
const MaxResponse = 6 << 20

// Margin is the part of an invocation's time that the handler does not get, so
// that it can still answer when its context ends. Of an invocation that has less
// than twice this left, half is kept.
const Margin = time.Second

// Function answers the events of one Lambda function.
type Function struct {
	Handler http.Handler
	Log     *slog.Logger // takes panics and responses that can not be sent; nil: slog.Default()
}

// Start serves h for as long as the process lives. It must be called by main.
func Start(h http.Handler) {
	lambda.Start((&Function{Handler: h}).Handle)
}

// Handle answers one event. Its error is always nil: what a client can cause is
// a 400 or 404, a handler that panics or answers with what can not be sent is a
// 500, all in the shape of RFC 9457.
func (f *Function) Handle(ctx context.Context, event events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	ctx, cancel := pause.WithMargin(ctx, Margin)
	defer cancel()
	r, refused := newRequest(ctx, event)
	if refused != nil {
		return refused.response(r, nil), nil
	}
	w := newWriter(r, f.log())
	if !f.serve(w, r) {
		return internal.response(r, w.header()), nil
	}
	response, err := w.response()
	if err != nil {
		f.log().ErrorContext(ctx, "response can not be sent", "err", err, "method", r.Method, "route", r.Pattern,
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

// serve runs the handler and tells whether it came to its end. A panic must not
// end the process: the next call would find a cold one.
func (f *Function) serve(w *writer, r *http.Request) (whole bool) {
	defer func() {
		p := recover()
		if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			return
		}
		if p != nil {
			f.log().ErrorContext(r.Context(), "handler panicked", "err", fmt.Sprint(p), "stack", string(debug.Stack()),
				"method", r.Method, "requestId", requestID(r, w.header()))
		}
	}()
	f.Handler.ServeHTTP(w, r)
	return true
}

// size is the length of the JSON form of response as the runtime makes it.
func size(response events.APIGatewayProxyResponse) (int, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(response)
	return text.Len(), err
}
