package httpapi_test

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// TestIfNoneMatchForbidsAChange: a condition is never ignored (RFC 9110 section 13.1.2), least of all by a DELETE.
func TestIfNoneMatchForbidsAChange(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki := a.newCollection(acme.key, "wiki")
	document := a.putDocument(acme.key, wiki, "https://x.test/1", "One", "1")
	for _, path := range []string{"/documents/" + document, "/collections/" + wiki} {
		tag := a.do(call{"GET", path, acme.key, nil, nil}).want(t, 200).Header.Get("ETag")
		name := map[string]string{"name": "changed", "title": "changed"}
		for _, match := range []string{"*", tag, "W/" + tag, `"0", ` + tag} {
			header := map[string]string{"If-None-Match": match}
			a.refused(call{"PATCH", path, acme.key, name, header}, 412, "precondition-failed")
			a.refused(call{"DELETE", path, acme.key, nil, header}, 412, "precondition-failed")
		}
		if got := a.do(call{"GET", path, acme.key, nil, nil}).want(t, 200).Header.Get("ETag"); got != tag {
			t.Errorf("%s was changed", path)
		}
		other := map[string]string{"If-None-Match": `"0"`}
		a.do(call{"PATCH", path, acme.key, name, other}).want(t, 200)
		a.do(call{"DELETE", path, acme.key, nil, other}).want(t, 204)
		a.do(call{"DELETE", path, acme.key, nil, map[string]string{"If-None-Match": "*"}}).want(t, 204)
	}
}

// TestIfMatchIsObeyedByAGet: it is not performed if the condition is false (RFC 9110 section 13.1.1), which is decided before
// If-None-Match.
func TestIfMatchIsObeyedByAGet(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki := a.newCollection(acme.key, "wiki")
	document := a.putDocument(acme.key, wiki, "https://x.test/1", "One", "1")
	for _, path := range []string{"/documents/" + document, "/collections/" + wiki} {
		tag := a.do(call{"GET", path, acme.key, nil, nil}).want(t, 200).Header.Get("ETag")
		for match, status := range map[string]int{"*": 200, tag: 200, `"0", ` + tag: 200, `"0"`: 412, "W/" + tag: 412, "0": 412} {
			r := a.do(call{"GET", path, acme.key, nil, map[string]string{"If-Match": match}}).want(t, status)
			if status == 412 && r.text(t, "code") != "precondition-failed" {
				t.Errorf("%s: %s", match, r.body)
			}
			a.do(call{"HEAD", path, acme.key, nil, map[string]string{"If-Match": match}}).want(t, status)
		}
		a.do(call{"GET", path, acme.key, nil, map[string]string{"If-Match": `"0"`, "If-None-Match": tag}}).want(t, 412)
		a.do(call{"GET", path, acme.key, nil, map[string]string{"If-Match": tag, "If-None-Match": tag}}).want(t, 304)
		a.do(call{"GET", path[:len(path)-1], acme.key, nil, map[string]string{"If-Match": `"0"`}}).want(t, 404)
	}
}

// TestAnEmptyProtectionIsRefused: a program that lost the ETag or the key believes that its change is protected.
func TestAnEmptyProtectionIsRefused(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki := a.newCollection(acme.key, "wiki")
	created := map[string]string{"name": "n", "description": "d"}
	for _, blank := range []string{"", " "} {
		a.refused(call{"POST", "/collections", acme.key, created, map[string]string{"Idempotency-Key": blank}}, 400, "invalid-request")
		a.refused(call{"PATCH", "/collections/" + wiki, acme.key, created, map[string]string{"If-Match": blank}}, 400, "invalid-request")
		a.refused(call{"DELETE", "/collections/" + wiki, acme.key, nil, map[string]string{"If-Match": blank}}, 400, "invalid-request")
	}
	if all := a.members(call{"GET", "/collections", acme.key, nil, nil}, "name"); len(all) != 1 || all[0] != "wiki" {
		t.Errorf("collections %q", all)
	}
	a.do(call{"DELETE", "/collections/" + wiki, acme.key, nil, map[string]string{"If-None-Match": ""}}).want(t, 204)
}

