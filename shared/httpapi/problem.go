package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/memory"
	"docent/shared/quota"
	"docent/shared/rate"
	"docent/shared/table"
)

const problemType = "application/problem+json"

// problem is the body of every error: an RFC 9457 problem object that always
// carries the integer status.
type problem struct {
	Status    int            `json:"status" doc:"The HTTP status."`
	Type      string         `json:"type,omitempty" doc:"Identifies the kind of problem (RFC 9457 section 3.1.1)."`
	Title     string         `json:"title,omitempty" doc:"The kind of problem in words."`
	Detail    string         `json:"detail,omitempty" doc:"This problem in one sentence."`
	Code      string         `json:"code,omitempty" doc:"What clients match on."`
	RequestID string         `json:"requestId,omitempty" doc:"The X-Request-Id of the reply."`
	Errors    []apierr.Field `json:"errors,omitempty" doc:"The faulty fields or parameters."`

	ViolatedPolicies []string `json:"violated-policies,omitempty" doc:"The quotas or limits that are used up."`
	ResetsAt         string   `json:"resetsAt,omitempty" doc:"When the daily quota is full again."`
	OldestCursor     string   `json:"oldestCursor,omitempty" doc:"The cursor to continue from after one that is past retention."`

	ChatError *chatError `json:"error,omitempty" doc:"The same in the form of OpenAI's API, whose clients read it; only in replies to operations that they call."`

	headers http.Header
}

func (p *problem) Error() string { return p.Detail }

// GetStatus returns the status of the reply; huma calls it.
func (p *problem) GetStatus() int { return p.Status }

// GetHeaders returns the headers of the reply; huma calls it.
func (p *problem) GetHeaders() http.Header { return p.headers }

const unauthorizedDetail = "A valid API key is required in the header Authorization: Bearer <key>."

var titles = map[string]string{
	apierr.CodeInvalidRequest:      "Invalid request",
	apierr.CodeInvalidCursor:       "Invalid cursor",
	apierr.CodeUnauthorized:        "Unauthorized",
	apierr.CodeAdminRequired:       "Admin required",
	apierr.CodeSAMLNotConfigured:   "SAML not configured",
	apierr.CodeLinkExpired:         "Sign-in link expired",
	apierr.CodeSignOnRequired:      "Single sign-on required",
	apierr.CodeSignOnNotTested:     "Single sign-on not tested",
	apierr.CodeSignOnNotConfigured: "Single sign-on not set up",
	apierr.CodeCrossOrigin:         "Request from another origin",
	apierr.CodeWrongKeyKind:        "Wrong kind of key",
	apierr.CodeKeyRestricted:       "Key is restricted",
	apierr.CodeMissingScope:        "Key lacks a scope",
	apierr.CodeKeyExpiresFirst:     "Key expires first",
	apierr.CodeSourceNotAllowed:    "Data source not allowed",
	apierr.CodeAccessDenied:        "Access denied",
	apierr.CodeActingNotAllowed:    "Acting not allowed",
	apierr.CodeUserNotActive:       "User not active",
	apierr.CodeNotFound:            "Not found",
	apierr.CodeMethodNotAllowed:    "Method not allowed",
	apierr.CodeCollectionLimit:     "Collection limit reached",
	apierr.CodeDataSourceLimit:     "Data source limit reached",

	apierr.CodeWebhookEndpointLimit:    "Webhook endpoint limit reached",
	apierr.CodeWebhookEndpointDisabled: "Webhook endpoint disabled",

	apierr.CodeAnswerConflict:      "Question id is taken",
	apierr.CodeAccessChanged:       "Access changed",
	apierr.CodeUploadLimit:         "Upload limit reached",
	apierr.CodeUploadIncomplete:    "Upload is not complete",
	apierr.CodeUploadUsed:          "Upload is used",
	apierr.CodeNotSynced:           "Data source is not synced",
	apierr.CodeIdempotencyConflict: "Idempotency key is taken",
	apierr.CodeCursorExpired:       "Cursor expired",
	apierr.CodePreconditionFailed:  "Precondition failed",
	apierr.CodeTooLarge:            "Request too large",
	apierr.CodeUnsupportedMedia:    "Unsupported media type",
	apierr.CodeQuotaExceeded:       "Daily quota exceeded",
	apierr.CodeRateExceeded:        "Too many requests",
	apierr.CodeInternal:            "Internal error",
	apierr.CodeUnavailable:         "Temporarily unavailable",
	apierr.CodeDocumentDamaged:     "Document is damaged",
}

