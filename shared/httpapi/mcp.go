package httpapi

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/apierr"
)

// mcpPath is where agents reach the operations as tools of the Model Context
// Protocol, over its stateless Streamable HTTP transport: each POST is a request
// of its own, with the same keys, limits and restrictions as the operations.
const mcpPath = "/mcp"

// tools serves MCP, where there is who speaks it.
type tools struct{ Services }

func (h *tools) routes(api huma.API, m *mux) {
	if h.Tools != nil {
		m.HandleFunc(http.MethodPost+" "+mcpPath, h.handler(h.Tools(h.Services)))
	}
	object := &huma.Schema{Type: huma.TypeObject}
	api.OpenAPI().AddOperation(&huma.Operation{OperationID: "callTools", Method: http.MethodPost, Path: mcpPath,
		Summary: "Call the context operations as tools of the Model Context Protocol", Tags: []string{"Context"},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: object}}},
		Responses:   h.responses(api, object)})
}

func (*tools) responses(api huma.API, object *huma.Schema) map[string]*huma.Response {
	problems := api.OpenAPI().Components.Schemas.SchemaFromRef("#/components/schemas/Problem")
	ref := object
	if problems != nil {
		ref = &huma.Schema{Ref: "#/components/schemas/Problem"}
	}
	responses := map[string]*huma.Response{
		"200": {Description: "A JSON-RPC response.", Content: map[string]*huma.MediaType{"application/json": {Schema: object}}},
		"202": {Description: "A notification was taken."},
	}
	for _, status := range []int{400, 401, 403, 404, 405, 413, 415, 429, 500, 503} {
		responses[fmt.Sprint(status)] = &huma.Response{Description: http.StatusText(status),
			Content: map[string]*huma.MediaType{"application/json": {Schema: ref}}}
	}
	return responses
}

// handler serves one request. The protocol takes and gives whole JSON messages, so
// its reply is held until it is known whether it is an error, which gets the shape
// of every other.
func (*tools) handler(protocol http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, err := caller(r.Context()); err != nil {
			writeError(w, r, err)
			return
		}
		message := r.Clone(r.Context())
		message.Header.Set("Accept", "application/json, text/event-stream") // whatever is accepted, JSON is the reply
		held := &heldReply{header: http.Header{}}
		protocol.ServeHTTP(held, message)
		media, _, _ := mime.ParseMediaType(held.header.Get("Content-Type"))
		if held.status >= 400 && media != "application/json" {
			writeError(w, r, refusalOf(held.status, strings.TrimSpace(held.body.String())))
			return
		}
		for name, values := range held.header {
			w.Header()[name] = values
		}
		w.WriteHeader(max(held.status, http.StatusOK))
		_, _ = w.Write(held.body.Bytes())
	}
}

// refusalOf is what the protocol refused in plain text.
func refusalOf(status int, text string) error {
	const most = 200
	switch {
	case status == http.StatusRequestEntityTooLarge:
		return tooLarge()
	case status == http.StatusUnsupportedMediaType:
		return unsupportedMedia()
	case status < 500 && strings.Contains(text, "unmarshal"): // it quotes the body, and names types of the SDK
		return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The body must be one JSON-RPC message.")
	case status < 500:
		return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The request is not a valid message of the protocol: %.*s", most, text)
	default:
		return fmt.Errorf("serve the protocol: status %d: %s", status, text)
	}
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

// Flush does nothing: what is held is sent at once.
func (w *heldReply) Flush() {}
