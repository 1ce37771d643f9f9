package scim_test

import (
	"strings"
	"testing"
)

// TestBadInputChangesNothing: each input gets its error, and nothing changes.
func TestBadInputChangesNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := s.user("ada")
	group := s.group("g", id)
	everything := s.must(200, "GET", "/", "").text
	deep := strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)
	bulk := func(operations string) string {
		return `{"schemas":["urn:ietf:params:scim:api:messages:2.0:BulkRequest"],"Operations":` + operations + `}`
	}
	search := func(members string) string {
		return `{"schemas":["urn:ietf:params:scim:api:messages:2.0:SearchRequest"],` + members + `}`
	}
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		kind               string
	}{
		"a filter of a million characters":        {"GET", "/Users?filter=userName%20eq%20%22" + strings.Repeat("x", 1_000_000) + "%22", "", 400, "invalidFilter"},
		"the same in a body":                      {"POST", "/.search", search(`"filter":"userName eq \"` + strings.Repeat("x", 1_000_000) + `\""`), 400, "invalidFilter"},
		"a path of a million characters":          {"PATCH", "/Users/" + id, message(`{"op":"add","path":"` + strings.Repeat("x", 1_000_000) + `","value":1}`), 400, "invalidPath"},
		"a path that nests deep":                  {"PATCH", "/Users/" + id, message(`{"op":"add","path":"emails[` + strings.Repeat("(", 40) + `value pr` + strings.Repeat(")", 40) + `]","value":{}}`), 400, "invalidPath"},
		"JSON that nests deep":                    {"POST", "/Users", `{"userName":"x","x":` + deep + `}`, 400, "invalidSyntax"},
		"JSON that nests without end":             {"POST", "/Users", strings.Repeat("[", 1_000_000), 400, "invalidSyntax"},
		"JSON that is cut off":                    {"PUT", "/Users/" + id, `{"userName":"x"`, 400, "invalidSyntax"},
		"no JSON":                                 {"POST", "/Groups", `displayName=x`, 400, "invalidSyntax"},
		"a list":                                  {"POST", "/Groups", `[]`, 400, "invalidSyntax"},
		"a key twice":                             {"POST", "/Users", `{"userName":"x","userName":"y"}`, 400, "invalidSyntax"},
		"a key twice, deep down":                  {"POST", "/Users", `{"userName":"x","name":{"givenName":"a","givenName":"b"}}`, 400, "invalidSyntax"},
		"a key twice in two cases":                {"PUT", "/Users/" + id, `{"userName":"x","USERNAME":"y"}`, 400, "invalidSyntax"},
		"a number as a name":                      {"PUT", "/Users/" + id, `{"userName":1}`, 400, "invalidValue"},
		"a number as a text":                      {"PATCH", "/Users/" + id, message(`{"op":"add","path":"title","value":7}`), 400, "invalidValue"},
		"a number as a boolean":                   {"PATCH", "/Users/" + id, message(`{"op":"replace","path":"active","value":0}`), 400, "invalidValue"},
		"a text as a number":                      {"POST", "/Users/.search", search(`"count":"10"`), 400, "invalidValue"},
		"a number as a cursor":                    {"POST", "/Users/.search", search(`"cursor":5`), 400, "invalidValue"},
		"a number as an attribute":                {"POST", "/Users/.search", search(`"attributes":[1]`), 400, "invalidValue"},
		"an object as excluded attributes":        {"POST", "/Groups/.search", search(`"excludedAttributes":{"members":true}`), 400, "invalidValue"},
		"a fraction as a count":                   {"POST", "/Users/.search", search(`"startIndex":1.5`), 400, "invalidValue"},
		"a text as failOnErrors":                  {"POST", "/Bulk", `{"failOnErrors":"1",` + bulk("[]")[1:], 400, "invalidValue"},
		"operations that are not a list":          {"POST", "/Bulk", bulk(`{}`), 400, "invalidSyntax"},
		"an operation that is none":               {"POST", "/Bulk", bulk(`["x"]`), 400, "invalidSyntax"},
		"a name with a control character":         {"POST", "/Users", `{"userName":"a\u0000b"}`, 400, "invalidValue"},
		"a name that is too long":                 {"PUT", "/Users/" + id, `{"userName":"` + strings.Repeat("x", 257) + `"}`, 400, "invalidValue"},
		"attributes that are too large":           {"POST", "/Users", `{"userName":"x","title":"` + strings.Repeat("x", 200_000) + `"}`, 413, ""},
		"an id with an encoded slash":             {"GET", "/Users/" + id + "%2F", "", 404, ""},
		"an id with a slash":                      {"DELETE", "/Users/" + id + "/x", "", 404, ""},
		"an id that goes up":                      {"DELETE", "/Groups/..%2FUsers%2F" + id, "", 404, ""},
		"an id of Unicode":                        {"DELETE", "/Users/%F0%9F%98%80", "", 404, ""},
		"an id that is not UTF-8":                 {"PATCH", "/Users/%FF%FE", message(), 404, ""},
		"a group's id with a control character":   {"DELETE", "/Groups/a%00b", "", 404, ""},
		"a group's id that is not UTF-8":          {"DELETE", "/Groups/%FF%FE", "", 404, ""},
		"a group's id that is too long":           {"DELETE", "/Groups/" + strings.Repeat("x", 3000), "", 404, ""},
		"an id in capitals":                       {"DELETE", "/Users/" + strings.ToUpper(id), "", 404, ""},
		"a user's id as a group's":                {"DELETE", "/Groups/" + id, "", 404, ""},
		"the reserved id":                         {"GET", "/Users/bulkId", "", 404, ""},
		"a cursor of a million characters":        {"GET", "/Users?cursor=" + strings.Repeat("x", 1_000_000), "", 400, "invalidCursor"},
		"a member that is not a user":             {"PUT", "/Groups/" + group, `{"displayName":"g","members":[{"value":"../` + id + `"}]}`, 400, "invalidValue"},
		"a member that is a number":               {"PATCH", "/Groups/" + group, message(`{"op":"add","path":"members","value":[{"value":5}]}`), 400, "invalidValue"},
		"a member without a value, added":         {"PATCH", "/Groups/" + group, message(`{"op":"add","path":"members","value":[{}]}`), 400, "invalidValue"},
		"a member without a value for all":        {"PATCH", "/Groups/" + group, message(`{"op":"replace","path":"members","value":[{"value":""}]}`), 400, "invalidValue"},
		"a member that is null for all":           {"PATCH", "/Groups/" + group, message(`{"op":"replace","value":{"members":[null]}}`), 400, "invalidValue"},
		"a member that is empty for all":          {"PUT", "/Groups/" + group, `{"displayName":"g","members":[{"value":"` + id + `"},""]}`, 400, "invalidValue"},
		"empty text for all members":              {"PUT", "/Groups/" + group, `{"displayName":"g","members":""}`, 400, "invalidValue"},
		"emails of another shape":                 {"PUT", "/Users/" + id, `{"userName":"ada","emails":{"x":"y"}}`, 400, "invalidValue"},
		"a new user's emails of another shape":    {"POST", "/Users", `{"userName":"x","emails":[{"x":"y"}]}`, 400, "invalidValue"},
		"emails of another shape in a change":     {"PATCH", "/Users/" + id, message(`{"op":"replace","path":"emails","value":{"x":"y"}}`), 400, "invalidValue"},
		"a filter twice":                          {"GET", "/Users?filter=&filter=userName%20eq%20%22x%22", "", 400, "invalidValue"},
		"a count twice":                           {"GET", "/Groups?count=1&count=2", "", 400, "invalidValue"},
		"a cursor twice":                          {"GET", "/?cursor=&cursor=x", "", 400, "invalidValue"},
		"half of a surrogate pair":                {"PUT", "/Users/" + id, `{"userName":"ada\ud800"}`, 400, "invalidSyntax"},
		"half of a surrogate pair in a key":       {"POST", "/Users", `{"userName":"x","\udc00":1}`, 400, "invalidSyntax"},
		"a member without a value, removed":       {"PATCH", "/Groups/" + group, message(`{"op":"remove","path":"members","value":[{"value":null}]}`), 400, "invalidValue"},
		"a sort by nothing that is there":         {"GET", "/Users?sortBy=nope", "", 400, "invalidValue"},
		"a body for what takes none of that kind": {"POST", "/Schemas", `{}`, 405, ""},
	} {
		r := s.do(c.method, c.path, c.body)
		if r.StatusCode != c.status || r.string("scimType") != c.kind || r.string("detail") == "" || len(r.text) > 1000 {
			t.Errorf("%s: %d %.300s, want %d %s", name, r.StatusCode, r.text, c.status, c.kind)
		}
	}
	for name, operations := range map[string]string{
		"itself": `[{"method":"POST","path":"/Users","bulkId":"a","data":{"userName":"x","` + enterprise + `":{"manager":"bulkId:a"}}}]`,
		"a ring": `[{"method":"POST","path":"/Users","bulkId":"a","data":{"userName":"x","` + enterprise + `":{"manager":"bulkId:b"}}},
			{"method":"POST","path":"/Users","bulkId":"b","data":{"userName":"y","` + enterprise + `":{"manager":{"value":"bulkId:a"}}}}]`,
	} {
		r := s.must(200, "POST", "/Bulk", bulk(operations))
		for _, e := range r.body["Operations"].([]any) {
			if e.(map[string]any)["status"] != "409" {
				t.Errorf("%s: %v", name, e)
			}
		}
	}
	for _, o := range s.must(200, "POST", "/Bulk", bulk(`[{"method":"PUT","path":"/Users/`+id+`","data":{"userName":"ada","emails":{"x":"y"}}},
		{"method":"PATCH","path":"/Users/`+id+`","data":`+message(`{"op":"replace","path":"phoneNumbers","value":[{"x":"y"}]}`)+`}]`)).body["Operations"].([]any) {
		if o.(map[string]any)["status"] != "400" {
			t.Errorf("in Bulk: %v", o)
		}
	}
	if got := s.must(200, "GET", "/", "").text; got != everything {
		t.Errorf("something has changed:\n%s\n%s", everything, got)
	}
}
