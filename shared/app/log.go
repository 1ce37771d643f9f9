package app

import (
	"context"
	"io"
	"log/slog"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// newFunctionLog writes JSON lines to w, each with the id of the invocation that
// it belongs to.
func newFunctionLog(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(invocation{slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})})
}

type invocation struct{ slog.Handler }

// Handle adds the invocation of ctx to a record.
func (h invocation) Handle(ctx context.Context, r slog.Record) error {
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		r = r.Clone()
		r.AddAttrs(slog.String("invocation", lc.AwsRequestID))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs keeps the wrapping.
func (h invocation) WithAttrs(attributes []slog.Attr) slog.Handler {
	return invocation{h.Handler.WithAttrs(attributes)}
}

// WithGroup keeps the wrapping.
func (h invocation) WithGroup(name string) slog.Handler {
	return invocation{h.Handler.WithGroup(name)}
}
