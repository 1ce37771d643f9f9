package scim

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"docent/shared/apierr"
	"docent/shared/jsoninput"
	"docent/shared/memory"
	"docent/shared/scim/protocol"
	"docent/shared/team"
)

// Prefix is where the handler's paths start, below the base URL.
const Prefix = "/scim/v2"

// maxBytes limits the body of a request other than Bulk.
const maxBytes = 10 << 20

// Handler serves a Service under Prefix. The context of a request must contain a
// team.Principal.
type Handler struct {
	*Service
	// Classify returns the status, the text for the client and the headers of an error
	// that is not a *protocol.Error.
	Classify func(ctx context.Context, err error) (status int, detail string, header http.Header)
	// Failed learns of each *protocol.Error that is sent: its scimType, which may be empty. It
	// may be nil.
	Failed func(ctx context.Context, scimType string)
	// OperationFailed learns of each *protocol.Error of an operation of a Bulk request, which
	// itself succeeds. It may be nil.
	OperationFailed func(ctx context.Context, e *protocol.Error)
	// ReadBody reads the body of the request, once, if it has at most limit bytes. Its
	// errors are those of package apierr and memory.ErrBusy. If nil, the body is read
	// directly.
	ReadBody func(ctx context.Context, limit int64) ([]byte, error)
}

// request is the input of an operation.
type request struct {
	ctx      context.Context //nolint:containedctx // ends with the request
	teamID   string
	method   string
	segments []string // of the path below Prefix
	query    url.Values
	body     map[string]any // decoded; nil without one
	only     conditions
	classify func(ctx context.Context, err error) (status int, detail string, header http.Header)
	failed   func(ctx context.Context, e *protocol.Error) // of an operation of Bulk; may be nil
}

// result is the outcome of an operation.
type result struct {
	status   int
	body     map[string]any // nil: none
	location string
	version  string
}

// ServeHTTP answers every request under Prefix.
func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	res, allow, err := h.serve(r)
	if allow != "" {
		w.Header().Set("Allow", allow)
	}
	if err != nil {
		h.Fail(w, r, err)
		return
	}
	if res.location != "" { // for every resource, as in the examples of RFC 7644 section 3
		w.Header().Set("Location", res.location)
	}
	if res.version != "" {
		w.Header().Set("ETag", res.version)
	}
	if res.body == nil {
		w.WriteHeader(res.status)
		return
	}
	body, err := protocol.Encode(res.body)
	if err != nil {
		h.Fail(w, r, err)
		return
	}
	if h.MaxReply > 0 && len(body) > h.MaxReply {
		h.Fail(w, r, protocol.Bad(protocol.TooMany, "The reply would be too large. Omit members with excludedAttributes=members; to check one user, use the filter members eq \"id\"."))
		return
	}
	w.Header().Set("Content-Type", successType(r))
	w.WriteHeader(res.status)
	_, _ = w.Write(body) // the client may be gone
}

// Fail writes an error in the form that the request accepts.
func (h Handler) Fail(w http.ResponseWriter, r *http.Request, err error) {
	var e *protocol.Error
	if !errors.As(err, &e) {
		status, detail, header := h.Classify(r.Context(), err)
		for name, values := range header {
			w.Header()[name] = values
		}
		e = &protocol.Error{Status: status, Detail: detail}
	} else if h.Failed != nil {
		h.Failed(r.Context(), e.Type)
	}
	WriteError(w, r, e)
}

func (h Handler) serve(r *http.Request) (result, string, error) {
	ctx := r.Context()
	p, ok := team.PrincipalFrom(ctx)
	if !ok {
		return result{}, "", apierr.New(apierr.Unauthenticated, apierr.CodeUnauthorized, "A valid API key is required.")
	}
	if err := team.RequireSCIM(p); err != nil {
		return result{}, "", err
	}
	// A read runs in parallel with the check, and its result is discarded if the check
	// fails. A change waits for the check.
	looked := make(chan error, 1)
	go func() { looked <- h.requireSAML(ctx, p.TeamID) }()
	refused := sync.OnceValue(func() error { return <-looked })
	before := refused
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		before = func() error { return nil }
	}
	res, allow, err := h.answer(r, p, before)
	if not := refused(); not != nil {
		return result{}, "", not
	}
	return res, allow, err
}

// answer runs the operation that r requests, unless before returns an error.
func (h Handler) answer(r *http.Request, p team.Principal, before func() error) (result, string, error) {
	ctx := r.Context()
	req := request{ctx: ctx, teamID: p.TeamID, method: r.Method, query: r.URL.Query(),
		only: conditions{r.Header.Get("If-Match"), r.Header.Get("If-None-Match")}, classify: h.Classify, failed: h.OperationFailed}
	req.segments = segmentsOf(r.URL)
	route, ok := routeOf(req.segments)
	if !ok {
		return result{}, "", protocol.Refuse(http.StatusNotFound, "", "No resource exists at this path.")
	}
	if req.method == http.MethodHead {
		req.method = http.MethodGet
	}
	if r.Method == http.MethodOptions {
		return result{status: http.StatusNoContent}, route.allow(), nil
	}
	operation, ok := route[req.method]
	if !ok && len(route) == 0 {
		return result{}, "", protocol.Refuse(http.StatusNotImplemented, "", "/Me is not supported; use /Users.")
	}
	if !ok {
		return result{}, route.allow(), protocol.Refuse(http.StatusMethodNotAllowed, "", "This path supports only %s.", route.allow())
	}
	if err := req.read(r, h.ReadBody); err != nil {
		return result{}, "", err
	}
	if req.creates() {
		var end func()
		req.ctx, end = h.Events.OrSilent(h.Table).ClaimAhead(ctx, p.TeamID, 1)
		defer end()
	}
	if err := before(); err != nil {
		return result{}, "", err
	}
	res, err := operation(h.Service, req)
	return res, "", err
}