func newProblem(ctx context.Context, status int, code, detail string) *problem {
	return &problem{Status: status, Type: "urn:docent:problem:" + code, Title: titles[code], Detail: detail,
		Code: code, RequestID: requestFrom(ctx).id, headers: http.Header{}}
}

// toProblem turns an error into a problem for the client. It has text of apierr only; an
// unclassified error is logged and answered as internal.
func toProblem(ctx context.Context, err error) *problem {
	var p *problem
	if errors.As(err, &p) {
		return p
	}
	var e *apierr.Error
	if !errors.As(err, &e) || e.Kind == apierr.Internal {
		e = classify(err)
	}
	refused := errors.Is(err, memory.ErrBusy) // by a limit, as intended
	if !refused && (e.Kind == apierr.Internal || e.Kind == apierr.Unavailable || e.Kind == apierr.Damaged) {
		requestFrom(ctx).cause = err
	}
	requestFrom(ctx).code = e.Code
	p = newProblem(ctx, e.Kind.Status(), e.Code, e.Detail)
	p.Errors = e.Fields
	var exceeded *quota.ExceededError
	if errors.As(err, &exceeded) {
		now := requestFrom(ctx).arrived
		p.Type = "https://iana.org/assignments/http-problem-types#quota-exceeded"
		p.Title, p.ViolatedPolicies = exceeded.Title(), []string{exceeded.Name}
		p.ResetsAt = formatTime(exceeded.Window.Reset)
		p.headers.Set("Retry-After", strconv.FormatInt(exceeded.RetryAfter(now), 10))
		requestFrom(ctx).addQuota(exceeded.State)
		requestFrom(ctx).exceeded = &exceeded.State
		if requestFrom(ctx).chat {
			p.headers.Set("X-Should-Retry", "false") // clients of OpenAI's API repeat a 429 within seconds, which is in vain until tomorrow
		}
	}
	var limited *rate.ExceededError
	if errors.As(err, &limited) {
		p.Type = "https://iana.org/assignments/http-problem-types#quota-exceeded"
		p.ViolatedPolicies = []string{limited.Name}
		p.headers.Set("Retry-After", strconv.FormatInt(limited.RetryAfter(), 10))
		requestFrom(ctx).addQuota(limited.State)
	}
	var expired *audit.ExpiredError
	if errors.As(err, &expired) {
		p.OldestCursor = expired.Oldest
	}
	switch e.Kind {
	case apierr.Unauthenticated:
		p.headers.Set("WWW-Authenticate", "Bearer")
	case apierr.Unavailable:
		p.headers.Set("Retry-After", "1")
	}
	if requestFrom(ctx).chat {
		p.ChatError = chatErrorOf(p)
	}
	return p
}

// classify returns the error for clients of an error without text for them: unavailable
// for a failure of a store, otherwise internal.
func classify(err error) *apierr.Error {
	if errors.Is(err, memory.ErrBusy) {
		return busy()
	}
	if table.IsFull(err) { // of docent serve
		return apierr.New(apierr.Unavailable, apierr.CodeUnavailable, "The disk of the server is full, so that nothing was changed. Try again when its operator has made room.")
	}
	if table.IsUnwritable(err) { // the same; a disk that fails may have stored it
		return apierr.New(apierr.Unavailable, apierr.CodeUnavailable, "The disk of the server fails, is read-only or is missing. Try again when its operator has mended it.")
	}
	for _, passing := range []error{table.ErrConflict, table.ErrThrottled, table.ErrUnavailable,
		context.DeadlineExceeded, context.Canceled} {
		if errors.Is(err, passing) {
			return apierr.New(apierr.Unavailable, apierr.CodeUnavailable, "The service is temporarily unavailable. Try again.")
		}
	}
	return apierr.New(apierr.Internal, apierr.CodeInternal, "An internal error occurred. Give the request id to support.")
}

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// writeError answers a request outside of huma's operations.
func writeError(w http.ResponseWriter, r *http.Request, err error) {
	if isSCIM(r.URL.Path) {
		writeSCIMError(w, r, err)
		return
	}
	p := toProblem(r.Context(), err)
	for name, values := range p.headers {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(p.Status)
	var whole any = p
	if r.Method == http.MethodPost && r.URL.Path == mcpPath {
		whole = refusedMessageOf(p)
	}
	body, err := json.Marshal(whole)
	if err != nil {
		return // a problem has no member that can fail to encode
	}
	_, _ = w.Write(append(body, '\n')) // with a line break like huma's bodies; the client may be gone
}

// ContentType returns application/problem+json; the edge changes it to application/json
// unless Accept names it.
func (p *problem) ContentType(string) string { return problemType }

// huma keeps its settings and the constructors of its own errors in package
// variables. They are set once, before any operation is registered.
func init() {
	huma.DefaultArrayNullable = false
	huma.ValidateStrictCasing = true
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		return fromHuma(context.Background(), status, errs)
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, _ string, errs ...error) huma.StatusError {
		return fromHuma(ctx.Context(), status, errs)
	}
}

