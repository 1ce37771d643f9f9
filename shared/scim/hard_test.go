package scim_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"docent/shared/team"
	"docent/shared/team/teamtest"
)

// Behaviours that SCIM servers often get wrong, the most frequent first: one test each,
// over HTTP.

const core = "urn:ietf:params:scim:schemas:core:2.0:User"

// has fails unless the resource at path contains every text, and none that starts with "!".
func (s *server) has(path string, texts ...string) {
	s.Helper()
	text := s.must(200, "GET", path, "").text
	for _, want := range texts {
		part, no := strings.CutPrefix(want, "!")
		if strings.Contains(text, part) == no {
			s.Errorf("%s: %s in %s", path, want, text)
		}
	}
}

// refuses fails unless the reply is the error with the status and the scimType.
func (r reply) refuses(t testing.TB, status int, kind string) {
	t.Helper()
	if r.StatusCode != status || r.string("scimType") != kind || r.body["status"] != fmt.Sprint(status) || r.string("detail") == "" {
		t.Errorf("%d %s, want %d %s", r.StatusCode, r.text, status, kind)
	}
}

func (s *server) group(name string, ids ...string) string {
	s.Helper()
	return s.must(201, "POST", "/Groups", `{"displayName":"`+name+`","members":`+members(ids)+`}`).string("id")
}

func TestHard1ThreeWaysToRemoveMembers(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	ids := s.people(3)
	for operation, left := range map[string]int{
		`{"op":"Remove","path":"members","value":[{"$ref":null,"value":"` + ids[0] + `"}]}`:                2,
		`{"op":"remove","path":"members","value":[{"value":"` + ids[0] + `"},{"value":"` + ids[2] + `"}]}`: 1,
		`{"op":"remove","path":"members","value":[]}`:                                                      3,
		`{"op":"remove","path":"members"}`:                                                                 0,
		`{"op":"remove","path":"members","value":null}`:                                                    0, // null is no value (RFC 7643 section 2.5)
		`{"op":"remove","path":"members","value":[null]}`:                                                  3,
		`{"op":"remove","path":"members[value eq \"` + ids[1] + `\"]","value":null}`:                       2,
		`{"op":"remove","path":"members[value eq \"` + ids[1] + `\"]"}`:                                    2,
		`{"op":"remove","path":"members[type eq \"User\" and value eq \"` + ids[1] + `\"]"}`:               2,
		`{"op":"remove","path":"members[type eq \"user\"]"}`:                                               0,
		`{"op":"remove","path":"members[$ref ew \"/Users/` + ids[1] + `\"]"}`:                              2,
	} {
		id := s.group("g", ids...)
		s.patchGroup(204, id, operation)
		if got := s.in(id); len(got) != left {
			t.Errorf("%s leaves %v", operation, got)
		}
		s.patchGroup(204, id, operation) // Entra ID repeats removals
		s.must(204, "DELETE", "/Groups/"+id, "")
	}
}

func TestHard2ValuePathWithoutMatchCreatesTheElement(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := s.user("u")
	s.patchUser(200, id, `{"op":"Add","path":"emails[type eq \"work\"].value","value":"a@x.test"}`,
		`{"op":"Replace","path":"emails[type eq \"work\"].display","value":"A"}`,
		`{"op":"Add","path":"roles[primary eq \"True\"].value","value":"r"}`, `{"op":"Add","path":"roles[primary eq \"True\"].type","value":"t"}`)
	s.has("/Users/"+id, `"emails":[{"display":"A","type":"work","value":"a@x.test"}]`, `"roles":[{"primary":true,"type":"t","value":"r"}]`)
	s.patchUser(400, id, `{"op":"replace","path":"emails[value co \"none\"].type","value":"x"}`).refuses(t, 400, "noTarget")
}

