package httpapi_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// seen returns by each way of reading which of the documents, uris by id, it shows. Some
// ways take longer, and are left out if quick is set.
func (a *api) seen(key string, header map[string]string, documents map[string]string, quick bool) map[string][]string {
	a.t.Helper()
	ways := map[string][]string{}
	var list []struct{ ID, URI string }
	a.do(call{"GET", "/documents?limit=200", key, nil, header}).want(a.t, 200).json(a.t, &list)
	for _, d := range list {
		ways["list"] = append(ways["list"], d.URI)
	}
	for id, uri := range documents {
		reply := a.do(call{"GET", "/documents/" + id, key, nil, header})
		if reply.StatusCode == 200 {
			ways["get"] = append(ways["get"], uri)
		} else {
			reply.wantCode(a.t, 404, "not-found")
		}
	}
	query := map[string]any{"query": "Where is the kirschkern kept?", "limit": 50}
	for _, path := range []string{"search", "search/documentation", "research"} {
		if path == "research" {
			delete(query, "limit")
		}
		var body struct {
			Answer  string
			Sources []struct{ URL string }
		}
		a.do(call{"POST", "/context/" + path, key, query, header}).want(a.t, 200).json(a.t, &body)
		for _, s := range body.Sources {
			ways[path] = append(ways[path], s.URL)
		}
		if path == "research" && len(body.Sources) == 0 && strings.Contains(body.Answer, "cellar") {
			a.t.Errorf("research quotes what it does not show: %s", body.Answer)
		}
	}
	var contents struct {
		Results []struct {
			URL, Content string
			Error        any
		}
	}
	all := slices.Sorted(maps.Values(documents))
	for some := range slices.Chunk(all, 10) {
		a.do(call{"POST", "/context/get", key, map[string]any{"urls": some}, header}).want(a.t, 200).json(a.t, &contents)
		for _, r := range contents.Results {
			if r.Error == nil {
				ways["context/get"] = append(ways["context/get"], r.URL)
			}
		}
	}
	for _, tool := range []string{"context_search_documentation", "context_get_urls"} {
		arguments := map[string]any{"query": "kirschkern", "limit": 50}
		if tool == "context_get_urls" {
			if len(all) == 0 {
				continue
			}
			arguments = map[string]any{"urls": all[:min(10, len(all))]}
		}
		var reply struct {
			Result struct {
				IsError           bool
				StructuredContent struct {
					Sources []struct{ URL string }
					Results []struct {
						URL   string
						Error any
					}
				}
			}
		}
		if err := json.Unmarshal(a.tool(key, header, tool, arguments), &reply); err != nil || reply.Result.IsError {
			a.t.Fatalf("%s: %+v, %v", tool, reply, err)
		}
		for _, found := range reply.Result.StructuredContent.Sources {
			ways[tool] = append(ways[tool], found.URL)
		}
		for _, found := range reply.Result.StructuredContent.Results {
			if found.Error == nil {
				ways[tool] = append(ways[tool], found.URL)
			}
		}
	}
	if !quick {
		id := uuid.NewString()
		a.do(call{"PUT", "/answers/" + id, key, map[string]string{"question": "Where is the kirschkern kept?"}, header}).want(a.t, 204)
		a.drain()
		var answer struct {
			State, Answer string
			References    []struct{ HTMLURL string }
		}
		a.do(call{"GET", "/answers/" + id, key, nil, header}).want(a.t, 200).json(a.t, &answer)
		if len(answer.References) == 0 && strings.Contains(answer.Answer, "cellar") {
			a.t.Errorf("an answer quotes what it does not refer to: %+v", answer)
		}
		for _, r := range answer.References {
			ways["ask"] = append(ways["ask"], r.HTMLURL)
		}
	}
	for way := range ways {
		slices.Sort(ways[way])
		ways[way] = slices.Compact(ways[way])
	}
	return ways
}

// tool calls a tool of the agents' protocol.
func (a *api) tool(key string, header map[string]string, name string, arguments map[string]any) []byte {
	a.t.Helper()
	h := maps.Clone(header)
	if h == nil {
		h = map[string]string{}
	}
	h["Accept"], h["Content-Type"], h["MCP-Protocol-Version"] = "application/json, text/event-stream", "application/json", "2025-06-18"
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": name, "arguments": arguments}})
	if err != nil {
		a.t.Fatal(err)
	}
	return a.raw(call{"POST", "/mcp", key, string(text), h}).want(a.t, 200).body
}

// shows fails the test unless every way shows exactly the documents of want. Ways that
// rank show some of them, and none of the others.
func shows(t testing.TB, who string, ways map[string][]string, want []string, quick bool) (compared int) {
	t.Helper()
	slices.Sort(want)
	names := []string{"list", "get", "search", "search/documentation", "context/get", "research", "context_search_documentation", "context_get_urls", "ask"}
	for _, way := range names {
		if way == "ask" && quick {
			continue
		}
		compared++
		got := ways[way]
		exact := way != "ask" && way != "research"
		if exact && !slices.Equal(got, want) {
			t.Errorf("%s by %s: %v, want %v", who, way, got, want)
		}
		for _, uri := range got {
			if !slices.Contains(want, uri) {
				t.Errorf("%s by %s: %s leaks", who, way, uri)
			}
		}
		if !exact && len(want) > 0 && len(got) == 0 {
			t.Errorf("%s by %s: nothing of %v", who, way, want)
		}
	}
	return compared
}
