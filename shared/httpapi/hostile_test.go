package httpapi_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// manyObjects is a megabyte of JSON that would need a hundred megabytes when decoded.
var manyObjects = "[" + strings.Repeat("{},", 350_000) + "{}]"

// TestSmallTextsThatDecodeLargeAreRefusedEverywhere: the decoded size of all JSON is bounded, even
// in members that are ignored.
func TestSmallTextsThatDecodeLargeAreRefusedEverywhere(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.provisioned("acme")
	id, secret := a.github(x)
	jira, _ := a.connect(x, "jira", nil)
	gzipped := map[string]string{"Content-Encoding": "gzip"}
	for _, o := range bodyOperations(a, x) {
		body := o.with("ignored", marker)
		text := strings.Replace(jsonOf(t, body), `"`+marker+`"`, manyObjects, 1)
		a.refused(call{o.method, o.path, x.key, text, nil}, 400, "invalid-request")
		a.refused(call{o.method, o.path, x.key, packed(t, text), gzipped}, 400, "invalid-request")
	}
	agents := `{"jsonrpc":"2.0","id":1,"method":"tools/list","ignored":` + manyObjects + `}`
	a.refused(call{"POST", "/mcp", x.key, agents, nil}, 400, "invalid-request")
	users := `{"userName":"many","ignored":` + manyObjects + `}`
	if reply := a.raw(call{"POST", "/scim/v2/Users", x.scim, users, nil}).want(t, 400); !strings.Contains(string(reply.body), "values") {
		t.Errorf("SCIM: %s", reply.body)
	}
	delivery := `{"action":"opened","issue":{"labels":` + manyObjects + `}}`
	a.refused(githubCall(id, secret, "issues", "d", delivery), 400, "invalid-request")
	lines := map[string]string{"Content-Type": "application/x-ndjson"}
	line := `{"uri":"https://x.test/1","title":"t","body":"b","sourceType":"issue","labels":` + manyObjects + `}`
	a.refused(call{"POST", "/data-sources/" + jira + "/items", x.pat, line, lines}, 400, "invalid-request")
	one := `{"uri":"https://x.test/1","title":"t","body":"b","sourceType":"issue","ignored":[` + strings.Repeat("0,", 10_000) + "0]}"
	reply := a.raw(call{"POST", "/data-sources/" + jira + "/items", x.pat, one, lines}).want(t, 200)
	if !strings.Contains(string(reply.body), `"has more than 10000 values"`) {
		t.Errorf("an item of many values: %s", reply.body)
	}
}

// TestABodyIsUnpackedForACollectionOnly: a body that is too large is not even read if the
// collection is unknown or belongs to another team.
func TestABodyIsUnpackedForACollectionOnly(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme, other := a.newTenant("acme"), a.newTenant("other")
	bomb := base64.StdEncoding.EncodeToString(cutBomb(t))
	document := func(collection string) map[string]string {
		return map[string]string{"collectionId": collection, "title": "t", "uri": "https://x.test/", "body": bomb}
	}
	a.refused(call{"PUT", "/documents", acme.key, document(unknownID), nil}, 404, "not-found")
	a.refused(call{"PUT", "/documents", acme.key, document(a.newCollection(other.key, "theirs")), nil}, 404, "not-found")
	a.refused(call{"PUT", "/documents", acme.key, document(a.newCollection(acme.key, "ours")), nil}, 413, "request-too-large")
}

// TestUnknownDeliveriesAreNotRead: no body is read before the request names a data source and has
// a signature.
func TestUnknownDeliveriesAreNotRead(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	id, _ := a.github(acme)
	slack, _ := a.connect(acme, "slack", map[string]any{"signingSecret": "slack-signing-secret"})
	signature := "sha256=" + strings.Repeat("0", 64)
	for name, tt := range map[string]struct {
		path, header, signature string
		reads                   bool
	}{
		"unknown source":   {"github/" + unknownID, "X-Hub-Signature-256", signature, false},
		"another provider": {"github/" + slack, "X-Hub-Signature-256", signature, false},
		"no signature":     {"github/" + id, "", "", false},
		"a malformed one":  {"github/" + id, "X-Hub-Signature-256", "sha256=00", false},
		"slack without":    {"slack/" + slack, "", "", false},
		"a wrong one":      {"github/" + id, "X-Hub-Signature-256", signature, true},
	} {
		body := &counter{from: strings.NewReader(strings.Repeat(" ", 100_000))}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/webhooks/"+tt.path, body)
		r.ContentLength = 100_000
		if tt.header != "" {
			r.Header.Set(tt.header, tt.signature)
		}
		w := httptest.NewRecorder()
		a.handler.ServeHTTP(w, r)
		if w.Code != 401 || (body.read > 0) != tt.reads {
			t.Errorf("%s: status %d after %d bytes", name, w.Code, body.read)
		}
	}
}

func jsonOf(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
