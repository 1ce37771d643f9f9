package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
)

// marker is in every offending value; no reply may repeat it.
const marker = "ZAUBERWORT"

// bodyOperation is an operation that takes a body, with a body that it accepts.
type bodyOperation struct {
	name, method, path string
	good               map[string]any
	status             int // of the good body
}

// bodyOperations returns all operations that take a body, each with its own data.
func bodyOperations(a *api, acme tenant) []bodyOperation {
	wiki := a.newCollection(acme.key, "wiki")
	return []bodyOperation{
		{"createCollection", "POST", "/collections", map[string]any{"name": "n", "description": "d", "iconUrl": "https://x.test/i.png"}, 201},
		{"updateCollection", "PATCH", "/collections/" + wiki, map[string]any{"name": "n", "description": "d", "iconUrl": "https://x.test/i.png"}, 200},
		{"putDocument", "PUT", "/documents", map[string]any{"collectionId": wiki, "title": "t", "body": "b", "uri": "https://x.test/"}, 200},
		{"askQuestion", "PUT", "/answers/0190d2a0-0000-7000-8000-00000000000a", map[string]any{"question": "q"}, 204},
	}
}

// with returns the good body with one member changed.
func (o bodyOperation) with(name string, value any) map[string]any {
	body := maps.Clone(o.good)
	body[name] = value
	return body
}

// refused sends a bad request and checks the common properties of refusals.
func (a *api) refused(c call, status int, code string) response {
	a.t.Helper()
	reply := a.do(c).wantCode(a.t, status, code)
	if strings.Contains(string(reply.body), marker) {
		a.t.Errorf("the reply repeats what was sent: %.300s", reply.body)
	}
	if got := reply.Header.Get("Content-Type"); got != "application/json" {
		a.t.Errorf("Content-Type %q", got)
	}
	c.header = maps.Clone(c.header)
	if c.header == nil {
		c.header = map[string]string{}
	}
	c.header["Accept"] = "text/html, application/problem+json;q=0.5"
	if got := a.do(c).wantCode(a.t, status, code).Header.Get("Content-Type"); got != "application/problem+json" {
		a.t.Errorf("Content-Type %q where Accept names application/problem+json", got)
	}
	return reply
}

func TestBodiesThatAreNoRequest(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	bodies := []struct {
		name string
		body any
	}{
		{"no body", nil},
		{"empty body", ""},
		{"spaces", "  \n "},
		{"cut off", `{"name":"` + marker},
		{"not JSON", marker},
		{"single quotes", `{'name':'` + marker + `'}`},
		{"text after the object", `{"name":"n","description":"d","collectionId":"c","title":"t","body":"b","uri":"https://x.test/","question":"q"} ` + marker},
		{"two objects", `{"question":"q","name":"n","description":"d"}{"question":"` + marker + `"}`},
		{"null", "null"},
		{"array", `["` + marker + `"]`},
		{"string", `"` + marker + `"`},
		{"number", "17"},
		{"not UTF-8", "{\"name\":\"" + marker + "\xff\"}"},
		{"a surrogate in UTF-8", "{\"name\":\"\xed\xa0\x80\"}"},
		{"a member twice", `{"name":"n","description":"d","collectionId":"c","title":"t","body":"b","uri":"https://x.test/","question":"q","name":"` + marker + `"}`},
		{"an unknown member twice", `{"x":{"` + marker + `":1,"\u0078":[],"x":[]}}`},
		{"a byte order mark", "\ufeff{}"},
		{"too deep", `{"x":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`},
		{"very deep", strings.Repeat(`{"a":`, 500_000)},
		{"a megabyte of a string without end", `{"name":"` + strings.Repeat(marker, 100_000)},
	}
	for _, o := range bodyOperations(a, acme) {
		a.do(call{o.method, o.path, acme.key, o.good, nil}).want(t, o.status)
		for _, tt := range bodies {
			t.Run(o.name+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				a.in(t).refused(call{o.method, o.path, acme.key, tt.body, nil}, 400, "invalid-request")
			})
		}
	}
}