func TestHard3TypesFollowTheSchemaInEveryPosition(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := s.must(201, "POST", "/Users", `{"userName":"u","active":"False","emails":[{"value":"a","primary":"true"}]}`).string("id")
	s.has("/Users/"+id, `"active":false`, `"primary":true`)
	for _, operation := range []string{
		`{"op":"replace","path":"active","value":"True"}`, `{"op":"replace","value":{"active":"tRuE"}}`, `{"op":"add","path":"emails[type eq \"x\"].primary","value":"TRUE"}`,
	} {
		s.patchUser(200, id, `{"op":"replace","path":"active","value":false}`)
		s.patchUser(200, id, operation, `{"op":"replace","path":"active","value":"true"}`)
		s.has("/Users/"+id, `"active":true`, `"primary":true`, `!"True"`, `!"TRUE"`)
	}
	s.has(`/Users?filter=userName eq "u" and active eq "True" and emails[primary eq "true"]`, `"totalResults":1`)
	s.patchUser(400, id, `{"op":"replace","path":"active","value":"yes"}`).refuses(t, 400, "invalidValue")
	s.do("POST", "/Users", `{"userName":5}`).refuses(t, 400, "invalidValue")
}

func TestHard4ValuesWithoutPath(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := s.user("u")
	s.patchUser(200, id, `{"op":"replace","value":{"id":"`+id+`","schemas":["x"],"meta":{"version":"x"},"DISPLAYNAME":"N","name.givenName":"G",
		"`+core+`:title":"T","`+enterprise+`:department":"D","`+strings.ToUpper(enterprise)+`":{"costCenter":"C"},"name":{"familyName":"F"}}}`)
	s.has("/Users/"+id, `"displayName":"N"`, `"name":{"familyName":"F","givenName":"G"}`, `"title":"T"`, `"department":"D"`, `"costCenter":"C"`, `"id":"`+id+`"`, `"version":"W/\"2\""`)
}

func TestHard5ManagerInAllItsForms(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	boss, id := s.user("boss"), s.user("u")
	const path = `"path":"` + enterprise + `:manager`
	for _, set := range []string{
		`{"op":"Add",` + path + `","value":"` + boss + `"}`, `{"op":"Replace",` + path + `","value":{"value":"` + boss + `","displayName":"mine"}}`,
		`{"op":"Replace",` + path + `.value","value":"` + boss + `"}`, `{"op":"add","value":{"` + enterprise + `":{"manager":"` + boss + `"}}}`,
	} {
		for _, unset := range []string{
			`{"op":"Replace",` + path + `","value":""}`, `{"op":"Remove",` + path + `"}`, `{"op":"Replace",` + path + `.value","value":""}`, `{"op":"replace",` + path + `","value":null}`,
		} {
			s.patchUser(200, id, set)
			s.has("/Users/"+id, `"manager":{"$ref":"`+base+`/scim/v2/Users/`+boss+`","displayName":"boss","value":"`+boss+`"}`)
			s.patchUser(200, id, unset)
			s.has("/Users/"+id, "!manager", "!"+enterprise)
		}
	}
	s.patchUser(200, id, `{"op":"Add",`+path+`","value":"nobody"}`)
	s.has("/Users/"+id, `"manager":{"value":"nobody"}`)
}

func TestHard6NullAndEmptyClear(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, clear := range []string{"null", `""`} {
		r := s.must(201, "POST", "/Users", `{"userName":"u","title":`+clear+`,"name":null,"emails":null,"nickName":"n","roles":[{"value":"r","type":null}],"`+enterprise+`":{"department":null}}`)
		if strings.Contains(r.text, "null") || r.body["title"] != nil || r.body[enterprise] != nil {
			t.Errorf("%s", r.text)
		}
		id := r.string("id")
		s.patchUser(200, id, `{"op":"replace","path":"nickName","value":`+clear+`}`)
		s.has("/Users/"+id, "!nickName")
		s.patchUser(400, id, `{"op":"replace","path":"userName","value":`+clear+`}`).refuses(t, 400, "invalidValue")
		s.patchUser(400, id, `{"op":"remove","path":"userName"}`).refuses(t, 400, "mutability")
		s.must(204, "DELETE", "/Users/"+id, "")
	}
}

