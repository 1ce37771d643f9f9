package httpapi_test

import (
	"encoding/json"
	"testing"
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
