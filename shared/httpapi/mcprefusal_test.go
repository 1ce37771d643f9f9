package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestRefusalsOfMessagesAreErrorsOfJSONRPC: clients of the protocol read them so, and show their text.
func TestRefusalsOfMessagesAreErrorsOfJSONRPC(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for name, c := range map[string]struct {
		key, body  string
		status     int
		code, says string
	}{
		"no key":       {"", list, 401, "unauthorized", "A valid API key is required"},
		"unknown key":  {"docent_team_x", list, 401, "unauthorized", "A valid API key is required."},
		"another kind": {acme.scim, list, 403, "wrong-key-kind", "key"},
		"no message":   {acme.key, "[]", 400, "invalid-request", "must be one JSON-RPC message"},
		"too large":    {acme.key, strings.Repeat(" ", 10<<20+1), 413, "request-too-large", "10 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reply := a.refused(call{"POST", "/mcp", c.key, c.body, nil}, c.status, c.code)
			var got struct {
				Detail, JSONRPC string
				ID              json.RawMessage
				Error           struct {
					Code    int
					Message string
				}
			}
			if err := json.Unmarshal(reply.body, &got); err != nil {
				t.Fatal(err)
			}
			if got.JSONRPC != "2.0" || string(got.ID) != "null" || got.Error.Code != -32600 || got.Error.Message != got.Detail || !strings.Contains(got.Detail, c.says) {
				t.Errorf("%s", reply.body)
			}
		})
	}
	if other := a.do(call{"GET", "/mcp", acme.key, nil, nil}).want(t, 405); strings.Contains(string(other.body), "jsonrpc") {
		t.Errorf("no message was sent: %s", other.body)
	}
}

// TestASubscriptionEndsAtOnce: nothing changes that a client could subscribe to, and its errors have texts of Docent's, too.
func TestASubscriptionEndsAtOnce(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	listen := func(params string) string {
		const message = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":`
		return string(a.do(call{"POST", "/mcp", acme.key, message + params + "}", nil}).want(t, 200).body)
	}
	if got := listen(`{"notifications":{"toolsListChanged":true}}`); !strings.Contains(got, "notifications/subscriptions/acknowledged") || !strings.Contains(got, `"id":1,"result"`) {
		t.Errorf("%s", got)
	}
	if got := listen(`{}`); !strings.Contains(got, `"code":-32602,"message":"The params are not what this method takes."`) {
		t.Errorf("%s", got)
	}
}
