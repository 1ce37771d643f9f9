package httpapi

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/apierr"
)

// mcpPath is the path at which agents call the operations as tools of the Model Context
// Protocol, over its stateless Streamable HTTP transport: each POST is one request, with
// the same keys, limits and restrictions as the operations.
const mcpPath = "/mcp"

// tools serves MCP, if Services has Tools.
type tools struct{ Services }

func (h *tools) routes(api huma.API, m *mux) {
	if h.Tools != nil {
		m.HandleFunc(http.MethodPost+" "+mcpPath, h.handler(h.Tools(h.Services)))
	}
	message := namedObject(api.OpenAPI(), "ToolsMessage", &huma.Schema{Description: "A JSON-RPC message.",
		Properties: map[string]*huma.Schema{"jsonrpc": {Type: huma.TypeString, Enum: []any{"2.0"}}, "method": {Type: huma.TypeString}}})
	object := namedSchema(api.OpenAPI(), "ToolsMessages", &huma.Schema{AnyOf: []*huma.Schema{message, {Type: huma.TypeArray, Items: message}},
		Description: "A JSON-RPC message, or a batch of them in the version of March 2025."})
	api.OpenAPI().AddOperation(&huma.Operation{OperationID: "callTools", Method: http.MethodPost, Path: mcpPath,
		Summary: "Call the context operations as tools of the Model Context Protocol", Tags: []string{"Context"},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: object}}},
		Responses:   h.responses(api, object)})
}

func (*tools) responses(api huma.API, object *huma.Schema) map[string]*huma.Response {
	refused, either := object, object
	if schemas := api.OpenAPI().Components.Schemas; schemas.SchemaFromRef(schemaPrefix+"Problem") != nil {
		refused = describeRefusedMessage(schemas)
		either = describeToolsFault(schemas, refused)
	}
	responses := map[string]*huma.Response{
		"200": {Description: "A JSON-RPC response; to subscriptions/listen a stream of them, which ends at once.", Content: map[string]*huma.MediaType{
			"application/json": {Schema: object}, "text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}}},
		"202": {Description: "A notification was taken."},
	}
	for _, status := range []int{400, 401, 403, 404, 405, 409, 413, 415, 429, 500, 503} {
		schema := refused
		if status == http.StatusBadRequest || status == http.StatusNotFound {
			schema = either
		}
		responses[fmt.Sprint(status)] = &huma.Response{Description: http.StatusText(status),
			Content: map[string]*huma.MediaType{"application/json": {Schema: schema}, problemType: {Schema: refused}}}
	}
	return responses
}

// handler serves one request. It keeps the reply until it is complete, so that an HTTP error
// can become a problem object and no text of the protocol's library reaches a client.
func (h *tools) handler(protocol http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h.check(r); err != nil {
			writeError(w, r, err)
			return
		}
		one := &oneMessage{body: r.Body}
		body, err := limitBatch(one)
		if err != nil && !one.followed {
			writeError(w, r, err)
			return
		}
		serve := func(body io.Reader) (*heldReply, []byte, error) {
			return serveMessage(protocol, r, body, one)
		}
		held, reply, err := serve(body)
		if messages, ok := refusedBatch(err); ok {
			held, reply, err = serveEach(r.Context(), messages, serve)
		}
		if err != nil {
			writeError(w, r, err)
			return
		}
		held.header.Del("Content-Length")
		for name, values := range held.header {
			w.Header()[name] = values
		}
		w.WriteHeader(max(held.status, http.StatusOK))
		_, _ = w.Write(reply)
	}
}

// serveMessage has the protocol's library serve body, which it reads through one, unless more than one message was sent. It returns the
// reply and its body for the client.
func serveMessage(protocol http.Handler, r *http.Request, body io.Reader, one *oneMessage) (*heldReply, []byte, error) {
	message := r.Clone(r.Context())
	message.Header.Set("Accept", "application/json, text/event-stream") // the reply is JSON, except to subscriptions/listen
	message.Header.Del("Last-Event-ID")                                 // no reply is continued; the library refuses a call that asks for that
	var start firstBytes
	message.Body = io.NopCloser(io.TeeReader(body, &start))
	held := &heldReply{header: http.Header{}}
	if !one.followed {
		protocol.ServeHTTP(held, message)
	}
	reply, err := held.public(start, one.followed)
	return held, reply, err
}

// check refuses a request that the protocol's library is not to see.
func (h *tools) check(r *http.Request) error {
	if _, err := caller(r.Context()); err != nil {
		return err
	}
	if err := checkOrigin(h.BaseURL, r); err != nil {
		return err
	}
	if version := r.Header.Get("MCP-Protocol-Version"); version != "" && !versionForm.MatchString(version) {
		return wrongVersion() // the library takes it for a version of the future
	}
	return nil
}

var versionForm = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// firstBytes keeps the first bytes written to it: all of any call that the protocol's
// library refuses before it reads the call.
type firstBytes []byte

// Write keeps what fits and discards the rest.
func (b *firstBytes) Write(p []byte) (int, error) {
	const most = 64 << 10
	*b = append(*b, p[:min(len(p), most-len(*b))]...)
	return len(p), nil
}

// refusalOf returns the error for a refusal of the protocol in plain text, which may quote
// the body and name types of its library.
func refusalOf(status int, text string) error {
	invalid := func(detail string) error { return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "%s", detail) }
	switch {
	case status == http.StatusRequestEntityTooLarge:
		return tooLarge()
	case status == http.StatusUnsupportedMediaType:
		return unsupportedMedia()
	case status >= 500:
		return fmt.Errorf("serve the protocol: status %d: %s", status, text)
	case strings.Contains(text, "Unsupported protocol version"):
		return wrongVersion()
	case strings.Contains(text, "batching"):
		return invalid("This version of the protocol has no batches: send one JSON-RPC message.")
	default:
		return invalid("The body must be one JSON-RPC message of the protocol.")
	}
}

func wrongVersion() error {
	return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The header MCP-Protocol-Version names a version that is not supported. Send the one that initialize returned.")
}

// heldReply keeps a reply in memory.
type heldReply struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *heldReply) Header() http.Header { return w.header }

func (w *heldReply) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *heldReply) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// Flush does nothing: the reply is sent at the end.
func (w *heldReply) Flush() {}

// public returns the body for the client of a call that begins with start, and sets status and header to go with it.
// followed: more than one message was sent, and the library has seen none. An error becomes a problem object.
func (w *heldReply) public(start firstBytes, followed bool) ([]byte, error) {
	answer := func(fault []byte) []byte {
		w.header.Set("Content-Type", "application/json")
		w.status = http.StatusOK
		return fault
	}
	media, _, _ := mime.ParseMediaType(w.header.Get("Content-Type"))
	body := w.body.Bytes()
	switch {
	case w.status == http.StatusAccepted:
		if fault, ok := noMessageFault(start); ok {
			return answer(fault), nil
		}
		return body, nil
	case followed:
		return answer(parseFault()), nil
	case w.status == http.StatusBadRequest && media != "application/json" && isNotification(start):
		w.header.Del("Content-Type") // JSON-RPC has no error for a notification (section 4.1)
		w.status = http.StatusAccepted
		return nil, nil
	case w.status >= 400 && media != "application/json":
		text := strings.TrimSpace(w.body.String())
		fault, ok := callFault(start, text)
		if !ok {
			return nil, batchRefusal(start, text, refusalOf(w.status, text))
		}
		return answer(fault), nil
	case media == "text/event-stream":
		return publicEvents(body), nil
	}
	return withID(publicFaults(body), start), nil
}
