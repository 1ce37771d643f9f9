package scim_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"docent/shared/table"
	"docent/shared/team"
)

func (s *server) patchUser(status int, id string, operations ...string) reply {
	s.Helper()
	return s.must(status, "PATCH", "/Users/"+id, message(operations...))
}

// TestOneNameBelongsToOneUser: of 32 parallel creates of one name, in several cases, one succeeds.
func TestOneNameBelongsToOneUser(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var wg sync.WaitGroup
	replies := make([]reply, 32)
	for i := range replies {
		wg.Go(func() {
			replies[i] = s.do("POST", "/Users", `{"userName":"`+[]string{"grace", "GRACE", "gRaCe", "Grace"}[i%4]+`"}`)
		})
	}
	wg.Wait()
	made := 0
	for _, r := range replies {
		switch {
		case r.StatusCode == 201:
			made++
		case r.StatusCode != 409 || r.string("scimType") != "uniqueness":
			t.Errorf("%d %s", r.StatusCode, r.text)
		}
	}
	if made != 1 {
		t.Errorf("%d were made", made)
	}
}

// TestRaces: of two renames to one name one succeeds, and a PATCH in parallel with a DELETE
// leaves nothing of the user.
func TestRaces(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for round := range 8 {
		a, b := s.user(fmt.Sprint("a", round)), s.user(fmt.Sprint("b", round))
		var wg sync.WaitGroup
		statuses := make([]int, 4)
		for i, id := range []string{a, b} {
			wg.Go(func() {
				statuses[i] = s.do("PATCH", "/Users/"+id, message(fmt.Sprintf(`{"op":"replace","path":"userName","value":"taken%d"}`, round))).StatusCode
			})
		}
		wg.Wait()
		if statuses[0]+statuses[1] != 200+409 {
			t.Errorf("two renames: %v", statuses)
		}
		wg.Go(func() {
			statuses[2] = s.do("PATCH", "/Users/"+a, message(`{"op":"replace","path":"displayName","value":"late"}`)).StatusCode
		})
		wg.Go(func() { statuses[3] = s.do("DELETE", "/Users/"+a, "").StatusCode })
		wg.Wait()
		if statuses[3] != 204 || statuses[2] != 200 && statuses[2] != 404 {
			t.Errorf("a PATCH in parallel with a DELETE: %v", statuses)
		}
		s.must(404, "GET", "/Users/"+a, "")
		s.has(`/Users?filter=displayName eq "late"`, `"totalResults":0`)
		s.must(204, "DELETE", "/Users/"+b, "")
	}
	s.has("/Users?count=0", `"totalResults":1`)
}

// TestTheFirstListedUserIsWhole: Okta's test of a server reads the first user of the list, the
// team's first admin, and requires what its import needs.
func TestTheFirstListedUserIsWhole(t *testing.T) {
	t.Parallel()
	newServer(t).has("/Users?count=1&startIndex=1", `"active":true`, `"emails":[{"primary":true,"type":"work","value":"boss@acme.test"}]`,
		`"name":{"familyName":"Boss","givenName":"Boss"}`, `"itemsPerPage":1`, `"startIndex":1`, `"totalResults":1`)
}

