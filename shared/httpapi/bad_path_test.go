package httpapi_test

import (
	"strings"
	"testing"
)

func TestPathsThatAreNone(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki := a.newCollection(acme.key, "wiki")
	for _, path := range []string{
		"/", "/" + marker, "/collections/", "/collections/" + wiki + "/", "/collections/" + wiki + "/" + marker, "//collections",
		"/collections//" + wiki, "/collections/../collections", "/collections/./" + wiki, "/collections/%2e%2e/collections",
		"/webhooks/github/%2e%2e", "/webhooks/slack/%2e", "/sso/%2e%2e", "/oauth/%2e%2e/token",
		"/collections/" + wiki + "%2f", "/collections/%2f" + wiki, "/collections/x%2f..%2f" + wiki, "/collections%2f" + wiki,
		"/Collections", "/collections%20", "/collections%00", "/documents/", "/answers/", "/answers/" + unknownID + "/x",
		"/openapi.json", "/openapi.yaml", "/docs", "/schemas/Collection.json", "/v1/collections", "/" + strings.Repeat("x", 5000),
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} {
			t.Run(method+" "+path[:min(len(path), 60)], func(t *testing.T) {
				t.Parallel()
				a := a.in(t)
				if method == "HEAD" {
					if reply := a.do(call{method, path, acme.key, nil, nil}).want(t, 404); len(reply.body) > 0 {
						t.Errorf("HEAD has the body %q", reply.body)
					}
					return
				}
				reply := a.refused(call{method, path, acme.key, nil, nil}, 404, "not-found")
				if reply.Header.Get("Location") != "" {
					t.Error("a redirect")
				}
				a.do(call{method, path, "", nil, nil}).wantCode(t, 401, "unauthorized")
			})
		}
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	for path, allow := range map[string]string{
		"/collections":                        "GET, HEAD, POST, OPTIONS",
		"/collections/" + unknownID:           "GET, HEAD, PATCH, DELETE, OPTIONS",
		"/collections/a%20b":                  "GET, HEAD, PATCH, DELETE, OPTIONS",
		"/documents":                          "GET, HEAD, PUT, OPTIONS",
		"/documents/" + unknownID:             "GET, HEAD, PATCH, DELETE, OPTIONS",
		"/answers":                            "GET, HEAD, OPTIONS",
		"/answers/" + unknownID:               "GET, HEAD, PUT, DELETE, OPTIONS",
		"/answers/" + marker + "?x=" + marker: "GET, HEAD, PUT, DELETE, OPTIONS",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			a := a.in(t)
			reply := a.do(call{"OPTIONS", path, acme.key, nil, nil}).want(t, 204)
			if got := reply.Header.Get("Allow"); got != allow || len(reply.body) > 0 {
				t.Errorf("OPTIONS: Allow %q, body %q", got, reply.body)
			}
			for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"} {
				if strings.Contains(allow+",", method+",") {
					continue
				}
				reply := a.refused(call{method, path, acme.key, `{"name":"` + marker, nil}, 405, "method-not-allowed")
				if got := reply.Header.Get("Allow"); got != allow {
					t.Errorf("%s: Allow %q, want %q", method, got, allow)
				}
				a.do(call{method, path, "", nil, nil}).wantCode(t, 401, "unauthorized")
			}
		})
	}
}

// TestMalformedIDs: they are like unknown ids, except as the id of a new question.
func TestMalformedIDs(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	question := map[string]string{"question": "q"}
	for _, id := range []string{
		marker, "1", "%00", "%FF", "a%2Fb", "..%2f" + marker, "%20", unknownID + "0", unknownID[1:], "{" + unknownID + "}", "urn:uuid:" + unknownID,
		strings.ReplaceAll(unknownID, "-", ""), strings.Replace(unknownID, "-", "_", 1), "g" + unknownID[1:], strings.Repeat("語", 3000), "%F0%9F%A6%89",
	} {
		t.Run(id[:min(len(id), 60)], func(t *testing.T) {
			t.Parallel()
			a := a.in(t)
			if strings.Contains(id, "..") {
				a.refused(call{"GET", "/collections/" + id, acme.key, nil, nil}, 404, "not-found")
				return
			}
			for _, c := range []call{
				{"GET", "/collections/" + id, acme.key, nil, nil}, {"PATCH", "/collections/" + id, acme.key, map[string]string{"name": "n"}, nil},
				{"GET", "/documents/" + id, acme.key, nil, nil}, {"GET", "/answers/" + id, acme.key, nil, nil},
				{"GET", "/answers/" + id, acme.key, nil, map[string]string{"Prefer": "wait=20"}}, {"DELETE", "/answers/" + id, acme.key, nil, nil},
			} {
				a.refused(c, 404, "not-found")
			}
			a.refused(call{"PUT", "/answers/" + id, acme.key, question, nil}, 400, "invalid-request")
			for _, path := range []string{"/collections/", "/documents/"} {
				a.do(call{"DELETE", path + id, acme.key, nil, nil}).want(t, 204)
				a.do(call{"DELETE", path + id, acme.key, nil, map[string]string{"If-Match": `"1"`}}).want(t, 204)
			}
			if documents := a.do(call{"GET", "/documents?collectionId=" + id, acme.key, nil, nil}).want(t, 200); string(documents.body) != "[]\n" {
				t.Errorf("documents of no collection: %s", documents.body)
			}
		})
	}
}
