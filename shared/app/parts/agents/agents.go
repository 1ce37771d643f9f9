// Package agents speaks the Model Context Protocol, by which agents call the
// operations of package httpapi as tools. The protocol's SDK adds 1.3 MiB to a binary, so
// only docent serve and the function context link it.
package agents

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"docent/shared/apierr"
	"docent/shared/filter"
	"docent/shared/httpapi"
	"docent/shared/search"
	"docent/shared/team"
	"docent/shared/usage"
)

// Tools returns the handler of the protocol.
func Tools(s httpapi.Services) http.Handler {
	server := serverOf(s)
	protocol := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: httpapi.MaxBody, // httpapi has already enforced it
		// A page in a browser has no key, so its requests are refused anyway.
		DisableLocalhostProtection: true,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protocol.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestKey{}, r.Context())))
	})
}

type requestKey struct{}

// requestOf returns the context of the request that calls a tool. The SDK passes tools a
// context without the request's deadline and cancellation, so a call would continue after the
// client disconnects or the function's time ends.
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
		&mcp.ServerOptions{
			Instructions: instructions,
			// The list of tools depends on the key. It never changes for that key.
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
			SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
		})
	server.AddReceivingMiddleware(allowedTools)
	for _, t := range []struct {
		name, title, what string
		space             search.Space
	}{
		{"code", "Search code", "Finds files of the team's repositories that fit a query best, each with the passages that fit and its link. " +
			"Words of the code itself, such as a function's name or the text of an error, find more than a paraphrase.", search.Code},
		{"documentation", "Search documentation", "Finds documents, pages and Markdown of repositories that fit a query best, each with the passages that fit and its link.", search.Documentation},
		{"issues", "Search issues", "Finds issues, open and closed, and comments on them by what they say. " +
			"To select by state, person, label, project or date use context_query_issues.", search.Issues},
		{"messages", "Search messages", "Finds chat messages by what they say, each with its link.", search.Messages},
		{"prs", "Search pull requests", "Finds pull requests and comments on them by what they say; their diffs are not searched. " +
			"To select by state, person, label, project or date use context_query_prs.", search.PRs},
	} {
		addTool(server, description{scope: team.ScopeRead, feature: "context.search." + string(t.space), name: "context_search_" + t.name, title: t.title, what: t.what, most: mostSources},
			func(ctx context.Context, in httpapi.SearchFields) (httpapi.SourcesBody, error) {
				return s.SearchSpace(ctx, t.space, in)
			}, sourcesText)
	}
	addTool(server, description{scope: team.ScopeRead, feature: "context.research", name: "context_research", title: "Research a question",
		what: "Answers a question from everything that the team has connected: Markdown, and the sources that it is quoted from, best first. " +
			"It says so when nothing fits, and takes 25 seconds at most. To look through one kind of content use a search."}, s.Research, researchText)
	for _, t := range []struct {
		name, title, what, completed string
		space                        search.Space
	}{
		{"issues", "Query issues", "issues", "open or closed", search.Issues},
		{"prs", "Query pull requests", "pull requests", "open, closed or merged", search.PRs},
	} {
		addTool(server, description{scope: team.ScopeRead, feature: "context.query." + string(t.space), name: "context_query_" + t.name, title: t.title, most: mostRecords,
			what: "Finds " + t.what + " by a question with filters in it, such as: open ones about login assigned to me since March. " +
				"It understands states (" + t.completed + "), people (me is the key's user), labels, projects, dates and order; interpreted says how it was understood. " +
				"Filters alone give the newest first."},
			func(ctx context.Context, in httpapi.RecordFields) (httpapi.RecordsBody, error) {
				return s.QueryRecords(ctx, t.space, in)
			}, recordsText)
	}
	addTool(server, description{scope: team.ScopeRead, feature: "context.get", name: "context_get_urls", title: "Read URLs", web: true,
		what: "Reads up to 10 URLs whole, as Markdown, in their order: from what is connected, else from the web where the team allows it. " +
			"What cannot be read has an error in its place; what is longer than 250,000 bytes is cut and marked as truncated."}, s.Contents, contentsText)
	addTool(server, description{scope: team.ScopeAsk, feature: usage.Answers, name: "ask", title: "Ask a question", keeps: true,
		what: "Asks a question that is answered from the team's content and kept for the team to read. One of the team's questions of the day. " +
			"Waits 20 seconds; the state is processing when that was too short. To answer without keeping use context_research."}, s.Ask, answerText)
	return server
}