func TestPaging(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	ids := append([]string{s.boss.ID}, s.people(249)...)
	for query, want := range map[string][3]int{ // total, first, length
		"":                         {250, 0, 100},
		"count=1000":               {250, 0, 200},
		"startIndex=0&count=-3":    {250, 0, 0},
		"startIndex=240&count=50":  {250, 239, 11},
		"startIndex=9999999999999": {250, 0, 0},
		"startIndex=251&count=2":   {250, 0, 0},
		"startIndex=3&count=2":     {250, 2, 2},
		"startIndex=-9223372036854775809&count=2": {250, 0, 2},
	} {
		r := s.must(200, "GET", "/Users?"+query, "")
		list := r.body["Resources"].([]any)
		if r.body["totalResults"] != float64(want[0]) || len(list) != want[2] || r.body["itemsPerPage"] != float64(want[2]) {
			t.Errorf("%s: total %v, %d resources", query, r.body["totalResults"], len(list))
		}
		for i, e := range list {
			if e.(map[string]any)["id"] != ids[want[1]+i] {
				t.Errorf("%s: position %d", query, i)
				break
			}
		}
	}
	for _, sortBy := range []string{"", "userName", "title"} {
		seen := map[string]bool{}
		cursor, pages := "", 0
		for {
			r := s.must(200, "GET", "/Users?count=60&sortBy="+sortBy+"&cursor="+cursor, "")
			for _, e := range r.body["Resources"].([]any) {
				seen[e.(map[string]any)["id"].(string)] = true
			}
			pages++
			if cursor = r.string("nextCursor"); cursor == "" {
				break
			}
		}
		if len(seen) != 250 || pages != 5 {
			t.Errorf("by %q: %d users in %d pages", sortBy, len(seen), pages)
		}
	}
	cursor := s.must(200, "GET", "/Users?count=2&cursor=", "").string("nextCursor")
	rival, _ := s.newTeam("rival")
	key := s.newKey(rival.ID, team.KindSCIM, "")
	for name, r := range map[string]reply{
		"of another team":  s.as(key, "GET", "/Users?count=2&cursor="+cursor, ""),
		"of another list":  s.do("GET", "/Groups?count=2&cursor="+cursor, ""),
		"of another order": s.do("GET", "/Users?count=2&sortBy=title&cursor="+cursor, ""),
		"damaged":          s.do("GET", "/Users?count=2&cursor="+cursor[:len(cursor)-1], ""),
	} {
		if r.StatusCode != 400 || r.string("scimType") != "invalidCursor" {
			t.Errorf("a cursor %s: %d %s", name, r.StatusCode, r.text)
		}
	}
}

func TestFiltersGoThroughTheIndex(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := s.must(201, "POST", "/Users", `{"userName":"Grace","externalId":"X","displayName":"G H","active":false,"emails":[{"value":"g@x.test","type":"work"}]}`).string("id")
	s.must(201, "POST", "/Users", `{"userName":"g h","emails":[{"value":"other@x.test","type":"work"}]}`)
	s.people(300)
	for filter, want := range map[string]int{
		`userName eq "GRACE"`: 1, `externalId eq "X"`: 1, `externalId eq "x"`: 0, `id eq "` + id + `"`: 1, `displayName eq "g h"`: 2,
		`emails eq "G@x.test"`: 1, `emails.value eq "g@x.test"`: 1, `emails[type eq "work"].value eq "g@x.test"`: 1, `emails[type eq "home"].value eq "g@x.test"`: 0,
		`emails[type eq "work" and value eq "g@x.test"]`: 1, `active eq false`: 1, `userName eq "grace" and active eq true`: 0, `active eq False and displayName eq "G H"`: 1,
		`displayName eq "boss@acme.test"`: 1, `urn:ietf:params:scim:schemas:core:2.0:User:userName eq "grace"`: 1,
	} {
		ctx, meter := table.WithMeter(t.Context())
		r := s.within(ctx, "GET", "/Users?filter="+filter)
		if r.body["totalResults"] != float64(want) {
			t.Errorf("%s: %s", filter, r.text)
		}
		if cost := meter.Read(); cost.ReadUnits > 12 {
			t.Errorf("%s reads %v units", filter, cost.ReadUnits)
		}
	}
	for filter, want := range map[string]int{
		`active eq true`: 302, `userName sw "p0"`: 300, `not (active eq true)`: 1, `emails[type eq "work"].value ne "g@x.test"`: 302,
		`emails[type eq "work"].value eq null`: 300, `userName eq "grace" or userName eq "g h"`: 2, `meta.resourceType eq "User"`: 303,
	} {
		if r := s.must(200, "GET", "/Users?count=1&filter="+filter, ""); r.body["totalResults"] != float64(want) {
			t.Errorf("%s: %v, want %d", filter, r.body["totalResults"], want)
		}
	}
}

