package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"docent/shared/team"
	"docent/shared/usage"
)

// withKey is a transport that sends a key.
type withKey struct{ key string }

func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+k.key)
	return http.DefaultTransport.RoundTrip(r)
}

// mcpSession connects the official client.
func (a *api) mcpSession(key string) *mcp.ClientSession {
	a.t.Helper()
	server := httptest.NewServer(a.handler)
	a.t.Cleanup(server.Close)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(a.t.Context(), &mcp.StreamableClientTransport{Endpoint: server.URL + "/v1/mcp",
		HTTPClient: &http.Client{Transport: withKey{key}}, DisableStandaloneSSE: true}, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = session.Close() })
	return session
}

// use calls a tool and returns its text, and whether it is an error.
func (a *api) use(s *mcp.ClientSession, name string, arguments map[string]any) (string, bool) {
	a.t.Helper()
	result, err := s.CallTool(a.t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		return err.Error(), true
	}
	text, err := json.Marshal(result.Content)
	if err != nil {
		a.t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), `\"`, `"`), result.IsError
}

// toolCalls has a call of every tool, on the tracker, with a part of its text.
var toolCalls = map[string]struct {
	arguments map[string]any
	holds     string
}{
	"ask":                          {map[string]any{"question": "Why does the login fail on Safari?"}, "its state is processing"},
	"context_get_urls":             {map[string]any{"urls": []string{"https://tracker.test/issues/1"}}, "Login fails on Safari"},
	"context_query_issues":         {map[string]any{"query": "my open issues"}, "https://tracker.test/issues/4"},
	"context_query_prs":            {map[string]any{"query": "merged PRs"}, "https://tracker.test/pulls/7"},
	"context_research":             {map[string]any{"query": "What sets the cookie?", "effort": "medium"}, "Sets the cookie"},
	"context_search_code":          {map[string]any{"query": "login"}, "https://tracker.test/login.go"},
	"context_search_documentation": {map[string]any{"query": "login"}, "https://tracker.test/guide"},
	"context_search_issues":        {map[string]any{"query": "login", "limit": 1}, "https://tracker.test/issues/"},
	"context_search_messages":      {map[string]any{"query": "login", "instruction": "down"}, "https://tracker.test/m1"},
	"context_search_prs":           {map[string]any{"query": "login"}, "https://tracker.test/pulls/7"},
}

func TestTheOfficialClientCallsEveryTool(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	a.tracker(acme)
	session := a.mcpSession(acme.pat)
	var names []string
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	if len(names) != len(toolCalls) {
		t.Errorf("tools %v: toolCalls must call every one, and no other", names)
	}
	a.clock.Step(7_000_000_000) // waiting for an answer is over after three looks
	for name, call := range toolCalls {
		if text, failed := a.use(session, name, call.arguments); failed || !strings.Contains(text, call.holds) {
			t.Errorf("%s: %t %s", name, failed, text)
		}
	}
	for feature := range a.outcomesOf(acme.pat) {
		if !slices.Contains(usage.Features, feature) {
			t.Errorf("a tool is counted as %q, which is not one of usage.Features", feature)
		}
	}
}

func TestToolsKeepTheBounds(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	tracker := a.tracker(acme)
	wiki := a.newCollection(acme.key, "wiki")
	session := a.mcpSession(acme.key)
	for name, arguments := range map[string]map[string]any{
		"context_search_code": {"query": ""}, "context_search_prs": {"query": strings.Repeat("x", 10_001)}, "context_search_issues": {"query": "x", "limit": 51},
		"context_research": {"query": "x", "effort": "extreme"}, "context_get_urls": {"urls": []string{}}, "context_query_issues": {"query": "my issues"},
		"context_query_prs": {"query": "x", "labels": []string{""}, "limit": 201}, "ask": {}, "context_search_messages": {"query": 5}, "unknown": {},
	} {
		if text, failed := a.use(session, name, arguments); !failed || strings.Contains(text, "internal") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if text, failed := a.use(session, "context_query_issues", map[string]any{"query": "all issues", "limit": 200}); failed {
		t.Errorf("as many as the operation gives: %s", text)
	}
	_, restricted := a.newKey(acme.ID, team.NewKey{Kind: team.KindTeam, Name: "wiki", DataSourceIDs: []string{wiki}})
	a.clock.Step(7_000_000_000) // waiting for an answer is over after three looks
	other := a.mcpSession(restricted)
	for name, arguments := range map[string]map[string]any{"context_search_issues": {"query": "login"}, "context_query_issues": {"query": "all issues"},
		"context_search_code": {"query": "login"}, "context_search_messages": {"query": "login"}, "context_search_prs": {"query": "login"},
		"context_search_documentation": {"query": "login"}, "context_query_prs": {"query": "merged PRs"}, "ask": {"question": "Why does the login fail on Safari?"},
		"context_research": {"query": "login"}, "context_get_urls": {"urls": []string{"https://tracker.test/issues/1"}}} {
		if text, failed := a.use(other, name, arguments); failed || strings.Contains(text, "Login") || strings.Contains(text, tracker) {
			t.Errorf("restricted, %s: %s", name, text)
		}
	}
}

func TestBadMessagesOfTheProtocol(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	post := func(key, body string) call { return call{"POST", "/mcp", key, body, nil} }
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	a.refused(post("", list), 401, "unauthorized")
	a.refused(post(acme.scim, list), 403, "wrong-key-kind")
	for _, body := range []string{"", "{", "[]", "null", `"x"`, `{"jsonrpc":"1.0"}`, strings.Repeat("[", 100)} {
		a.refused(post(acme.key, body), 400, "invalid-request")
	}
	if reply := a.do(post(acme.key, `"Kirschkern"`)); strings.Contains(string(reply.body), "Kirschkern") || strings.Contains(string(reply.body), "jsonrpc2") {
		t.Errorf("a refusal quotes the body: %s", reply.body)
	}
	a.refused(post(acme.key, strings.Repeat(" ", 10<<20+1)), 413, "request-too-large")
	c := post(acme.key, list)
	c.header = map[string]string{"Content-Type": "text/plain"}
	a.refused(c, 415, "unsupported-media-type")
	for _, method := range []string{"GET", "DELETE"} {
		a.refused(call{method, "/mcp", acme.key, nil, nil}, 405, "method-not-allowed")
	}
	if reply := a.do(post(acme.key, list)).want(t, 200); !strings.Contains(string(reply.body), "context_research") || reply.Header.Get("Content-Type") != "application/json" {
		t.Errorf("list: %s", reply.body)
	}
	if reply := a.do(post(acme.key, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)).want(t, 202); len(reply.body) != 0 {
		t.Errorf("a notification: %s", reply.body)
	}
}
