// Package agents speaks the Model Context Protocol, by which agents call the
// operations of package httpapi as tools. It stands apart from app because the
// protocol's SDK adds 1.3 MiB to a binary: docent serve and the function of the
// context link it, the others do not.
package agents

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"docent/shared/apierr"
	"docent/shared/httpapi"
	"docent/shared/search"
	"docent/shared/team"
)

// Tools returns the protocol's handler, for httpapi.Services.
func Tools(s httpapi.Services) http.Handler {
	server := serverOf(s)
	protocol := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: httpapi.MaxBody, // which the surface has bounded it to
		// A page that a browser was led to has no key, so a request from one is refused as any without.
		DisableLocalhostProtection: true,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protocol.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestKey{}, r.Context())))
	})
}

type requestKey struct{}

// requestOf is the context of the request that calls a tool. The SDK gives tools
// one without its deadline and its end, so that a call would outlive the client
// who has gone, and the time that a function has.
func requestOf(ctx context.Context) context.Context {
	if request, ok := ctx.Value(requestKey{}).(context.Context); ok {
		return request
	}
	return ctx
}

const instructions = "Docent holds a team's documents, code, pull requests, issues and messages. Search a space for pieces of content, " +
	"query issues or pull requests with filters in plain words, research a question for an answer with sources, or ask to have it answered and kept."

func serverOf(s httpapi.Services) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "docent", Title: "Docent", Version: "v1"},
		&mcp.ServerOptions{Instructions: instructions, Capabilities: &mcp.ServerCapabilities{}})
	for _, t := range []struct {
		name, what string
		space      search.Space
	}{
		{"code", "code", search.Code}, {"documentation", "documentation", search.Documentation}, {"issues", "issues", search.Issues},
		{"messages", "messages", search.Messages}, {"prs", "pull requests", search.PRs},
	} {
		addTool(server, "context_search_"+t.name, "Finds the pieces of "+t.what+" that fit a query best.",
			func(ctx context.Context, in httpapi.SearchFields) (httpapi.SourcesBody, error) {
				return s.SearchSpace(ctx, t.space, in)
			})
	}
	addTool(server, "context_research", "Answers a question from the team's content, with the sources that it is quoted from.", s.Research)
	for name, space := range map[string]search.Space{"issues": search.Issues, "prs": search.PRs} {
		addTool(server, "context_query_"+name, "Finds "+name+" by a question with filters in it, such as: open ones about login assigned to me since March.",
			func(ctx context.Context, in httpapi.RecordFields) (httpapi.RecordsBody, error) {
				return s.QueryRecords(ctx, space, in)
			})
	}
	addTool(server, "context_get_urls", "Reads the content of URLs, from the team's content or, where the team allows it, from the web.", s.Contents)
	addTool(server, "ask", "Asks a question that is answered and kept. Counts against the team's questions of the day.", s.Ask)
	return server
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
			ctx = requestOf(ctx)
			out, err := call(ctx, in)
			if err != nil {
				code, detail := httpapi.Refusal(ctx, err)
				return nil, out, fmt.Errorf("%s: %s", code, detail)
			}
			return nil, out, nil
		})
}

// maxName bounds a name to filter by, in characters.
const maxName = 256

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
			p.MaxLength = count(maxName)
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
