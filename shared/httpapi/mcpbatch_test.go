package httpapi_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"docent/shared/app/parts/agents"
	"docent/shared/app/parts/identity"
	"docent/shared/httpapi"
)

// TestABatchIsNoMoreThanARequest: it counts as one against every limit, so that it calls one tool at most.
func TestABatchIsNoMoreThanARequest(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	const (
		list   = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
		search = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"context_search_code","arguments":{"query":"x"}}}`
	)
	batch := func(messages []string) call {
		return call{"POST", "/mcp", acme.key, " \n[" + strings.Join(messages, ",") + "]", nil}
	}
	for name, messages := range map[string][]string{
		"11 messages":          slices.Repeat([]string{list}, 11),
		"two calls":            {search, list, search},
		"two calls, one spelt": {search, strings.Replace(search, `"method"`, `"METHOD"`, 1)},
		"a method given twice": {search, strings.Replace(list, `"method"`, `"method":"ping","Method":"tools/call","method"`, 1)},
		"no message":           {},
		"a text":               {list, `"` + marker + `"`},
		"null":                 {`null`},
		"a batch":              {"[" + search + "," + search + "]"},
	} {
		if got := a.refused(batch(messages), 400, "invalid-request"); inner.Match(got.body) {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	a.refused(call{"POST", "/mcp", acme.key, "[" + list, nil}, 400, "invalid-request")
	messages := []string{search}
	for _, id := range "abcdefghi" {
		messages = append(messages, strings.Replace(list, `"id":1`, `"id":"`+string(id)+`"`, 1))
	}
	reply := a.do(batch(messages)).want(t, 200)
	var got []rpcReply
	if reply.json(t, &got); len(got) != 10 || slices.ContainsFunc(got, func(g rpcReply) bool { return g.Error != nil }) {
		t.Errorf("%d replies: %.300s", len(got), reply.body)
	}
	a.do(batch([]string{`{"jsonrpc":"2.0","method":"notifications/initialized"}`})).want(t, 202)
}

// TestOneUnknownMethodDoesNotRefuseABatch: each call of a batch gets its own response or error (JSON-RPC 2.0 section 6).
func TestOneUnknownMethodDoesNotRefuseABatch(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	const (
		ping    = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		unknown = `{"jsonrpc":"2.0","id":"b","method":"` + marker + `"}`
		noID    = `{"jsonrpc":"2.0","id":null,"method":"ping"}`
		noted   = `{"jsonrpc":"2.0","method":"notifications/` + marker + `"}`
	)
	for batch, want := range map[string]string{
		ping + "," + unknown: "1: 0, \"b\": -32601",
		unknown + "," + ping: "\"b\": -32601, 1: 0",
		noted + "," + ping:   "1: 0",

		ping + "," + unknown + "," + noID: "1: 0, \"b\": -32601, null: -32600",
	} {
		reply := a.do(call{"POST", "/mcp", acme.key, "[" + batch + "]", nil}).want(t, 200)
		if got := codesOf(t, reply); got != want || inner.Match(reply.body) {
			t.Errorf("%s: %s", batch, reply.body)
		}
	}
	a.do(call{"POST", "/mcp", acme.key, "[" + noted + "]", nil}).want(t, 202)
}

// TestAFailureIsOfOneMessageOfABatch: what fails here hides no reply to the other messages, some of which were handled.
func TestAFailureIsOfOneMessageOfABatch(t *testing.T) {
	t.Parallel()
	const cause = "the disk is on fire"
	parts := partsWith(identity.Providers())
	parts.Tools = func(s httpapi.Services) http.Handler {
		protocol := agents.Tools(s)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			if bytes.HasPrefix(body, []byte("{")) && bytes.Contains(body, []byte("broken")) {
				http.Error(w, cause, http.StatusInternalServerError)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			protocol.ServeHTTP(w, r)
		})
	}
	a := newAPIOf(t, parts)
	acme := a.newTenant("acme")
	const (
		ping    = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		broken  = `{"jsonrpc":"2.0","id":"broken","method":"ping"}`
		noted   = `{"jsonrpc":"2.0","method":"notifications/broken"}`
		unknown = `{"jsonrpc":"2.0","id":3,"method":"nothing"}`
	)
	for batch, want := range map[string]string{
		ping + "," + broken + "," + unknown: `1: 0, "broken": -32603, 3: -32601`,
		broken + "," + unknown:              `"broken": -32603, 3: -32601`,
		noted + "," + unknown + "," + ping:  "3: -32601, 1: 0",
	} {
		a.log.Reset()
		reply := a.do(call{"POST", "/mcp", acme.key, "[" + batch + "]", nil}).want(t, 200)
		if got := codesOf(t, reply); got != want || bytes.Contains(reply.body, []byte(cause)) {
			t.Errorf("%s: %s", batch, reply.body)
		}
		if !strings.Contains(a.log.String(), cause) {
			t.Errorf("%s: the log has no cause", batch)
		}
	}
}

// TestALargeBatchWithAnUnknownMethodIsRefused: no more of a batch is kept than 64 KiB, so that its messages are not known then,
// and none is handled.
func TestALargeBatchWithAnUnknownMethodIsRefused(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	const ask = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"question":"Who approves a release?"},"_meta":{"x":"%s"}}}`
	const unknown = `{"jsonrpc":"2.0","id":2,"method":"nothing"}`
	large := fmt.Sprintf(ask, strings.Repeat("x", 64<<10))
	for _, batch := range []string{large + "," + unknown, unknown + "," + large} {
		a.refused(call{"POST", "/mcp", acme.key, "[" + batch + "]", nil}, 400, "invalid-request")
	}
	var answers []any
	if a.do(call{"GET", "/answers", acme.key, nil, nil}).want(t, 200).json(t, &answers); len(answers) != 0 {
		t.Errorf("%d questions were asked", len(answers))
	}
}

// codesOf returns the id and the code of the error, or 0, of each reply to a batch.
func codesOf(t *testing.T, reply response) string {
	t.Helper()
	var replies []rpcReply
	reply.json(t, &replies)
	var codes []string
	for _, r := range replies {
		code := 0
		if r.Error != nil {
			code = r.Error.Code
		}
		codes = append(codes, fmt.Sprintf("%s: %d", r.ID, code))
	}
	return strings.Join(codes, ", ")
}
