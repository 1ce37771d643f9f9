package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/source"
)

// webhooks has an operation for each provider that sends deliveries. Their senders
// have no key: the signature of the body authenticates them.
type webhooks struct{ Services }

const webhookPrefix = "POST /webhooks/"

// isSigned reports whether the operation at pattern checks a signature instead of a
// key.
func isSigned(pattern string) bool { return strings.HasPrefix(pattern, webhookPrefix) }

func (h *webhooks) routes(api huma.API, m *mux) {
	signatures := map[string]signature{}
	for _, p := range h.Sources.Providers {
		if p.Webhook == nil {
			continue
		}
		path := "/webhooks/" + string(p.Name) + "/{dataSourceId}"
		signatures["POST "+path] = signature{p.Name, p.Webhook.Headers[0].Name, regexp.MustCompile(p.Webhook.Signature)}
		op := huma.Operation{OperationID: p.Webhook.OperationID, Method: http.MethodPost, Path: path, Summary: p.Webhook.Summary,
			Tags: []string{"Data sources"}, DefaultStatus: http.StatusAccepted, Security: []map[string][]string{{}},
			Parameters: []*huma.Param{{Name: "dataSourceId", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}}},
			Responses:  map[string]*huma.Response{"202": {Description: "Accepted"}}}
		for _, header := range p.Webhook.Headers {
			op.Parameters = append(op.Parameters, &huma.Param{Name: header.Name, In: "header", Description: header.Help,
				Schema: &huma.Schema{Type: huma.TypeString, Description: header.Help}})
		}
		if p.Webhook.Reply != "" {
			op.Responses["200"] = &huma.Response{Description: p.Webhook.Reply,
				Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: huma.TypeObject,
					Properties: map[string]*huma.Schema{p.Webhook.ReplyText: {Type: huma.TypeString}}, Required: []string{p.Webhook.ReplyText}}}}}
		}
		register(api, op, h.deliver)
	}
	m.sender = func(r *http.Request, pattern string) (source.Sender, error) { return h.find(r, signatures[pattern]) }
}

// findSender returns the data source that a delivery names, or the error that refuses the
// delivery.
type findSender func(r *http.Request, pattern string) (source.Sender, error)

// identify finds the sender of a delivery before any of its body is read.
func (m *mux) identify(r *http.Request, pattern string) error {
	var err error
	requestFrom(r.Context()).sender, err = m.sender(r, pattern)
	return err
}

// signature says which header of a provider's deliveries has the signature, and its form.
type signature struct {
	provider source.ProviderName
	header   string
	form     *regexp.Regexp
}

func (h *webhooks) find(r *http.Request, s signature) (source.Sender, error) {
	sender, err := h.Sources.Sender(r.Context(), r.PathValue("dataSourceId"), s.provider)
	if err == nil && !s.form.MatchString(r.Header.Get(s.header)) {
		err = sender.Refusal()
		h.rejected(r.Context(), err)
	}
	return sender, err
}

type deliveryInput struct {
	header func(string) string
	body   []byte
}

// Resolve takes the headers and the body as received; huma calls it.
func (in *deliveryInput) Resolve(ctx huma.Context) []error {
	in.header = ctx.Header
	var body bytes.Buffer
	_, err := io.Copy(&body, ctx.BodyReader()) // in one piece, because it has been received
	in.body = body.Bytes()
	if err != nil {
		return []error{err}
	}
	return nil
}

// describeSigned documents that op takes a JSON object, which huma does not read, and that
// it answers 202 without a body.
func describeSigned(op *huma.Operation) {
	op.RequestBody = &huma.RequestBody{Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: huma.TypeObject}}}}
	op.Responses["202"].Content, op.Responses["202"].Headers = nil, nil
}

type deliveryOutput struct {
	Status      int
	ContentType string `header:"Content-Type"`
	Body        []byte
}

func (h *webhooks) deliver(ctx context.Context, in *deliveryInput) (*deliveryOutput, error) {
	r := requestFrom(ctx)
	reply, err := h.Sources.Deliver(ctx, r.sender, source.Delivery{Header: in.header, Body: in.body, RequestID: r.id})
	h.rejected(ctx, err)
	if err != nil || reply == nil {
		return &deliveryOutput{Status: http.StatusAccepted}, err
	}
	return &deliveryOutput{Status: http.StatusOK, ContentType: "application/json", Body: reply}, nil
}

// rejected records a refused delivery to a known data source, at most once a minute for each
// source. A failure to record it is logged.
func (h *webhooks) rejected(ctx context.Context, err error) {
	var r *source.RejectedError
	if h.Events == nil || !errors.As(err, &r) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordFor)
	defer cancel()
	err = h.Events.RecordRefusal(ctx, r.TeamID, r.SourceID, audit.Event{Type: audit.WebhookRejected,
		Outcome: audit.Outcome{Result: audit.Failure, Reason: apierr.CodeUnauthorized, StatusCode: http.StatusUnauthorized},
		Targets: []audit.Target{{Type: audit.TargetDataSource, ID: r.SourceID}}})
	if err != nil {
		h.Log.WarnContext(ctx, "refusal not recorded", "dataSource", r.SourceID, "err", err)
	}
}