func TestCosts(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.do("GET", "/Users?count=0", "") // the key is in memory
	body := `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":"Grace","externalId":"X","displayName":"Grace Hopper","active":true,
		"name":{"givenName":"Grace","familyName":"Hopper"},"emails":[{"value":"g@x.test","type":"work","primary":true}]}`
	ctx, meter := table.WithMeter(t.Context())
	if r := s.within(ctx, "POST", "/Users", body); r.StatusCode != 201 {
		t.Fatal(r.text)
	}
	if cost := meter.Read(); cost.RoundTrips > 2 || cost.WriteUnits > 12 || cost.ReadUnits > 1 {
		t.Errorf("create a user: %+v", cost)
	}
}

func TestBulkContinuesAfterAFailure(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	run := func(fail string, operations ...string) []map[string]any {
		t.Helper()
		r := s.must(200, "POST", "/Bulk", `{"schemas":["urn:ietf:params:scim:api:messages:2.0:BulkRequest"]`+fail+`,"Operations":[`+strings.Join(operations, ",")+`]}`)
		var out struct{ Operations []map[string]any }
		if err := json.Unmarshal([]byte(r.text), &out); err != nil {
			t.Fatal(err)
		}
		return out.Operations
	}
	group := func(id, refers string) string {
		return `{"method":"POST","path":"/Groups","bulkId":"` + id + `","data":{"displayName":"` + id + `","members":[{"value":"bulkId:` + refers + `"}]}}`
	}
	user := func(name string) string {
		return `{"method":"post","path":"/Users","bulkId":"` + name + `","data":{"userName":"` + name + `","password":"secret"}}`
	}
	for _, fail := range []string{"", `,"failOnErrors":9`} {
		got := run(fail, group("g", "u"), user("u"), group("bad", "none"), user(" "), group("needs", " "),
			`{"method":"PATCH","path":"/Groups/bulkId:g","data":{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[{"op":"remove","path":"members[value eq \"bulkId:u\"]"}]}}`,
			`{"method":"GET","path":"/Users/x","data":{}}`, `{"method":"POST","path":"/Nope","data":{}}`, `{"method":"PATCH","path":"/Users","data":{}}`,
			`{"method":"PUT","path":"/Users/bulkId:a","bulkId":"b","data":{}}`, `{"method":"PUT","path":"/Users/bulkId:b","bulkId":"a","data":{}}`)
		var statuses []string
		for _, o := range got {
			statuses = append(statuses, o["status"].(string))
		}
		if want := "201 201 400 400 409 204 405 404 405 409 409"; strings.Join(statuses, " ") != want {
			t.Errorf("%s: %v, want %s", fail, statuses, want)
		}
		if text := fmt.Sprint(got); strings.Contains(text, "secret") {
			t.Errorf("the password is returned: %s", text)
		}
		gone := run("", `{"method":"DELETE","path":"`+strings.TrimPrefix(got[0]["location"].(string), base+"/scim/v2")+`"}`, `{"method":"DELETE","path":"`+strings.TrimPrefix(got[1]["location"].(string), base+"/scim/v2")+`"}`)
		if gone[0]["status"] != "204" || gone[1]["status"] != "204" {
			t.Errorf("%v", gone)
		}
	}
	s.must(413, "POST", "/Bulk", strings.Repeat(" ", 1<<20)+`{"schemas":["urn:ietf:params:scim:api:messages:2.0:BulkRequest"],"Operations":[]}`)
	s.must(413, "POST", "/Users", strings.Repeat(" ", 10<<20)+`{"userName":"x"}`)
}

// TestBoundsOfRequestsAreInclusive tests exactly the maximum of operations and of filter
// length, and one more.
func TestBoundsOfRequestsAreInclusive(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	user := s.user("a")
	repeated := func(operation string, n int) string { return strings.TrimSuffix(strings.Repeat(operation+",", n), ",") }
	rename := `{"op":"replace","path":"displayName","value":"x"}`
	s.must(200, "PATCH", "/Users/"+user, message(repeated(rename, 1000)))
	s.must(413, "PATCH", "/Users/"+user, message(repeated(rename, 1001)))
	bulk := func(n int) string {
		return `{"schemas":["urn:ietf:params:scim:api:messages:2.0:BulkRequest"],"Operations":[` + repeated(`{"method":"DELETE","path":"/Users/x"}`, n) + `]}`
	}
	s.must(200, "POST", "/Bulk", bulk(1000))
	s.must(413, "POST", "/Bulk", bulk(1001))
	filter := func(size int) string {
		const around = `userName eq ""`
		return "/Users?filter=" + url.QueryEscape(around[:len(around)-1]+strings.Repeat("a", size-len(around))+`"`)
	}
	s.must(200, "GET", filter(8<<10), "")
	s.must(400, "GET", filter(8<<10+1), "")
}