// creates reports whether the request creates a user or a group, which records one event.
func (req *request) creates() bool {
	return req.method == http.MethodPost && len(req.segments) == 1 &&
		(strings.EqualFold(req.segments[0], "Users") || strings.EqualFold(req.segments[0], "Groups"))
}

// read reads the body of a request that has one.
func (req *request) read(r *http.Request, readBody func(ctx context.Context, limit int64) ([]byte, error)) error {
	if req.method != http.MethodPost && req.method != http.MethodPut && req.method != http.MethodPatch {
		return nil
	}
	if given := r.Header.Get("Content-Type"); given != "" && !isJSON(given) || !identityCoded(r) {
		return protocol.Refuse(http.StatusUnsupportedMediaType, "", "Send %s or %s, without Content-Encoding.", scimType, jsonType)
	}
	limit := int64(maxBytes)
	isBulk := len(req.segments) == 1 && strings.EqualFold(req.segments[0], "Bulk")
	if isBulk {
		limit = maxBulkBytes
	}
	if readBody == nil {
		readBody = func(_ context.Context, limit int64) ([]byte, error) {
			return io.ReadAll(io.LimitReader(r.Body, limit+1))
		}
	}
	body, err := readBody(req.ctx, limit)
	var refused *apierr.Error
	switch {
	case int64(len(body)) > limit || apierr.IsCode(err, apierr.CodeTooLarge):
		return protocol.Refuse(http.StatusRequestEntityTooLarge, "", "The request body may have at most %d bytes. Send less.", limit)
	case errors.Is(err, memory.ErrBusy):
		return err
	case errors.As(err, &refused) && refused.Kind != apierr.Invalid: // about the caller
		return err
	case refused != nil:
		return protocol.Bad(protocol.InvalidSyntax, "%s", refused.Detail)
	case err != nil:
		return protocol.Bad(protocol.InvalidSyntax, "The request body is incomplete.")
	}
	values, err := jsoninput.Check(body, bodyLimits)
	if err != nil {
		return protocol.Bad(protocol.InvalidSyntax, "The request body %s.", err)
	}
	if isBulk { // before its memory, which it would keep from those that write while it waits
		if err := memory.WaitWrites(req.ctx); err != nil {
			return err
		}
	}
	if err := memory.Reserve(req.ctx, decodeCost(len(body), values)); err != nil {
		return err
	}
	req.body, err = protocol.DecodeObject(body)
	return err
}

// bodyLimits limits the JSON of a body: 100,000 members of a group are a little over 200,000
// values.
var bodyLimits = jsoninput.Limits{Depth: jsoninput.MaxDepth, Values: 250_000, Members: 1000, Literal: 100}

// decodeCost returns the memory, in bytes, of a decoded body and the resource made from it. An
// object in a tree takes a few hundred bytes, however small.
func decodeCost(bytes, values int) int64 { return 3*int64(bytes) + 384*int64(values) }

func identityCoded(r *http.Request) bool {
	coding := strings.TrimSpace(r.Header.Get("Content-Encoding"))
	return coding == "" || strings.EqualFold(coding, "identity")
}

// projection returns what the parameters attributes and excludedAttributes select.
func (req request) projection() protocol.Projection {
	return protocol.ParseProjection(req.query["attributes"], req.query["excludedAttributes"])
}

// listQuery reads the query of a GET. A parameter with different values is refused: an empty first one would drop a filter.
func (req request) listQuery() (query, error) {
	for _, name := range []string{"filter", "sortBy", "sortOrder", "startIndex", "count", "cursor"} {
		if len(slices.Compact(slices.Sorted(slices.Values(req.query[name])))) > 1 {
			return query{}, protocol.Bad(protocol.InvalidValue, "%s must have one value.", name)
		}
	}
	q := query{filter: req.query.Get("filter"), sortBy: req.query.Get("sortBy"), sortOrder: req.query.Get("sortOrder"),
		startIndex: 1, count: defaultCount, projection: req.projection()}
	if req.query.Has("cursor") {
		cursor := req.query.Get("cursor")
		q.cursor = &cursor
	}
	for name, to := range map[string]*int{"startIndex": &q.startIndex, "count": &q.count} {
		if text := req.query.Get(name); text != "" {
			n, err := jsoninput.ParseInt(text)
			if err != nil && !errors.Is(err, strconv.ErrRange) {
				return q, protocol.Bad(protocol.InvalidValue, "%s must be an integer.", name)
			}
			*to = clamped(n)
		}
	}
	return q.bounded(), nil
}

// clamped returns n within the range of list positions.
func clamped(n int64) int { return int(min(max(n, -1), 1<<31-1)) }

func (q query) bounded() query {
	q.startIndex = max(q.startIndex, 1)
	q.count = min(max(q.count, 0), maxCount)
	return q
}
