package main

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"docent/testkit/apitest"
)

// TestFiltersReachTheServer records what search, research and ask send.
func TestFiltersReachTheServer(t *testing.T) {
	t.Parallel()
	api := apitest.New(t)
	var mu sync.Mutex
	sent := map[string]string{}
	api.Refuse = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			return false
		}
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		path, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/"), "/0")
		sent[path] = string(body) + r.Header.Get("Docent-User")
		apitest.Problem(w, 400, "invalid-request", "Recorded.")
		return true
	}
	flags := []string{"--server", api.URL, "--key", apitest.Key, "--filter", `{"b": {"gte": 2}, "a": "x"}`, "What?"}
	for _, command := range [][]string{{"search", "--as", "bob"}, {"research"}, {"ask", "--as", "ada@acme.example", "--id", "0190d2a0-0000-7000-8000-000000000001"}} {
		docent(t, append(command, flags...)...)
	}
	const filter = `"filter":{"a":"x","b":{"gte":2}}`
	for path, want := range map[string]string{
		"context/search":   `{"query":"What?","limit":10,` + filter + `}bob`,
		"context/research": `{"query":"What?","effort":"low",` + filter + `}`,
		"answers":          `{"question":"What?",` + filter + `}ada@acme.example`,
	} {
		if sent[path] != want {
			t.Errorf("%s received %s, want %s", path, sent[path], want)
		}
	}
}

func TestBadFlagsOfMetadataAndFilters(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"/a/gt must be a number, or a date or time":   {"search", "--filter", `{"a":{"gt":"x"}}`, "q"},
		"is not JSON, such as {\"product\": \"api\"}": {"ask", "--filter", `{"a"`, "q"},
		"must not have control characters":            {"ask", "--as", "a\nb", "q"},
		"--metadata must have names of up to 40":      {"put", "--collection", "x", "--metadata", "a-b=1", "."},
		"--metadata /a must have strings of at most":  {"put", "--collection", "x", "--metadata", "a=" + strings.Repeat("x", 257), "."},
	} {
		if status, _, errOut := docent(t, args...); status != exitUsage || !strings.Contains(errOut, want) {
			t.Errorf("%q: status %d, %s", args, status, errOut)
		}
	}
}

func TestMetadataFlag(t *testing.T) {
	t.Parallel()
	got, err := metadataFlag(map[string]string{"a": "api", "b": "3", "c": "true", "d": `["x","y"]`, "e": "007", "f": `"q"`, "g": "null", "h": "2026-11-01", "i": "a=b;c"})
	const want = `{"a":"api","b":3,"c":true,"d":["x","y"],"e":"007","f":"\"q\"","g":"null","h":"2026-11-01","i":"a=b;c"}`
	if err != nil || got.JSON() != want {
		t.Errorf("%s, want %s: %v", got.JSON(), want, err)
	}
}