// TestAnotherTeamsIDs: every operation on them is 404.
func TestAnotherTeamsIDs(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	user := s.user("a")
	group := s.must(201, "POST", "/Groups", `{"displayName":"G"}`).string("id")
	rival, _ := s.newTeam("rival")
	key := s.newKey(rival.ID, team.KindSCIM, "")
	patch := message(`{"op":"replace","path":"displayName","value":"stolen"}`)
	for _, path := range []string{"/Users/" + user, "/Groups/" + group, "/Users/" + group, "/Users/x", "/Users/%2F", "/Users/a%2Fb", "/Groups/ü", "/Users/%00"} {
		for method, body := range map[string]string{"GET": "", "DELETE": "", "PUT": `{"userName":"x","displayName":"x"}`, "PATCH": patch} {
			if r := s.as(key, method, path, body); r.StatusCode != 404 {
				t.Errorf("%s %s: %d %s", method, path, r.StatusCode, r.text)
			}
		}
	}
	if r := s.as(key, "GET", "/", ""); r.body["totalResults"] != 1.0 { // its own admin
		t.Errorf("%s", r.text)
	}
	if r := s.do("GET", "/", ""); r.body["totalResults"] != 3.0 {
		t.Errorf("%s", r.text)
	}
}

func TestVersionsAndProjections(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.must(201, "POST", "/Users?attributes=userName", `{"userName":"grace"}`)
	if len(made.body) != 3 || made.Header.Get("ETag") != `W/"1"` {
		t.Errorf("%s %v", made.text, made.Header)
	}
	id := made.string("id")
	if r := s.must(200, "GET", "/Users/"+id+"?attributes=id", ""); r.Header.Get("ETag") != `W/"1"` {
		t.Errorf("%v", r.Header)
	}
	for _, r := range []reply{
		made, s.do("GET", "/Users/"+id, ""), s.do("PUT", "/Users/"+id, `{"userName":"grace"}`), s.do("PATCH", "/Users/"+id, message()),
	} {
		if got := r.Header.Get("Location"); got != base+"/scim/v2/Users/"+id {
			t.Errorf("%s: Location %q", r.Status, got)
		}
	}
	for _, tags := range []string{`W/"1"`, `"1"`, "*", `W/"7", W/"1"`} {
		s.must(304, "GET", "/Users/"+id, "", "If-None-Match", tags)
	}
	s.now.Advance(1e9)
	if r := s.patchUser(200, id, `{"op":"replace","path":"userName","value":"grace"}`); r.Header.Get("ETag") != `W/"1"` {
		t.Error("a change of nothing moves the version")
	}
	r := s.patchUser(200, id, `{"op":"replace","path":"title","value":"RADM"}`)
	meta := r.body["meta"].(map[string]any)
	if r.Header.Get("ETag") != `W/"2"` || meta["version"] != `W/"2"` || meta["created"] != "2026-11-21T12:00:00.000Z" || meta["lastModified"] != "2026-11-21T12:00:01.000Z" {
		t.Errorf("%s", r.text)
	}
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		s.must(412, method, "/Users/"+id, `{"userName":"grace"}`, "If-Match", `W/"1"`)
	}
	group := s.group("only once")
	for path, body := range map[string]string{"/Users/" + id: `{"userName":"grace"}`, "/Groups/" + group: `{"displayName":"g"}`} {
		for _, method := range []string{"PUT", "DELETE"} { // they are to be done only if there is no such resource
			s.must(412, method, path, body, "If-None-Match", "*")
		}
		s.must(412, "PATCH", path, message(), "If-None-Match", `W/"7", *`)
	}
	s.must(412, "GET", "/Groups/"+group, "", "If-Match", `W/"7"`)
	s.must(200, "PUT", "/Users/"+id, `{"userName":"grace","title":"RADM"}`, "If-None-Match", `W/"1"`)
	if r := s.must(200, "GET", "/Users/"+id, "", "Accept", "application/json"); r.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%v", r.Header)
	}
	if r := s.must(200, "PATCH", "/Groups/"+s.must(201, "POST", "/Groups", `{"displayName":"G"}`).string("id")+"?excludedAttributes=members", message()); r.string("displayName") != "G" {
		t.Errorf("%s", r.text)
	}
}

