package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"docent/shared/apierr"
	"docent/shared/search"
	"docent/shared/team"
)

// mcpPath is where agents reach the operations as tools of the Model Context
// Protocol, over its stateless Streamable HTTP transport: each POST is a request
// of its own, with the same keys, limits and restrictions as the operations.
const mcpPath = "/mcp"

// tools serves MCP.
type tools struct{ Services }

func (h *tools) routes(api huma.API, m *mux) {
	m.HandleFunc(http.MethodPost+" "+mcpPath, h.handler())
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

// handler serves one request. The SDK takes and gives whole JSON messages, so its
// reply is held until it is known whether it is an error, which gets the shape of
// every other.
func (h *tools) handler() http.HandlerFunc {
	server := h.server()
	protocol := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: MaxBody, // readBody has bounded it
		// A page that a browser was led to has no key, so a request from one is refused as any without.
		DisableLocalhostProtection: true,
	})
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

// refusalOf is what the SDK refused in plain text.
func refusalOf(status int, text string) error {
	const most = 200
	switch {
	case status == http.StatusRequestEntityTooLarge:
		return tooLarge()
	case status == http.StatusUnsupportedMediaType:
		return unsupportedMedia()
	case status < 500:
		return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The request is no valid message of the protocol: %.*s", most, text)
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

const mcpInstructions = "Docent holds a team's documents, code, pull requests, issues and messages. Search a space for pieces of content, " +
	"query issues or pull requests with filters in plain words, research a question for an answer with sources, or ask to have it answered and kept."

func (h *tools) server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "docent", Title: "Docent", Version: "v1"},
		&mcp.ServerOptions{Instructions: mcpInstructions, Capabilities: &mcp.ServerCapabilities{}})
	c := &contexts{h.Services}
	for _, t := range []struct {
		name, what string
		space      search.Space
	}{
		{"code", "code", search.Code}, {"documentation", "documentation", search.Documentation}, {"issues", "issues", search.Issues},
		{"messages", "messages", search.Messages}, {"prs", "pull requests", search.PRs},
	} {
		addTool(s, "context_search_"+t.name, "Finds the pieces of "+t.what+" that fit a query best.",
			func(ctx context.Context, in searchFields) (sourcesBody, error) {
				request := &searchInput{}
				request.Body.Query, request.Body.Instruction, request.Body.Limit = in.Query, in.Instruction, in.Limit
				out, err := c.search(ctx, request, []search.Space{t.space})
				if err != nil {
					return sourcesBody{}, err
				}
				return sourcesBody(out.Body), nil
			})
	}
	addTool(s, "context_research", "Answers a question from the team's content, with the sources that it is quoted from.",
		func(ctx context.Context, in researchFields) (researchBody, error) {
			request := &researchInput{}
			request.Body.Query, request.Body.Instruction, request.Body.Effort = in.Query, in.Instruction, in.Effort
			if request.Body.Effort == "" {
				request.Body.Effort = "low"
			}
			out, err := c.research(ctx, request)
			if err != nil {
				return researchBody{}, err
			}
			return researchBody(out.Body), nil
		})
	for name, space := range map[string]search.Space{"issues": search.Issues, "prs": search.PRs} {
		addTool(s, "context_query_"+name, "Finds "+name+" by a question with filters in it, such as: open ones about login assigned to me since March.",
			func(ctx context.Context, in queryTool) (recordsBody, error) {
				limit := in.Limit
				if limit == 0 {
					limit = 20
				}
				out, err := c.query(ctx, space, QueryFields{Query: in.Query, Projects: in.Projects, Labels: in.Labels, UserName: in.UserName, Limit: limit}, "")
				if err != nil {
					return recordsBody{}, err
				}
				return recordsBody(out.Body), nil
			})
	}
	addTool(s, "context_get_urls", "Reads the content of URLs, from the team's content or, where the team allows it, from the web.",
		func(ctx context.Context, in urlsTool) (gottenBody, error) {
			request := &getContentInput{}
			request.Body.URLs = in.URLs
			out, err := c.get(ctx, request)
			if err != nil {
				return gottenBody{}, err
			}
			return gottenBody(out.Body), nil
		})
	addTool(s, "ask", "Asks a question that is answered and kept. Counts against the team's questions of the day.", h.ask)
	return s
}

func (h *tools) ask(ctx context.Context, in askTool) (answerBody, error) {
	a := &answers{h.Services}
	request := &askInput{QuestionPath: QuestionPath{uuid.NewString()}}
	request.Body.Question = in.Question
	if _, err := a.ask(ctx, request); err != nil {
		return answerBody{}, err
	}
	out, err := a.get(ctx, &getAnswerInput{QuestionPath: request.QuestionPath, Prefer: "wait=20"})
	if err != nil {
		return answerBody{}, err
	}
	return out.Body, nil
}

// addTool adds a tool whose errors are the text that clients of the operation read.
func addTool[In, Out any](s *mcp.Server, name, description string, call func(context.Context, In) (Out, error)) {
	input, err := jsonschema.For[In](nil)
	if err != nil {
		panic(err) // the types are our own
	}
	bound(input)
	mcp.AddTool(s, &mcp.Tool{Name: name, Description: description, InputSchema: input,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: name != "ask", IdempotentHint: name != "ask"}},
		func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
			if _, ok := team.PrincipalFrom(ctx); !ok {
				var none Out
				return nil, none, errors.New(apierr.CodeUnauthorized)
			}
			out, err := call(ctx, in)
			if err != nil {
				p := toProblem(ctx, err)
				return nil, out, fmt.Errorf("%s: %s", p.Code, p.Detail)
			}
			return nil, out, nil
		})
}

// bound puts the bounds of the operations on the members of a tool's input.
func bound(s *jsonschema.Schema) {
	number := func(n float64) *float64 { return &n }
	count := func(n int) *int { return &n }
	for name, p := range s.Properties {
		switch name {
		case "query", "question":
			p.MinLength, p.MaxLength = count(1), count(10000)
		case "instruction":
			p.MaxLength = count(10000)
		case "userName":
			p.MaxLength = count(maxFact)
		case "effort":
			p.Enum = []any{"low", "medium", "high"}
		case "urls":
			p.MinItems, p.MaxItems = count(1), count(10)
		case "projects", "labels":
			p.MaxItems = count(50)
		case "limit":
			p.Minimum, p.Maximum = number(1), number(50)
		}
	}
}