// fromHuma returns the problem of a request that failed validation. It names the field
// and the rule, never the value.
func fromHuma(ctx context.Context, status int, errs []error) *problem {
	switch {
	case status == 0:
		return &problem{} // huma asks for the type
	case status == http.StatusUnsupportedMediaType:
		return toProblem(ctx, unsupportedMedia())
	case status >= 500:
		return toProblem(ctx, fmt.Errorf("reply could not be made: %w", errors.Join(errs...)))
	}
	e := apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The request is not valid.")
	for _, err := range errs {
		var detail *huma.ErrorDetail
		if errors.As(err, &detail) {
			e.Fields = append(e.Fields, fieldOf(detail))
		}
	}
	e.Fields = slices.CompactFunc(e.Fields, func(a, b apierr.Field) bool { return a == b || a.Pointer != "" && a.Pointer == b.Pointer }) // the first says enough
	const most = 20
	e.Fields = e.Fields[:min(len(e.Fields), most)]
	if len(e.Fields) > 0 {
		where := "the body"
		if pointer := e.Fields[0].Pointer; pointer != "" {
			where = pointer + ":"
		}
		e.Detail = fmt.Sprintf("The request is not valid: %s %s.", where, e.Fields[0].Detail)
	} else if len(errs) == 0 && requestFrom(ctx).bodyless {
		e.Detail = "The request is not valid: it needs a JSON body."
	}
	return toProblem(ctx, e)
}

func fieldOf(fault *huma.ErrorDetail) apierr.Field {
	if name, ok := strings.CutPrefix(fault.Message, nullMember); ok {
		return apierr.Field{Pointer: "/" + name, Detail: "must not be null"}
	}
	if detail, ok := strings.CutPrefix(fault.Message, notJSON); ok {
		return apierr.Field{Detail: detail}
	}
	if fault, ok := strings.CutPrefix(fault.Message, memberFault); ok {
		pointer, detail, _ := strings.Cut(fault, " ")
		return apierr.Field{Pointer: pointer, Detail: detail}
	}
	if f, ok := missingField(fault.Location, fault.Message); ok {
		return f
	}
	return apierr.Field{Pointer: pointer(fault.Location), Detail: faultOf(fault.Message)}
}

// pointer turns a location such as "body.tags[3].name" or "query.limit" into a
// JSON pointer (RFC 6901) into the body, or the name of the parameter.
func pointer(location string) string {
	location = strings.NewReplacer("[", ".", "]", "").Replace(location)
	if rest, ok := strings.CutPrefix(location, "body"); ok {
		location = strings.TrimPrefix(rest, ".")
		if location == "" {
			return ""
		}
	}
	return "/" + strings.ReplaceAll(location, ".", "/")
}

// faultOf removes quotations of the request from a decoder's message.
func faultOf(message string) string {
	const most = 500 // more than any list of values
	message = reworded.Replace(message)
	if strings.Contains(message, "cannot unmarshal number") && strings.Contains(message, "of type float64") {
		return "has a number that is too large"
	}
	for _, leak := range []string{"invalid character", "cannot unmarshal", "unexpected end of JSON"} {
		if strings.Contains(message, leak) {
			return "is not well-formed JSON of the expected type"
		}
	}
	if len(message) <= most {
		return message
	}
	cut := strings.LastIndexByte(message[:most], ' ')
	if cut < 0 {
		cut = most
	}
	return strings.ToValidUTF8(message[:cut], "") + " …"
}