func TestEdgesOfHTTP(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for name, c := range map[string]struct {
		method, path, body string
		headers            []string
		status             int
	}{
		"a content type of text":  {"POST", "/Users", `{"userName":"x"}`, []string{"Content-Type", "text/plain"}, 415},
		"a coding":                {"POST", "/Users", `{"userName":"x"}`, []string{"Content-Encoding", "gzip"}, 415},
		"no content type":         {"POST", "/Users", `{"userName":"x"}`, []string{"Content-Type", ""}, 201},
		"me":                      {"GET", "/Me", "", nil, 501},
		"below me":                {"GET", "/Me/x", "", nil, 404},
		"a search by GET":         {"GET", "/Users/.search", "", nil, 405},
		"a search without schema": {"POST", "/.search", `{}`, nil, 400},
		"a count of text":         {"POST", "/.search", `{"schemas":["urn:ietf:params:scim:api:messages:2.0:SearchRequest"],"count":"2"}`, nil, 400},
		"a search over all":       {"POST", "/.search", `{"schemas":["urn:ietf:params:scim:api:messages:2.0:SearchRequest"],"count":0,"attributes":["id"]}`, nil, 200},
		"a startIndex of text":    {"GET", "/Users?startIndex=x", "", nil, 400},
		"a filter on schemas":     {"GET", "/Schemas?filter=x", "", nil, 403},
		"a schema in capitals":    {"GET", "/Schemas/URN:IETF:PARAMS:SCIM:SCHEMAS:CORE:2.0:USER", "", nil, 200},
		"no schema":               {"GET", "/Schemas/x", "", nil, 404},
		"a head":                  {"HEAD", "/ServiceProviderConfig", "", nil, 200},
		"a base URL with a slash": {"GET", "//Users/" + s.boss.ID, "", nil, 200},
		"a slash at the end":      {"GET", "/Users/" + s.boss.ID + "/", "", nil, 200},
		"two slashes inside":      {"GET", "/Users//" + s.boss.ID, "", nil, 404},
		"a bad filter":            {"GET", "/Users?filter=x", "", nil, 400},
		"a million characters":    {"GET", "/Users?filter=" + strings.Repeat("x", 1_000_000), "", nil, 400},
	} {
		if r := s.do(c.method, c.path, c.body, c.headers...); r.StatusCode != c.status {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.text)
		}
	}
	if r := s.must(204, "OPTIONS", "/Users", ""); r.Header.Get("Allow") != "GET, HEAD, POST, OPTIONS" {
		t.Errorf("%v", r.Header)
	}
	if r := s.must(405, "DELETE", "/Users", ""); r.Header.Get("Allow") != "GET, HEAD, POST, OPTIONS" {
		t.Errorf("%v", r.Header)
	}
	limited := s.another()
	limited.MaxReply = 2000
	s.people(20)
	if r := limited.do("GET", "/Users", ""); r.StatusCode != http.StatusBadRequest || r.string("scimType") != "tooMany" {
		t.Errorf("%d %s", r.StatusCode, r.text)
	}
}

