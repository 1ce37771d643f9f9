package httpapi_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/uuid"
)

func TestMediaTypesAndCodings(t *testing.T) {
	t.Parallel()
	const unsupported = "unsupported-media-type"
	a := newAPI(t)
	acme := a.newTenant("acme")
	tests := []struct {
		name   string
		header map[string]string
		patch  bool // taken with PATCH
		other  bool // taken with other methods
		coding bool // the coding is at fault
	}{
		{"json", map[string]string{"Content-Type": "application/json"}, true, true, false},
		{"no type", map[string]string{"Content-Type": ""}, true, true, false},
		{"json in capitals", map[string]string{"Content-Type": "Application/JSON; Charset=UTF-8"}, true, true, false},
		{"merge patch", map[string]string{"Content-Type": "application/merge-patch+json"}, true, false, false},
		{"json patch", map[string]string{"Content-Type": "application/json-patch+json"}, false, false, false},
		{"text", map[string]string{"Content-Type": "text/plain"}, false, false, false},
		{"form", map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, false, false, false},
		{"another json", map[string]string{"Content-Type": "application/vnd." + marker + "+json"}, false, false, false},
		{"another charset", map[string]string{"Content-Type": "application/json; charset=utf-16"}, false, false, false},
		{"text in another charset", map[string]string{"Content-Type": "text/plain; charset=iso-8859-1"}, false, false, false},
		{"no media type", map[string]string{"Content-Type": marker + "/;;"}, false, false, false},
		{"identity", map[string]string{"Content-Encoding": "identity"}, true, true, false},
		{"gzip in capitals", map[string]string{"Content-Encoding": " GZIP "}, true, true, false},
		{"brotli", map[string]string{"Content-Encoding": "br"}, false, false, true},
		{"twice gzip", map[string]string{"Content-Encoding": "gzip, gzip"}, false, false, true},
		{"no coding", map[string]string{"Content-Encoding": marker}, false, false, true},
		{"gzip of text", map[string]string{"Content-Encoding": "gzip", "Content-Type": "text/plain"}, false, false, false},
	}
	for _, o := range bodyOperations(a, acme) {
		text, err := json.Marshal(o.good)
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range tests {
			t.Run(o.name+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				a, body := a.in(t), text
				if tt.name == "gzip in capitals" {
					body = packed(t, string(text))
				}
				c := call{o.method, o.path, acme.key, body, tt.header}
				if tt.patch && o.method == "PATCH" || tt.other && o.method != "PATCH" {
					a.do(c).want(t, o.status)
					return
				}
				reply := a.refused(c, 415, unsupported)
				if strings.Contains(string(reply.body), "charset=utf-8") != (tt.name == "another charset") {
					t.Errorf("%s", reply.body)
				}
				if got := reply.Header.Get("Accept-Encoding"); (got == "gzip") != tt.coding {
					t.Errorf("Accept-Encoding %q", got)
				}
			})
		}
	}
}

// TestBodiesOfOtherMethodsAreIgnored: the content of a GET is not checked.
func TestBodiesOfOtherMethodsAreIgnored(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	header := map[string]string{"Content-Type": "text/plain", "Content-Encoding": "br"}
	a.do(call{"GET", "/collections", acme.key, "\xff", header}).want(t, 200)
	a.do(call{"DELETE", "/collections/" + unknownID, acme.key, "\xff", header}).want(t, 204)
}

// TestOnlyProblemsHaveTheTypeOfProblems, and only where Accept names it with a weight. Errors of SCIM and of OAuth have forms of their own.
func TestOnlyProblemsHaveTheTypeOfProblems(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	a.do(call{"PUT", "/team/saml-metadata", acme.pat, samlText, map[string]string{"Content-Type": "application/samlmetadata+xml"}}).want(t, 200)
	collection := call{"GET", "/collections/" + unknownID, acme.key, nil, nil}
	user := call{"GET", "/scim/v2/Users/" + unknownID, acme.scim, nil, nil}
	token := call{"POST", "/oauth/token", "", "grant_type=x", map[string]string{"Content-Type": "application/x-www-form-urlencoded"}}
	for _, test := range []struct {
		call
		accept, want string
	}{
		{collection, "application/problem+json", "application/problem+json"},
		{collection, "Application/Problem+JSON", "application/problem+json"},
		{collection, "text/html, application/problem+json;q=0.1", "application/problem+json"},
		{collection, "application/problem+json;q=0, application/json", "application/json"},
		{collection, "application/problem+json2", "application/json"},
		{collection, `text/html;a=", application/problem+json, "`, "application/json"},
		{collection, "application/problem+json;q=x", "application/problem+json"},
		{collection, "application/*, */*", "application/json"},
		{user, "application/json, application/problem+json", "application/json"},
		{user, "application/scim+json, application/problem+json", "application/scim+json"},
		{token, "application/json, application/problem+json", "application/json"},
	} {
		c := test.call
		c.header = maps.Clone(c.header)
		if c.header == nil {
			c.header = map[string]string{}
		}
		c.header["Accept"] = test.accept
		if reply := a.raw(c); reply.StatusCode < 400 || reply.Header.Get("Content-Type") != test.want {
			t.Errorf("%s with Accept %q: %d %s, want %s", c.path, test.accept, reply.StatusCode, reply.Header.Get("Content-Type"), test.want)
		}
	}
	saml := call{"GET", "/team/saml-metadata", acme.pat, nil, map[string]string{"Accept": "application/samlmetadata+xml;q=0, application/json"}}
	if got := a.do(saml).want(t, 200).Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("metadata with weight 0: %s", got)
	}
}

func TestEventsAreSentToWhomPrefersThem(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	at := "/answers/" + uuid.NewString()
	a.do(call{"PUT", at, acme.key, map[string]any{"question": "Who?"}, nil}).want(t, 204)
	a.drain()
	for accept, want := range map[string]string{
		"text/event-stream":                                 "text/event-stream",
		"application/json, text/event-stream":               "text/event-stream",
		"text/event-stream, */*;q=0.1":                      "text/event-stream",
		"application/json;q=0.5, text/event-stream;q=0.6":   "text/event-stream",
		"text/event-stream;q=0.1, application/json":         "application/json",
		"application/json;q=0.2, text/event-stream;q=0.1":   "application/json",
		"text/event-stream;q=0, application/json;q=0":       "application/json",
		"text/event-stream;q=0, application/json, text/csv": "application/json",
	} {
		for _, c := range []call{
			{"GET", at, acme.key, nil, map[string]string{"Accept": accept}},
			{"POST", "/context/research", acme.key, `{"query":"Who is on call?"}`, map[string]string{"Accept": accept}},
		} {
			if reply := a.raw(c); reply.StatusCode != 200 || reply.Header.Get("Content-Type") != want {
				t.Errorf("%s with Accept %q: %d %s, want %s", c.path, accept, reply.StatusCode, reply.Header.Get("Content-Type"), want)
			}
		}
	}
}