// Limits, the same as those of the operations.
const (
	mostSources = 50
	mostRecords = 200
)

// description is the description of a tool for agents.
type description struct {
	name, title, what string
	feature           string     // that usage counts its calls as
	scope             team.Scope // that a caller needs; the list of tools has it under scopeKey
	most              float64    // maximum of its limit
	web               bool       // it may read the open web
	keeps             bool       // each call stores something
}

func (d description) annotations() *mcp.ToolAnnotations {
	destroys := false // no tool changes or removes stored data
	return &mcp.ToolAnnotations{Title: d.title, ReadOnlyHint: !d.keeps, IdempotentHint: !d.keeps, DestructiveHint: &destroys, OpenWorldHint: &d.web}
}

// scopeKey is the key of a tool's scope in its metadata.
const scopeKey = "docent/scope"

// allowedTools leaves the tools out of tools/list that the caller lacks the scope for.
func allowedTools(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, r)
		list, ok := result.(*mcp.ListToolsResult)
		if err != nil || !ok {
			return result, err
		}
		p, ok := team.PrincipalFrom(ctx)
		allowed := *list
		allowed.Tools = slices.DeleteFunc(slices.Clone(list.Tools), func(t *mcp.Tool) bool {
			scope, _ := t.Meta[scopeKey].(string)
			return !ok || !p.Has(team.Scope(scope))
		})
		return &allowed, nil
	}
}

// addTool adds a tool. Its errors have the same text as those of the operation. Its result is
// structured content and, by text, Markdown for a model to read.
func addTool[In, Out any](s *mcp.Server, d description, call func(context.Context, In) (Out, error), text func(Out) string) {
	input, output := schemaFor[In](), schemaFor[Out]()
	bound(input, d.most)
	takes := newArguments(input)
	s.AddTool(&mcp.Tool{Name: d.name, Title: d.title, Description: d.what, InputSchema: encoded(input), OutputSchema: encoded(output), Annotations: d.annotations(),
		Meta: mcp.Meta{scopeKey: string(d.scope)}},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			p, ok := team.PrincipalFrom(ctx)
			if !ok {
				return failed(apierr.CodeUnauthorized), nil
			}
			ctx = requestOf(ctx)
			usage.NoteFeature(ctx, d.feature)
			refused := func(err error) (*mcp.CallToolResult, error) {
				code, detail := httpapi.Refusal(ctx, err)
				return failed(code + ": " + detail), nil
			}
			if err := team.RequireScope(p, d.scope); err != nil {
				return refused(err)
			}
			var in In
			if err := takes.read(r.Params.Arguments, &in); err != nil {
				return refused(apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "%s", err))
			}
			out, err := call(ctx, in)
			if err != nil {
				return refused(err)
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text(out)}}, StructuredContent: out}, nil
		})
}

func schemaFor[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[filter.Filter](): {Type: "object"}, // filter.Parse checks its members
	}})
	if err != nil {
		panic(err) // the types are our own
	}
	return s
}

// encoded returns s as JSON, so that no list of tools encodes it again: that would be most of what the list costs.
func encoded(s *jsonschema.Schema) json.RawMessage {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // the types are our own
	}
	return text
}

// failed returns the result of a failed call, with a text for the model.
func failed(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// maxName bounds a name to filter by, in characters.
const maxName = 256

// bound adds the bounds of the operations to the members of a tool's input, and gives each a single type: Gemini refuses
// whole requests with a tool that has a list of types, as Go's lists have for nil. A member that is null counts as missing
// in any case.
func bound(s *jsonschema.Schema, most float64) {
	number := func(n float64) *float64 { return &n }
	count := func(n int) *int { return &n }
	for name, p := range s.Properties {
		if len(p.Types) > 0 {
			p.Type, p.Types = p.Types[len(p.Types)-1], nil // null comes first
		}
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
			p.Minimum, p.Maximum = number(1), number(most)
		}
	}
}