// TestBulkReferences: they are resolved where an id is allowed, and plain text elsewhere.
func TestBulkReferences(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	patch := func(path, operation string) string {
		return `{"method":"PATCH","path":"` + path + `","data":` + message(operation) + `}`
	}
	r := s.must(200, "POST", "/Bulk", `{"schemas":["urn:ietf:params:scim:api:messages:2.0:BulkRequest"],"Operations":[`+strings.Join([]string{
		patch("/Groups/bulkId:g", `{"op":"remove","path":"members[value eq \"bulkId:b\"]"}`),
		`{"method":"POST","path":"/Groups","bulkId":"g","data":{"displayName":"bulkId:none","externalId":"bulkId:a","members":[{"VALUE":"bulkId:a","display":"bulkId:b"},{"value":"bulkId:b"}]}}`,
		`{"method":"POST","path":"/Users","bulkId":"a","data":{"userName":"bulkId:none","title":"/bulkId:b","emails":[{"value":"bulkId:none"}],"` + enterprise + `":{"manager":"bulkId:b","department":"bulkId:b"}}}`,
		`{"method":"POST","path":"/Users","bulkId":"b","data":{"userName":"b"}}`,
		`{"method":"POST","path":"/Users","bulkId":"c","data":{"userName":"c"}}`,
		patch("/Users/bulkId:c", `{"op":"add","path":"`+enterprise+`:manager","value":{"value":"bulkId:a"}}`),
		patch("/Users/bulkId:c", `{"op":"add","value":[{"title":"bulkId:b","`+enterprise+`":{"manager":{"value":"bulkId:b"}}}]}`),
		patch("/Groups/bulkId:g", `{"op":"add","value":{"members[value eq \"bulkId:c\"].value":"bulkId:c"}}`),
		patch("/Users/bulkId:c", `{"op":"replace","path":"nickName","value":"bulkId:c"}`),
	}, ",")+`]}`)
	id := map[string]string{}
	for _, e := range r.body["Operations"].([]any) {
		o := e.(map[string]any)
		if name, ok := o["bulkId"].(string); ok {
			location := o["location"].(string)
			id[name] = location[strings.LastIndexByte(location, '/')+1:]
		}
		if status := o["status"].(string); status != "201" && status != "204" && status != "200" {
			t.Errorf("%v", o)
		}
	}
	for path, want := range map[string][]string{
		"/Groups/" + id["g"]: {`"displayName":"bulkId:none"`, `"externalId":"bulkId:a"`, `{"$ref":"` + base + `/scim/v2/Users/` + id["a"] + `","display":"bulkId:b","type":"User","value":"` + id["a"] + `"}`, `"type":"User","value":"` + id["c"] + `"}`, `!"value":"` + id["b"]},
		"/Users/" + id["a"]:  {`"userName":"bulkId:none"`, `"title":"/bulkId:b"`, `"emails":[{"value":"bulkId:none"}]`, `"department":"bulkId:b"`, `"value":"` + id["b"] + `"`},
		"/Users/" + id["c"]:  {`"title":"bulkId:b"`, `"nickName":"bulkId:c"`, `"manager":{"$ref":"` + base + `/scim/v2/Users/` + id["b"]},
	} {
		text := s.must(200, "GET", path, "").text
		for _, want := range want {
			if part, no := strings.CutPrefix(want, "!"); strings.Contains(text, part) == no {
				t.Errorf("%s: %s", want, text)
			}
		}
	}
}

// TestReferencesAreOurs: the $ref of a member or a manager that clients send (RFC 7643 section
// 8.7.1) is ignored; the one shown is made from the id.
func TestReferencesAreOurs(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	schemas := s.must(200, "GET", "/Schemas", "").text
	if want := `"mutability":"immutable","name":"$ref","referenceTypes":["User"]`; !strings.Contains(strings.ReplaceAll(schemas, `"multiValued":false,`, ""), want) {
		t.Errorf("%s is not in %s", want, schemas)
	}
	id := s.user("a")
	g := s.must(201, "POST", "/Groups", `{"displayName":"G","members":[{"value":"`+id+`","$ref":"https://elsewhere.test/x"}]}`)
	u := s.must(201, "POST", "/Users", `{"userName":"b","`+enterprise+`":{"manager":{"value":"`+id+`","$ref":"https://elsewhere.test/x"}}}`)
	for _, r := range []reply{g, u, s.must(200, "GET", "/Groups/"+g.string("id"), ""), s.must(200, "GET", "/Users/"+u.string("id"), "")} {
		if strings.Contains(r.text, "elsewhere") || !strings.Contains(r.text, `"$ref":"`+base+`/scim/v2/Users/`+id+`"`) {
			t.Errorf("%s", r.text)
		}
	}
}
