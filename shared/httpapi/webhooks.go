package httpapi

import (
	"context"
	"encoding/json"
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

// webhooks are the operations of senders without a key, which sign the body instead.
type webhooks struct{ Services }

// isSigned reports whether the operation at pattern checks a signature instead of a
// key.
func isSigned(pattern string) bool { return strings.HasPrefix(pattern, "POST /webhooks/") }

func (h *webhooks) routes(api huma.API, m *mux) {
	m.sender = h.find
	operation := func(id, path, summary string) huma.Operation {
		return huma.Operation{OperationID: id, Method: http.MethodPost, Path: path, Summary: summary, Tags: []string{"Data sources"},
			DefaultStatus: http.StatusAccepted, Security: []map[string][]string{{}}}
	}
	register(api, operation("takeGitHubDelivery", "/webhooks/github/{dataSourceId}", "Take a delivery of GitHub"), h.github)
	slack := operation("takeSlackEvent", "/webhooks/slack/{dataSourceId}", "Take an event of Slack")
	slack.Responses = map[string]*huma.Response{"200": {Description: "The reply to Slack's check of the URL.",
		Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: huma.TypeObject,
			Properties: map[string]*huma.Schema{"challenge": {Type: huma.TypeString}}, Required: []string{"challenge"}}}}}}
	slack.Responses["202"] = &huma.Response{Description: "Accepted"}
	register(api, slack, h.slack)
}

// findSender returns the data source that a delivery names, or the error to refuse it
// with.
type findSender func(r *http.Request, pattern string) (source.Sender, error)

// identify finds the sender of a delivery before any of its body is read.
func (m *mux) identify(r *http.Request, pattern string) error {
	var err error
	requestFrom(r.Context()).sender, err = m.sender(r, pattern)
	return err
}

// signatureForm matches every possible signature.
var signatureForm = regexp.MustCompile(`^(sha256|v0)=[0-9a-fA-F]{64}$`)

func (h *webhooks) find(r *http.Request, pattern string) (source.Sender, error) {
	provider, header := source.GitHub, "X-Hub-Signature-256"
	if strings.HasPrefix(pattern, "POST /webhooks/slack/") {
		provider, header = source.Slack, "X-Slack-Signature"
	}
	sender, err := h.Sources.Sender(r.Context(), r.PathValue("dataSourceId"), provider)
	if err == nil && !signatureForm.MatchString(r.Header.Get(header)) {
		err = sender.Refusal()
		h.rejected(r.Context(), err)
	}
	return sender, err
}

type githubInput struct {
	DataSourcePath
	Signature string `header:"X-Hub-Signature-256" doc:"sha256= and the hex HMAC-SHA-256 of the body."`
	Event     string `header:"X-GitHub-Event"`
	Delivery  string `header:"X-GitHub-Delivery"`
	body      []byte
}

// Resolve takes the body as received; huma calls it.
func (in *githubInput) Resolve(ctx huma.Context) []error { return readAll(ctx, &in.body) }

// Resolve takes the body as received; huma calls it.
func (in *slackInput) Resolve(ctx huma.Context) []error { return readAll(ctx, &in.body) }

func readAll(ctx huma.Context, into *[]byte) []error {
	body, err := io.ReadAll(ctx.BodyReader())
	*into = body
	if err != nil {
		return []error{err}
	}
	return nil
}

// describeSigned adds to the document that op takes a JSON object, which huma must not
// read, and that its success has no body except for Slack's check.
func describeSigned(op *huma.Operation) {
	op.RequestBody = &huma.RequestBody{Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: huma.TypeObject}}}}
	op.Responses["202"].Content, op.Responses["202"].Headers = nil, nil
}

func (h *webhooks) github(ctx context.Context, in *githubInput) (*struct{}, error) {
	err := h.Sources.TakeGitHub(ctx, requestFrom(ctx).sender, source.Delivery{Signature: in.Signature, Event: in.Event,
		ID: in.Delivery, Body: in.body, RequestID: requestFrom(ctx).id})
	h.rejected(ctx, err)
	return nil, err
}

// rejected records that a delivery to a known data source was refused, at most once a
// minute for each source. A failure to do so is logged.
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

type slackInput struct {
	DataSourcePath
	Signature string `header:"X-Slack-Signature" doc:"v0= and the hex HMAC-SHA-256 of v0:, the timestamp, : and the body."`
	Timestamp string `header:"X-Slack-Request-Timestamp" doc:"Unix seconds, at most 5 minutes off."`
	body      []byte
}

type slackOutput struct {
	Status      int
	ContentType string `header:"Content-Type"`
	Body        []byte
}

func (h *webhooks) slack(ctx context.Context, in *slackInput) (*slackOutput, error) {
	challenge, err := h.Sources.TakeSlack(ctx, requestFrom(ctx).sender, source.SlackRequest{Signature: in.Signature, Timestamp: in.Timestamp,
		Body: in.body, RequestID: requestFrom(ctx).id})
	h.rejected(ctx, err)
	if err != nil || challenge == "" {
		return &slackOutput{Status: http.StatusAccepted}, err
	}
	body, err := json.Marshal(map[string]string{"challenge": challenge})
	return &slackOutput{Status: http.StatusOK, ContentType: "application/json", Body: body}, err
}