func TestHard7NamesWithoutCaseAndTheLongestURN(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := s.must(201, "POST", "/users", `{"USERNAME":"u","`+strings.ToUpper(enterprise)+`":{"DEPARTMENT":"D"}}`).string("id")
	s.patchUser(200, id, `{"OP":"REPLACE","path":"`+strings.ToUpper(core)+`:NAME.familyname","value":"F"}`, `{"op":"add","path":"`+enterprise+`:MANAGER.Value","value":"m"}`)
	s.has("/Users/"+id, `"department":"D"`, `"familyName":"F"`, `"manager":{"value":"m"}`)
	s.has(`/Users?filter=`+strings.ToUpper(enterprise)+`:department EQ "d"&attributes=USERNAME`, `"totalResults":1`, `"userName":"u"`)
}

func TestHard8FilterSemantics(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.must(201, "POST", "/Users", `{"userName":"Ann","externalId":"X","emails":[{"value":"w@x.test","type":"work"},{"value":"h@x.test","type":"home"}]}`)
	for filter, want := range map[string]int{
		`userName eq "ANN"`: 1, `externalId eq "x"`: 0, `emails[type eq "work" and value eq "h@x.test"]`: 0, `emails.type eq "work" and emails.value eq "h@x.test"`: 1,
		`emails eq "h@x.test"`: 1, `meta.created lt "2999-01-01T01:00:00.0000001+02:00" and userName sw "an"`: 1, `active eq true and title eq null and userName co "n"`: 1,
	} {
		s.has("/Users?filter="+filter, fmt.Sprintf(`"totalResults":%d`, want))
	}
	for _, filter := range []string{`nope eq "x"`, "userName", "active gt true", strings.Repeat("(", 33) + "title pr" + strings.Repeat(")", 33), strings.Repeat("x", 9000)} {
		s.do("GET", "/Users?filter="+filter, "").refuses(t, 400, "invalidFilter")
	}
}

func TestHard9PatchIsAtomicAndBulkIsNot(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := s.user("u")
	s.user("taken")
	s.patchUser(400, id, `{"op":"add","path":"title","value":"T"}`, `{"op":"add","path":"nope","value":"x"}`).refuses(t, 400, "invalidPath")
	s.patchUser(409, id, `{"op":"add","path":"title","value":"T"}`, `{"op":"replace","path":"userName","value":"TAKEN"}`).refuses(t, 409, "uniqueness")
	s.has("/Users/"+id, "!title", `"version":"W/\"1\""`)
	r := s.must(200, "POST", "/Bulk", `{"schemas":["urn:ietf:params:scim:api:messages:2.0:BulkRequest"],"Operations":[
		{"method":"POST","path":"/Groups","bulkId":"g","data":{"displayName":"G","members":[{"value":"bulkId:n"}]}},
		{"method":"POST","path":"/Users","bulkId":"t","data":{"userName":"taken"}},{"method":"POST","path":"/Users","bulkId":"n","data":{"userName":"new"}}]}`)
	for i, want := range []string{"201", "409", "201"} {
		if got := r.body["Operations"].([]any)[i].(map[string]any)["status"]; got != want {
			t.Errorf("operation %d: %v, want %s", i, got, want)
		}
	}
	s.has(`/Groups?filter=displayName eq "g"`, `"display":"new"`)
}

func TestHard10ExcludedMembersAreNotRead(t *testing.T) {
	t.Parallel()
	s, w := newWatched(t)
	id := s.group("g", s.people(5)...)
	w.memberReads.Store(0)
	for _, path := range []string{"/Groups/" + id, "/Groups", `/Groups?filter=displayName eq "g"`, "/Groups/" + id + "?attributes=displayName"} {
		joint := "?"
		if strings.Contains(path, "?") {
			joint = "&"
		}
		s.has(path+joint+"excludedAttributes=members", `"displayName":"g"`, `!"members"`)
	}
	if reads := w.memberReads.Load(); reads != 0 {
		t.Errorf("members were read %d times", reads)
	}
}

