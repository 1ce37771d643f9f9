package httpapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
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
		var replies []rpcReply
		reply.json(t, &replies)
		var got []string
		for _, r := range replies {
			code := 0
			if r.Error != nil {
				code = r.Error.Code
			}
			got = append(got, fmt.Sprintf("%s: %d", r.ID, code))
		}
		if strings.Join(got, ", ") != want || inner.Match(reply.body) {
			t.Errorf("%s: %s", batch, reply.body)
		}
	}
	a.do(call{"POST", "/mcp", acme.key, "[" + noted + "]", nil}).want(t, 202)
}