// TestListsInSeveralLines: lines of one list count together (RFC 9110 section 5.3).
func TestListsInSeveralLines(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki := "/collections/" + a.newCollection(acme.key, "wiki")
	a.do(call{"PUT", "/team/saml-metadata", acme.pat, samlText, map[string]string{"Content-Type": "application/xml"}}).want(t, 200)
	user := a.do(call{"POST", "/scim/v2/Users", acme.scim, map[string]any{"userName": "ada"}, nil}).want(t, 201)
	ada := "/scim/v2/Users/" + user.text(t, "id")
	question := "/answers/0190d2a0-0000-7000-8000-0000000000aa"
	a.do(call{"PUT", question, acme.key, map[string]string{"question": "Why?"}, nil}).want(t, 204)
	a.drain()
	send := func(method, path, key, name string, lines ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, "/v1"+path, strings.NewReader(`{"name":"wiki"}`))
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Content-Type", "application/json")
		r.Header[name] = lines
		w := httptest.NewRecorder()
		a.handler.ServeHTTP(w, r)
		return w
	}
	tag := a.do(call{"GET", wiki, acme.key, nil, nil}).want(t, 200).Header.Get("ETag")
	for _, tt := range []struct {
		method, path, key, name string
		lines                   []string
		status                  int
	}{
		{"PATCH", wiki, acme.key, "If-Match", []string{`"0"`, tag}, 200},
		{"PATCH", wiki, acme.key, "If-Match", []string{`"0"`, `"f"`}, 412},
		{"PATCH", wiki, acme.key, "If-None-Match", []string{`"0"`, tag}, 412},
		{"GET", wiki, acme.key, "If-None-Match", []string{`"0"`, tag}, 304},
		{"DELETE", wiki, acme.key, "If-Match", []string{`"0"`, tag}, 204},
		{"GET", ada, acme.scim, "If-None-Match", []string{`W/"0"`, user.Header.Get("ETag")}, 304},
		{"DELETE", ada, acme.scim, "If-Match", []string{`W/"0"`, user.Header.Get("ETag")}, 204},
	} {
		if got := send(tt.method, tt.path, tt.key, tt.name, tt.lines...); got.Code != tt.status {
			t.Errorf("%s %s with %s %s: %d, want %d", tt.method, tt.path, tt.name, tt.lines, got.Code, tt.status)
		}
	}
	if got := send("GET", question, acme.key, "Prefer", "respond-async", "wait=7").Header().Get("Preference-Applied"); got != "wait=7" {
		t.Errorf("applied %q of Prefer", got)
	}
	if got := send("GET", wiki+"0", acme.key, "Accept", "application/json", "application/problem+json").Header().Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("an error of type %q", got)
	}
}

// TestHeadersAreNotTakenForOthers: of two keys neither counts, and only a star that is alone stands for every version.
func TestHeadersAreNotTakenForOthers(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme, other := a.newTenant("acme"), a.newTenant("other")
	wiki := "/collections/" + a.newCollection(acme.key, "wiki")
	for _, tt := range []struct {
		name   string
		lines  []string
		status int
	}{
		{"Authorization", []string{"Bearer " + acme.key, "Bearer " + other.key}, 400},
		{"Authorization", []string{"Bearer " + acme.key, "Bearer " + acme.key}, 400},
		{"Content-Type", []string{"application/json", "text/plain"}, 400},
		{"If-Match", []string{`"x", *, "y"`}, 412},
		{"If-Match", []string{" * "}, 200},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "PATCH", "/v1"+wiki, strings.NewReader(`{"name":"wiki"}`))
		r.Header.Set("Authorization", "Bearer "+acme.key)
		r.Header.Set("Content-Type", "application/json")
		r.Header[tt.name] = tt.lines
		w := httptest.NewRecorder()
		a.handler.ServeHTTP(w, r)
		if w.Code != tt.status || w.Code == 400 && !strings.Contains(w.Body.String(), "The header "+tt.name) {
			t.Errorf("%s %q: %d %s, want %d", tt.name, tt.lines, w.Code, w.Body, tt.status)
		}
	}
}

// TestUUIDsInUpperCase: an id means the same in either case, to a DELETE too, whose reply does not say whether there
// was something.
func TestUUIDsInUpperCase(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki := a.newCollection(acme.key, "wiki")
	upper := strings.ToUpper(wiki)
	document := a.putDocument(acme.key, upper, "https://x.test/1", "One", "1")
	a.drain()
	var list []struct{ CollectionID string }
	a.do(call{"GET", "/documents?collectionId=" + upper, acme.key, nil, nil}).want(t, 200).json(t, &list)
	if len(list) != 1 || list[0].CollectionID != wiki {
		t.Errorf("documents of the collection: %v", list)
	}
	within := map[string]any{"query": "One", "dataSourceIds": []string{upper}}
	if got := a.do(call{"POST", "/context/search", acme.key, within, nil}).want(t, 200).found(t); len(got) != 1 {
		t.Errorf("found %v", got)
	}
	for _, other := range []string{"{" + wiki + "}", "urn:uuid:" + wiki, strings.ReplaceAll(wiki, "-", "")} {
		within["dataSourceIds"] = []string{other}
		a.do(call{"POST", "/context/search", acme.key, within, nil}).wantCode(t, 400, "invalid-request")
	}
	key := map[string]any{"kind": "team", "name": "bot", "dataSourceIds": []string{upper}}
	if got := a.do(call{"POST", "/api-keys", acme.pat, key, nil}).want(t, 201); !strings.Contains(string(got.body), wiki) {
		t.Errorf("the key: %s", got.body)
	}
	for _, path := range []string{"/documents/", "/collections/"} {
		id := map[string]string{"/documents/": document, "/collections/": wiki}[path]
		a.do(call{"GET", path + strings.ToUpper(id), acme.key, nil, nil}).want(t, 200)
		a.do(call{"DELETE", path + strings.ToUpper(id), acme.key, nil, nil}).want(t, 204)
		a.do(call{"GET", path + id, acme.key, nil, nil}).want(t, 404)
	}
}