func TestHard11DeactivatedUsersStayVisible(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := s.user("u")
	s.patchUser(200, id, `{"op":"replace","path":"active","value":false}`)
	s.has("/Users/"+id, `"active":false`)
	s.has(`/Users?filter=userName eq "u"`, `"totalResults":1`)
	s.must(204, "DELETE", "/Users/"+id, "")
	s.do("DELETE", "/Users/"+id, "").refuses(t, 404, "")
	s.do("GET", "/Users/"+id, "").refuses(t, 404, "")
	s.has(`/Users?filter=userName eq "u"`, `"totalResults":0`)
}

func TestHard12VersionsAreWeakTags(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.must(201, "POST", "/Groups", `{"displayName":"g"}`)
	path := "/Groups/" + made.string("id")
	first := made.Header.Get("ETag")
	if got := s.must(204, "PATCH", path, message(`{"op":"replace","path":"displayName","value":"g"}`)).Header.Get("ETag"); got != first || !strings.HasPrefix(first, `W/"`) {
		t.Errorf("a change of nothing moves %s to %s", first, got)
	}
	if got := s.must(200, "GET", path+"?attributes=id", "").Header.Get("ETag"); got != first {
		t.Errorf("the projection moves %s to %s", first, got)
	}
	s.must(304, "GET", path, "", "If-None-Match", first)
	second := s.must(204, "PATCH", path, message(`{"op":"add","path":"members","value":[{"value":"`+s.user("u")+`"}]}`), "If-Match", "*").Header.Get("ETag")
	if second == first {
		t.Error("a member does not move the version")
	}
	for method, body := range map[string]string{"PATCH": message(), "PUT": `{"displayName":"h"}`, "DELETE": ""} {
		s.do(method, path, body, "If-Match", first).refuses(t, 412, "")
	}
	s.must(204, "DELETE", path, "", "If-Match", `W/"x", `+second)
}

func TestHard13ProjectionEverywhere(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const projected = "?attributes=userName,password,emails.type"
	made := s.must(201, "POST", "/Users"+projected, `{"userName":"u","password":"secret","title":"T","emails":[{"value":"v","type":"work"}]}`)
	path := "/Users/" + made.string("id")
	search := `{"schemas":["urn:ietf:params:scim:api:messages:2.0:SearchRequest"],"filter":"userName eq \"u\"","attributes":["userName","password","emails.type"]}`
	for name, r := range map[string]reply{
		"POST": made, "GET": s.do("GET", path+projected, ""), "PUT": s.do("PUT", path+projected, `{"userName":"u","title":"T","emails":[{"value":"v","type":"work"}]}`),
		"PATCH": s.do("PATCH", path+projected, message()), "list": s.do("GET", "/Users"+projected+`&filter=userName eq "u"`, ""), "search": s.do("POST", "/Users/.search", search),
	} {
		if !strings.Contains(r.text, `"emails":[{"type":"work"}],"id":"`+made.string("id")+`","schemas":["`+core+`"],"userName":"u"`) || strings.Contains(r.text, "title") || strings.Contains(r.text, "secret") {
			t.Errorf("%s: %s", name, r.text)
		}
	}
	s.has(path+"?excludedAttributes=id,schemas,userName", `"id"`, `"schemas"`, "!userName", "!password")
}