// TestMembersOfTheWrongKind gives every member of every body each wrong type.
func TestMembersOfTheWrongKind(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	for _, o := range bodyOperations(a, acme) {
		for member := range o.good {
			for kind, value := range map[string]any{
				"number": 4711, "boolean": true, "array": []string{marker}, "object": map[string]string{"x": marker}, "null": nil,
			} {
				if member == "iconUrl" && kind == "null" {
					continue // null removes the icon, or counts as left out
				}
				t.Run(o.name+"/"+member+"/"+kind, func(t *testing.T) {
					t.Parallel()
					reply := a.in(t).refused(call{o.method, o.path, acme.key, o.with(member, value), nil}, 400, "invalid-request")
					if !strings.Contains(string(reply.body), `"pointer":"/`+member+`"`) {
						t.Errorf("the reply does not point to /%s: %s", member, reply.body)
					}
				})
			}
		}
	}
}

func TestMissingMembers(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	for _, o := range bodyOperations(a, acme) {
		for member := range o.good {
			t.Run(o.name+"/"+member, func(t *testing.T) {
				t.Parallel()
				body := maps.Clone(o.good)
				delete(body, member)
				if o.method == "PATCH" || member == "iconUrl" {
					a.in(t).do(call{o.method, o.path, acme.key, body, nil}).want(t, o.status)
					return
				}
				a.in(t).refused(call{o.method, o.path, acme.key, body, nil}, 400, "invalid-request")
				// Another spelling is another, unknown member.
				body[strings.ToUpper(member)] = o.good[member]
				a.in(t).refused(call{o.method, o.path, acme.key, body, nil}, 400, "invalid-request")
			})
		}
	}
}

// TestUnknownMembersAreIgnored, even if they differ from a known one only in case: they must not
// set its value and so bypass its bounds.
func TestUnknownMembersAreIgnored(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	for _, o := range bodyOperations(a, acme) {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			body, err := json.Marshal(o.with("$schema", marker))
			if err != nil {
				t.Fatal(err)
			}
			body = body[:len(body)-1]
			for member := range o.good { // the last of several wins, so these come last
				body = fmt.Appendf(body, `,%q:%q,%q:null`, strings.ToUpper(member), strings.Repeat(marker, 2000), strings.ToUpper(member[:1])+member[1:])
			}
			reply := a.in(t).do(call{o.method, o.path, acme.key, append(body, '}'), nil}).want(t, o.status)
			if strings.Contains(string(reply.body), marker) {
				t.Errorf("an unknown member was taken: %.300s", reply.body)
			}
		})
	}
	reply := a.do(call{"GET", "/collections", acme.key, nil, nil}).want(t, http.StatusOK)
	if strings.Contains(string(reply.body), marker) {
		t.Errorf("an unknown member was stored: %.300s", reply.body)
	}
}

// TestNamesAreExactInObjectsOfABody: there too, another spelling does not set the value of a member.
func TestNamesAreExactInObjectsOfABody(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	body := `{"model":"docent","messages":[{"role":"system","content":"Who?","ROLE":"user","Role":"user"}]}`
	reply := a.do(call{"POST", "/chat/completions", acme.key, body, nil}).want(t, 400)
	if !strings.Contains(string(reply.body), "must have a message of the user") {
		t.Errorf("ROLE counts as role: %s", reply.body)
	}
}

// TestUnknownMembersOfAccessAreRefused: an ignored one would hide a document from people who should read it, and from its
// author. Another spelling is another member.
func TestUnknownMembersOfAccessAreRefused(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.provisioned("acme")
	ada := a.newColleague(acme, "ada@acme.test")
	wiki := a.newCollection(acme.key, "wiki")
	jira, _ := a.connect(acme, "jira", nil)
	page := a.putWith(acme.key, wiki, "https://wiki.test/a", only(ada.name)).want(t, 200).text(t, "id")
	for _, misspelt := range []map[string]any{{"Users": []string{ada.name}}, {"users": []string{ada.name}, "GROUPS": []string{"x"}}, {"user": ada.name}, {marker: nil}} {
		for what, c := range map[string]call{
			"access":                          {"PUT", "/documents", acme.key, map[string]any{"collectionId": wiki, "uri": "https://wiki.test/a", "title": "t", "body": "b", "access": misspelt}, nil},
			"access, changed":                 {"PATCH", "/documents/" + page, acme.key, map[string]any{"access": misspelt}, nil},
			"defaultAccess":                   {"POST", "/collections", acme.pat, map[string]any{"name": "n", "description": "d", "defaultAccess": misspelt}, nil},
			"defaultAccess, of a collection":  {"PATCH", "/collections/" + wiki, acme.pat, map[string]any{"defaultAccess": misspelt}, nil},
			"defaultAccess, of a data source": {"PATCH", "/data-sources/" + jira, acme.pat, map[string]any{"defaultAccess": misspelt}, nil},
		} {
			member, _, _ := strings.Cut(what, ",")
			want := "The request is not valid: /" + member + ": must have no members but users and groups."
			if got := a.refused(c, 400, "invalid-request").text(t, "detail"); got != want {
				t.Errorf("%s, %v: %q", what, misspelt, got)
			}
		}
		reply := a.importItems(acme, jira, issue(1, "The kirschkern is loose", map[string]any{"access": misspelt})).want(t, 200)
		if !strings.Contains(string(reply.body), `"rejected":1`) {
			t.Errorf("import, %v: %s", misspelt, reply.body)
		}
	}
	reply := a.do(call{"GET", "/documents/" + page + "/access?user=" + ada.name, acme.key, nil, nil}).want(t, 200)
	if reply.any(t, "mayRead") != true {
		t.Errorf("a refused request has changed who may read: %s", reply.body)
	}
}

// TestHalfOfASurrogatePairIsRefused: a decoder would put U+FFFD in its place, so that two different texts were one.
func TestHalfOfASurrogatePairIsRefused(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.provisioned("acme")
	wiki := a.newCollection(acme.key, "wiki")
	jira, _ := a.connect(acme, "jira", nil)
	for path, body := range map[string]string{
		"POST /collections":          `{"name":"\ud800","description":"d"}`,
		"PATCH /collections/" + wiki: `{"description":"\ud83d "}`,
		"PUT /documents":             `{"collectionId":"` + wiki + `","title":"t","body":"cut \ud83d","uri":"https://x.test/"}`,
		"POST /context/search":       `{"query":"\udc00"}`,
		"POST /chat/completions":     `{"model":"docent","messages":[{"role":"user","content":"Who? \ud83d"}]}`,
		"POST /api-keys":             `{"kind":"team","name":"n","\ud800":1}`,
	} {
		method, path, _ := strings.Cut(path, " ")
		reply := a.refused(call{method, path, acme.pat, body, nil}, 400, "invalid-request")
		if !strings.Contains(string(reply.body), "half of a surrogate pair") {
			t.Errorf("%s %s: %s", method, path, reply.body)
		}
	}
	line := `{"uri":"https://x.test/1","title":"t","body":"\ud83d","sourceType":"issue"}` + "\n" + `{"uri":"https://x.test/2","title":"t","body":"\ud83d\ude00","sourceType":"issue"}`
	reply := a.do(call{"POST", "/data-sources/" + jira + "/items", acme.pat, line, map[string]string{"Content-Type": "application/x-ndjson"}}).want(t, 200)
	if !strings.Contains(string(reply.body), `"accepted":1,"rejected":1`) || !strings.Contains(string(reply.body), "half of a surrogate pair") {
		t.Errorf("import: %s", reply.body)
	}
	a.do(call{"PUT", "/documents", acme.key, `{"collectionId":"` + wiki + `","title":"\ud83d\ude00","body":"\\ud83d","uri":"https://x.test/"}`, nil}).want(t, 200)
}