func TestHard14PagingCountsRight(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.people(6)
	s.has("/Users?count=2&startIndex=2", `"itemsPerPage":2`, `"startIndex":2`, `"totalResults":7`, "!nextCursor")
	s.has("/Users?count=0", `"Resources":[]`, `"totalResults":7`)
	seen := map[string]bool{}
	for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
		r := s.must(200, "GET", "/Users?count=3&sortBy=userName&cursor="+cursor, "")
		for _, e := range r.body["Resources"].([]any) {
			seen[e.(map[string]any)["id"].(string)] = true
		}
		if cursor = r.string("nextCursor"); r.body["totalResults"] != 7.0 || pages > 2 {
			t.Fatalf("page %d: %s", pages, r.text)
		}
	}
	if len(seen) != 7 {
		t.Errorf("%d of 7 users", len(seen))
	}
	s.do("GET", "/Users?cursor=nonsense", "").refuses(t, 400, "invalidCursor")
}

func TestHard15OnePrimary(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.must(201, "POST", "/Users", `{"userName":"u","emails":[{"value":"a","primary":true},{"value":"b"}]}`)
	id := made.string("id")
	r := s.patchUser(200, id, `{"op":"add","path":"emails","value":[{"value":"c","primary":true}]}`)
	if strings.Count(r.text, `"primary":true`) != 1 || !strings.Contains(r.text, `{"primary":true,"value":"c"}`) {
		t.Errorf("%s", r.text)
	}
	if again := s.patchUser(200, id, `{"op":"add","path":"emails","value":[{"value":"c","primary":true}]}`); again.Header.Get("ETag") != r.Header.Get("ETag") {
		t.Errorf("adding a present member: %s", again.text)
	}
}

func TestHard16TheUnknownIsIgnoredButNotInPaths(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	r := s.must(201, "POST", "/Users?aadOptscim062020&x=y", `{"schemas":["urn:scim:schemas:core:1.0","http://schemas.microsoft.com/x"],"userName":"u","shoeSize":43}`)
	if strings.Contains(r.text, "shoeSize") || strings.Contains(r.text, "microsoft") {
		t.Errorf("%s", r.text)
	}
	s.must(200, "PUT", "/Users/"+r.string("id"), `{"userName":"u"}`)
	s.patchUser(200, r.string("id"), `{"op":"add","value":{"shoeSize":43}}`)
	s.patchUser(400, r.string("id"), `{"op":"add","path":"shoeSize","value":43}`).refuses(t, 400, "invalidPath")
}

func TestHard17SchemasTellTheTruth(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	r := s.must(201, "POST", "/Users", `{"schemas":["`+core+`","`+enterprise+`"],"userName":"u"}`)
	path := "/Users/" + r.string("id")
	s.has(path, `"schemas":["`+core+`"]`)
	s.patchUser(200, r.string("id"), `{"op":"add","path":"`+enterprise+`:division","value":"D"}`)
	s.has(path, `"schemas":["`+core+`","`+enterprise+`"]`)
	s.patchUser(200, r.string("id"), `{"op":"remove","path":"`+enterprise+`:division"}`)
	s.has(path, `"schemas":["`+core+`"]`)
}

func TestHard18EveryRefusalIsASCIMError(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.user("u")
	member, err := teamtest.CreateUser(t.Context(), s.Teams, s.team.ID, "member", team.RoleMember)
	if err != nil {
		t.Fatal(err)
	}
	s.as(s.newKey(s.team.ID, team.KindPersonal, member.ID), "GET", "/Users", "").refuses(t, 403, "")
	s.do("GET", "/Users/nobody", "").refuses(t, 404, "")
	s.do("PUT", "/Users", `{}`).refuses(t, 405, "")
	s.do("POST", "/Users", `{"userName":"U"}`).refuses(t, 409, "uniqueness")
	s.do("POST", "/Bulk", strings.Repeat(" ", 1<<20+1)).refuses(t, 413, "")
	s.do("POST", "/Users", `{"userName":"x"}`, "Content-Type", "text/xml").refuses(t, http.StatusUnsupportedMediaType, "")
	s.do("GET", "/Me", "").refuses(t, 501, "")
}
