package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"docent/shared/app"
	"docent/shared/httpapi"
	"docent/shared/team"
	"docent/shared/team/teamtest"
)

// colleague is a person with a personal key.
type colleague struct {
	id, name, key string
}

func (a *api) newColleague(x tenant, name string) colleague {
	a.t.Helper()
	user, err := teamtest.CreateUser(a.t.Context(), a.local.Teams, x.ID, name, team.RoleMember)
	if err != nil {
		a.t.Fatal(err)
	}
	_, key := a.newKey(x.ID, team.NewKey{Kind: team.KindPersonal, Name: name, UserID: user.ID})
	return colleague{user.ID, name, key}
}

var scimJSON = map[string]string{"Content-Type": "application/scim+json", "Accept": "application/scim+json"}

func (a *api) newGroup(x tenant, body string) string {
	a.t.Helper()
	return a.raw(call{"POST", "/scim/v2/Groups", x.scim, body, scimJSON}).want(a.t, 201).text(a.t, "id")
}

// member adds a user to a group, or removes it.
func (a *api) member(x tenant, group, user string, in bool) {
	a.t.Helper()
	op, path, value := "add", "members", fmt.Sprintf(`,"value":[{"value":%q}]`, user)
	if !in {
		op, path, value = "remove", fmt.Sprintf(`members[value eq \"%s\"]`, user), ""
	}
	body := fmt.Sprintf(`{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[{"op":%q,"path":"%s"%s}]}`, op, path, value)
	a.raw(call{"PATCH", "/scim/v2/Groups/" + group, x.scim, body, scimJSON}).want(a.t, 204)
}

// rename gives a user another userName.
func (a *api) rename(x tenant, who colleague, name string) {
	a.t.Helper()
	body := fmt.Sprintf(`{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[{"op":"replace","path":"userName","value":%q}]}`, name)
	a.raw(call{"PATCH", "/scim/v2/Users/" + who.id, x.scim, body, scimJSON}).want(a.t, 200)
}

// kirschkern is the text of all documents of these tests, and a question that finds them.
const kirschkern = "The kirschkern is kept in the cellar and taken out every morning before the bakery opens."

func (a *api) putWith(key, collection, uri string, rule any) response {
	a.t.Helper()
	body := map[string]any{"collectionId": collection, "uri": uri, "title": "About " + uri, "body": kirschkern}
	if rule != nil {
		body["access"] = rule
	}
	return a.do(call{"PUT", "/documents", key, body, nil})
}

// seen returns by each way of reading which of the documents, uris by id, it shows. Some
// ways take longer, and are left out if quick is set.
func (a *api) seen(key string, header map[string]string, documents map[string]string, quick bool) map[string][]string {
	a.t.Helper()
	ways := map[string][]string{}
	var list []struct{ ID, URI string }
	a.do(call{"GET", "/documents?limit=200", key, nil, header}).want(a.t, 200).json(a.t, &list)
	for _, d := range list {
		ways["list"] = append(ways["list"], d.URI)
	}
	for id, uri := range documents {
		reply := a.do(call{"GET", "/documents/" + id, key, nil, header})
		if reply.StatusCode == 200 {
			ways["get"] = append(ways["get"], uri)
		} else {
			reply.wantCode(a.t, 404, "not-found")
		}
	}
	query := map[string]any{"query": "Where is the kirschkern kept?", "limit": 50}
	for _, path := range []string{"search", "search/documentation", "research"} {
		if path == "research" {
			delete(query, "limit")
		}
		var body struct {
			Answer  string
			Sources []struct{ URL string }
		}
		a.do(call{"POST", "/context/" + path, key, query, header}).want(a.t, 200).json(a.t, &body)
		for _, s := range body.Sources {
			ways[path] = append(ways[path], s.URL)
		}
		if path == "research" && len(body.Sources) == 0 && strings.Contains(body.Answer, "cellar") {
			a.t.Errorf("research quotes what it does not show: %s", body.Answer)
		}
	}
	var contents struct {
		Results []struct {
			URL, Content string
			Error        any
		}
	}
	all := slices.Sorted(maps.Values(documents))
	for some := range slices.Chunk(all, 10) {
		a.do(call{"POST", "/context/get", key, map[string]any{"urls": some}, header}).want(a.t, 200).json(a.t, &contents)
		for _, r := range contents.Results {
			if r.Error == nil {
				ways["context/get"] = append(ways["context/get"], r.URL)
			}
		}
	}
	for _, tool := range []string{"context_search_documentation", "context_get_urls"} {
		arguments := map[string]any{"query": "kirschkern", "limit": 50}
		if tool == "context_get_urls" {
			if len(all) == 0 {
				continue
			}
			arguments = map[string]any{"urls": all[:min(10, len(all))]}
		}
		var reply struct {
			Result struct {
				IsError           bool
				StructuredContent struct {
					Sources []struct{ URL string }
					Results []struct {
						URL   string
						Error any
					}
				}
			}
		}
		if err := json.Unmarshal(a.tool(key, header, tool, arguments), &reply); err != nil || reply.Result.IsError {
			a.t.Fatalf("%s: %+v, %v", tool, reply, err)
		}
		for _, found := range reply.Result.StructuredContent.Sources {
			ways[tool] = append(ways[tool], found.URL)
		}
		for _, found := range reply.Result.StructuredContent.Results {
			if found.Error == nil {
				ways[tool] = append(ways[tool], found.URL)
			}
		}
	}
	if !quick {
		id := uuid.NewString()
		a.do(call{"PUT", "/answers/" + id, key, map[string]string{"question": "Where is the kirschkern kept?"}, header}).want(a.t, 204)
		a.drain()
		var answer struct {
			State, Answer string
			References    []struct{ HTMLURL string }
		}
		a.do(call{"GET", "/answers/" + id, key, nil, header}).want(a.t, 200).json(a.t, &answer)
		if len(answer.References) == 0 && strings.Contains(answer.Answer, "cellar") {
			a.t.Errorf("an answer quotes what it does not refer to: %+v", answer)
		}
		for _, r := range answer.References {
			ways["ask"] = append(ways["ask"], r.HTMLURL)
		}
	}
	for way := range ways {
		slices.Sort(ways[way])
		ways[way] = slices.Compact(ways[way])
	}
	return ways
}

// tool calls a tool of the agents' protocol.
func (a *api) tool(key string, header map[string]string, name string, arguments map[string]any) []byte {
	a.t.Helper()
	h := maps.Clone(header)
	if h == nil {
		h = map[string]string{}
	}
	h["Accept"], h["Content-Type"], h["MCP-Protocol-Version"] = "application/json, text/event-stream", "application/json", "2025-06-18"
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": name, "arguments": arguments}})
	if err != nil {
		a.t.Fatal(err)
	}
	return a.raw(call{"POST", "/mcp", key, string(text), h}).want(a.t, 200).body
}

// shows fails the test unless every way shows exactly the documents of want. Ways that
// rank show some of them, and none of the others.
func shows(t testing.TB, who string, ways map[string][]string, want []string, quick bool) (compared int) {
	t.Helper()
	slices.Sort(want)
	names := []string{"list", "get", "search", "search/documentation", "context/get", "research", "context_search_documentation", "context_get_urls", "ask"}
	for _, way := range names {
		if way == "ask" && quick {
			continue
		}
		compared++
		got := ways[way]
		exact := way != "ask" && way != "research"
		if exact && !slices.Equal(got, want) {
			t.Errorf("%s by %s: %v, want %v", who, way, got, want)
		}
		for _, uri := range got {
			if !slices.Contains(want, uri) {
				t.Errorf("%s by %s: %s leaks", who, way, uri)
			}
		}
		if !exact && len(want) > 0 && len(got) == 0 {
			t.Errorf("%s by %s: nothing of %v", who, way, want)
		}
	}
	return compared
}

// A person is put into a group, reads, is taken out, and the next request finds nothing.
func TestAGroupOpensAndClosesDocuments(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.provisioned("acme")
	ada, eve := a.newColleague(x, "ada@acme.test"), a.newColleague(x, "eve@acme.test")
	wiki := a.newCollection(x.key, "wiki")
	group := a.newGroup(x, `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:Group"],"displayName":"Engineering","externalId":"entra-1"}`)
	const secret, public = "https://wiki.test/secret", "https://wiki.test/public"
	documents := map[string]string{}
	for uri, rule := range map[string]any{secret: map[string]any{"groups": []string{"engineering"}}, public: nil} {
		reply := a.putWith(x.key, wiki, uri, rule).want(t, 200)
		if strings.Contains(string(reply.body), "accessUnknown") {
			t.Errorf("a known group is unknown: %s", reply.body)
		}
		documents[reply.text(t, "id")] = uri
	}
	a.drain()
	_, acting := a.newKey(x.ID, team.NewKey{Kind: team.KindTeam, Name: "bot", ActFor: true})
	for _, in := range []bool{false, true, false} {
		if in {
			a.member(x, group, ada.id, true)
		} else {
			a.member(x, group, ada.id, false)
		}
		want := []string{public}
		if in {
			want = append(want, secret)
		}
		shows(t, fmt.Sprintf("ada, a member: %t", in), a.seen(ada.key, nil, documents, false), want, false)
		shows(t, "the bot for ada", a.seen(acting, map[string]string{"Docent-User": "ADA@acme.test"}, documents, true), want, true)
		shows(t, "eve", a.seen(eve.key, nil, documents, true), []string{public}, true)
		shows(t, "an admin", a.seen(x.pat, nil, documents, true), []string{public}, true)
		shows(t, "a team key", a.seen(x.key, nil, documents, true), []string{public, secret}, true)
		for id, uri := range documents {
			reply := a.do(call{"GET", "/documents/" + id + "/access?user=ada@acme.test", x.pat, nil, nil}).want(t, 200)
			var decided struct{ MayRead bool }
			if reply.json(t, &decided); decided.MayRead != slices.Contains(want, uri) {
				t.Errorf("%s: %s", uri, reply.body)
			}
		}
	}
}

// An answer that was made for a person is withheld once they may not read its documents.
func TestAnAnswerClosesWithItsDocument(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	ada, eve := a.newColleague(x, "ada@acme.test"), a.newColleague(x, "eve@acme.test")
	wiki := a.newCollection(x.key, "wiki")
	a.putWith(x.key, wiki, "https://wiki.test/a", map[string]any{"users": []string{ada.name}}).want(t, 200)
	a.drain()
	id := uuid.NewString()
	a.ask(ada.key, id, "Where is the kirschkern kept?").want(t, 204)
	a.drain()
	if reply := a.do(call{"GET", "/answers/" + id, ada.key, nil, nil}).want(t, 200); !strings.Contains(string(reply.body), "cellar") {
		t.Fatalf("ada reads %s", reply.body)
	}
	a.do(call{"GET", "/answers/" + id, eve.key, nil, nil}).wantCode(t, 404, "not-found")
	a.putWith(x.key, wiki, "https://wiki.test/a", map[string]any{"users": []string{eve.name}}).want(t, 200)
	for _, path := range []string{"/answers/" + id, "/answers"} {
		reply := a.do(call{"GET", path, ada.key, nil, nil}).want(t, 200)
		if text := string(reply.body); strings.Contains(text, "cellar") || strings.Contains(text, "wiki.test") || !strings.Contains(text, "access-changed") {
			t.Errorf("%s: %s", path, text)
		}
	}
	// The worker answers with what the asker may read then, not when they asked.
	late := uuid.NewString()
	a.ask(eve.key, late, "Where is the kirschkern kept?").want(t, 204)
	a.putWith(x.key, wiki, "https://wiki.test/a", map[string]any{"users": []string{ada.name}}).want(t, 200)
	a.drain()
	if reply := a.do(call{"GET", "/answers/" + late, eve.key, nil, nil}).want(t, 200); strings.Contains(string(reply.body), "cellar") || !strings.Contains(string(reply.body), "complete") {
		t.Errorf("eve reads %s", reply.body)
	}
}

// Who may no longer read a document does not get it back, in an answer, once it is deleted.
func TestADeletedDocumentOpensNoAnswer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		own, byDefault any
		later          any  // the rule that the document gets after the answer
		laterDefault   any  // the default rule that the collection gets after the answer
		whole          bool // the collection is deleted
		withheld       bool
	}{
		"a document with a rule":                            {own: "ada", withheld: true},
		"a document with a rule, with its collection":       {own: "ada", whole: true, withheld: true},
		"a document by default":                             {byDefault: "ada", withheld: true},
		"a document by default, with its collection":        {byDefault: "ada", whole: true, withheld: true},
		"one that everyone read":                            {},
		"one that ada lost":                                 {later: "bob", withheld: true},
		"one that ada lost, with its collection":            {later: "bob", whole: true, withheld: true},
		"one that ada read in the end":                      {later: "ada"},
		"one that ada lost by default":                      {laterDefault: "bob", withheld: true},
		"one that ada lost by default, with its collection": {laterDefault: "bob", whole: true, withheld: true},
		"one that ada read by default in the end, with it":  {laterDefault: "ada", whole: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t)
			x := a.newTenant("acme")
			ada := a.newColleague(x, "ada@acme.test")
			rule := func(who any) any {
				if who == nil {
					return nil
				}
				return map[string]any{"users": []any{who.(string) + "@acme.test"}}
			}
			body := map[string]any{"name": "wiki", "description": "Wiki"}
			if test.byDefault != nil {
				body["defaultAccess"] = rule(test.byDefault)
			}
			wiki := a.do(call{"POST", "/collections", x.key, body, nil}).want(t, 201).text(t, "id")
			document := a.putWith(x.key, wiki, "https://wiki.test/a", rule(test.own)).want(t, 200).text(t, "id")
			a.drain()
			id := uuid.NewString()
			a.ask(ada.key, id, "Where is the kirschkern kept?").want(t, 204)
			a.drain()
			shown := func() bool {
				one := string(a.do(call{"GET", "/answers/" + id, ada.key, nil, nil}).want(t, 200).body)
				list := string(a.do(call{"GET", "/answers", ada.key, nil, nil}).want(t, 200).body)
				if strings.Contains(one, "cellar") != strings.Contains(list, "cellar") {
					t.Errorf("one answer is %s, the list %s", one, list)
				}
				return strings.Contains(one, "cellar")
			}
			if !shown() {
				t.Fatal("ada reads nothing")
			}
			if test.later != nil {
				a.do(call{"PATCH", "/documents/" + document, x.key, map[string]any{"access": rule(test.later)}, nil}).want(t, 200)
				if shown() == test.withheld {
					t.Errorf("withheld after the change: %t", !test.withheld)
				}
			}
			if test.laterDefault != nil {
				a.do(call{"PATCH", "/collections/" + wiki, x.key, map[string]any{"defaultAccess": rule(test.laterDefault)}, nil}).want(t, 200)
				if shown() == test.withheld {
					t.Errorf("withheld after the change of the default: %t", !test.withheld)
				}
			}
			if test.whole {
				a.do(call{"DELETE", "/collections/" + wiki, x.key, nil, nil}).want(t, 204)
			} else {
				a.do(call{"DELETE", "/documents/" + document, x.key, nil, nil}).want(t, 204)
			}
			for _, drained := range []bool{false, true} {
				if drained {
					a.drain()
				}
				if shown() == test.withheld {
					t.Errorf("drained: %t, withheld: %t", drained, !test.withheld)
				}
			}
		})
	}
}

// The same for the items of a data source that is deleted.
func TestADeletedSourceOpensNoAnswer(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	ada := a.newColleague(x, "ada@acme.test")
	source, _ := a.connect(x, "jira", nil)
	a.importItems(x, source, issue(1, "The kirschkern is kept in the cellar", nil)).want(t, 200)
	a.drain()
	id := uuid.NewString()
	a.ask(ada.key, id, "Where is the kirschkern kept?").want(t, 204)
	a.drain()
	shown := func() bool {
		return strings.Contains(string(a.do(call{"GET", "/answers/" + id, ada.key, nil, nil}).want(t, 200).body), "cellar")
	}
	if !shown() {
		t.Fatal("ada reads nothing")
	}
	a.do(call{"PATCH", "/data-sources/" + source, x.pat, map[string]any{"defaultAccess": map[string]any{"users": []string{"bob@acme.test"}}}, nil}).want(t, 200)
	a.do(call{"DELETE", "/data-sources/" + source, x.pat, nil, nil}).want(t, 204)
	if shown() {
		t.Error("the answer comes back with the deletion")
	}
	if a.drain(); shown() {
		t.Error("the answer comes back when the items are removed")
	}
}

// A key that is restricted to sources reads no answer that was made from a document that is not in them any more. It
// may still rate and erase the answer, which stays as it is for other keys.
func TestAnAnswerClosesForAKeyThatLosesItsDocument(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	ada := a.newColleague(x, "ada@acme.test")
	wiki, hr := a.newCollection(x.key, "wiki"), a.newCollection(x.key, "hr")
	_, limited := a.newKey(x.ID, team.NewKey{Kind: team.KindPersonal, Name: "limited", UserID: ada.id, DataSourceIDs: []string{wiki}})
	_, bot := a.newKey(x.ID, team.NewKey{Kind: team.KindTeam, Name: "bot", DataSourceIDs: []string{wiki}})
	a.putWith(x.key, wiki, "https://wiki.test/a", nil).want(t, 200)
	a.drain()
	for who, key := range map[string]string{"ada": limited, "a team key": bot} {
		id := uuid.NewString()
		a.ask(key, id, "Where is the kirschkern kept?").want(t, 204)
		a.drain()
		shown := func(key string) bool {
			one := string(a.do(call{"GET", "/answers/" + id, key, nil, nil}).want(t, 200).body)
			list := string(a.do(call{"GET", "/answers", key, nil, nil}).want(t, 200).body)
			if strings.Contains(one, "cellar") != strings.Contains(list, "cellar") {
				t.Errorf("%s: one answer is %s, the list %s", who, one, list)
			}
			return strings.Contains(one, "cellar")
		}
		if !shown(key) {
			t.Fatalf("%s reads nothing", who)
		}
		a.putWith(x.key, hr, "https://wiki.test/a", nil).want(t, 200)
		if shown(key) {
			t.Errorf("%s reads the answer by a key that may not use the collection", who)
		}
		a.do(call{"PUT", "/answers/" + id + "/feedback", key, map[string]string{"rating": "up"}, nil}).want(t, 204)
		if shown(key) || !shown(x.key) {
			t.Errorf("%s: rating the answer changed it", who)
		}
		a.putWith(x.key, wiki, "https://wiki.test/a", nil).want(t, 200)
		a.drain()
		if !shown(key) {
			t.Errorf("%s does not get the answer back with the document", who)
		}
		a.do(call{"DELETE", "/answers/" + id, key, nil, nil}).want(t, 204)
	}
}

// Putting a document again takes its rule away, unless the caller says otherwise, and moves no right to who
// took the name of another.
func TestPuttingADocumentAgain(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.provisioned("acme")
	ada, eve := a.newColleague(x, "ada@acme.test"), a.newColleague(x, "eve@acme.test")
	wiki := a.newCollection(x.key, "wiki")
	only := map[string]any{"users": []string{"ada@acme.test"}}
	put := func(body string, more map[string]any) string {
		t.Helper()
		all := map[string]any{"collectionId": wiki, "uri": "https://wiki.test/a", "title": "A", "body": body}
		maps.Copy(all, more)
		return a.do(call{"PUT", "/documents", x.key, all, nil}).want(t, 200).text(t, "id")
	}
	reads := func(step, id string, byAda, byEve bool) {
		t.Helper()
		for who, want := range map[colleague]bool{ada: byAda, eve: byEve} {
			if got := a.do(call{"GET", "/documents/" + id, who.key, nil, nil}).StatusCode == 200; got != want {
				t.Errorf("%s: %s reads it: %t", step, who.name, got)
			}
		}
	}
	id := put("one", map[string]any{"access": only})
	reads("closed", id, true, false)
	a.rename(x, ada, "ada.lovelace@acme.test")
	a.rename(x, eve, "ada@acme.test")
	put("one", map[string]any{"access": only})
	reads("the same again, after eve took the name", id, true, false)
	put("two", map[string]any{"access": only})
	reads("another text", id, true, false)
	put("three", map[string]any{"keepAccess": true})
	reads("kept", id, true, false)
	put("three", map[string]any{"access": map[string]any{"users": []string{}}})
	put("three", map[string]any{"access": only})
	reads("taken out and put in again", id, false, true)
	put("three", nil)
	reads("without access", id, true, true)
	put("four", map[string]any{"keepAccess": true})
	reads("nothing to keep", id, true, true)
	a.do(call{"PUT", "/documents", x.key, map[string]any{"collectionId": wiki, "uri": "https://wiki.test/a", "title": "A", "body": "x", "keepAccess": true, "access": only}, nil}).wantCode(t, 400, "invalid-request")
}

// A name that nobody had opens to whoever has it when something is read: to nobody by a name that they had before.
func TestANewNameOpensAtOnceAndTheOldOneCloses(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.provisioned("acme")
	ada := a.newColleague(x, "ada@acme.test")
	wiki := a.newCollection(x.key, "wiki")
	reads := func(id string) bool {
		return a.do(call{"GET", "/documents/" + id, ada.key, nil, nil}).StatusCode == 200
	}
	next := a.putWith(x.key, wiki, "https://wiki.test/next", map[string]any{"users": []string{"ada.lovelace@acme.test"}}).want(t, 200).text(t, "id")
	if reads(next) {
		t.Error("ada reads by a name that she does not have yet")
	}
	a.rename(x, ada, "ada.lovelace@acme.test")
	before := a.putWith(x.key, wiki, "https://wiki.test/before", map[string]any{"users": []string{"ada@acme.test"}}).want(t, 200).text(t, "id")
	if !reads(next) {
		t.Error("ada does not read by her new name")
	}
	if reads(before) {
		t.Error("ada reads by the name that she had")
	}
}

// How many items a source has, and which one could not be read, is about items that not everyone may read.
func TestWhoSeesHowASourceIsSynced(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	eve := a.newColleague(x, "eve@acme.test")
	_, bot := a.newKey(x.ID, team.NewKey{Kind: team.KindTeam, Name: "bot", ActFor: true})
	a.connect(x, "github", map[string]any{"repositories": []string{"acme/api"}})
	id, _ := a.connect(x, "jira", nil)
	a.importItems(x, id, issue(1, "The kirschkern is loose", map[string]any{"access": map[string]any{}})).want(t, 200)
	for name, test := range map[string]struct {
		key, user string
		shown     bool
	}{
		"an admin": {x.pat, "", true}, "a team key": {x.key, "", true}, "a member": {eve.key, "", false}, "a team key for a member": {bot, eve.name, false},
	} {
		var header map[string]string
		if test.user != "" {
			header = map[string]string{"Docent-User": test.user}
		}
		list := string(a.do(call{"GET", "/data-sources", test.key, nil, header}).want(t, 200).body)
		for _, member := range []string{`"lastSync"`, `"sync"`} {
			if strings.Contains(list, member) != test.shown {
				t.Errorf("%s, %s: %s", name, member, list)
			}
		}
	}
}

// What may not be read is answered like what is not there.
func TestWhatMayNotBeReadLooksAbsent(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	eve := a.newColleague(x, "eve@acme.test")
	wiki := a.newCollection(x.key, "wiki")
	hidden := a.do(call{"POST", "/collections", x.key, map[string]any{"name": "hr", "description": "HR", "defaultAccess": map[string]any{"users": []string{"boss@acme.test"}}}, nil}).want(t, 201).text(t, "id")
	own := a.putWith(x.key, wiki, "https://wiki.test/own", map[string]any{}).want(t, 200)
	byDefault := a.putWith(x.key, hidden, "https://wiki.test/default", nil).want(t, 200)
	a.drain()
	absent := uuid.NewString()
	for _, secret := range []response{own, byDefault} {
		id := secret.text(t, "id")
		for _, c := range []call{
			{"GET", "/documents/%s", eve.key, nil, nil},
			{"GET", "/documents/%s", eve.key, nil, map[string]string{"If-None-Match": secret.Header.Get("ETag")}},
			{"PATCH", "/documents/%s", eve.key, map[string]any{"access": nil}, nil},
			{"PATCH", "/documents/%s", eve.key, map[string]any{"title": "mine"}, map[string]string{"If-Match": secret.Header.Get("ETag")}},
			{"PATCH", "/documents/%s", eve.key, map[string]any{}, map[string]string{"If-Match": `"1"`}},
			{"DELETE", "/documents/%s", eve.key, nil, nil},
			{"DELETE", "/documents/%s", eve.key, nil, map[string]string{"If-Match": secret.Header.Get("ETag")}},
			{"DELETE", "/documents/%s", eve.key, nil, map[string]string{"If-Match": `"1"`}},
			{"GET", "/documents/%s/access?user=eve@acme.test", eve.key, nil, nil},
		} {
			at := func(id string) response {
				c := c
				c.path = fmt.Sprintf(c.path, id)
				return a.do(c)
			}
			got, want := at(id), at(absent)
			without := func(r response) string {
				text := strings.ReplaceAll(string(r.body), r.Header.Get("X-Request-Id"), "")
				r.Header.Del("X-Request-Id")
				for _, name := range []string{"RateLimit", "X-Ratelimit-Remaining", "Ratelimit-Remaining", "Date"} {
					r.Header.Del(name)
				}
				return text
			}
			if got.StatusCode != want.StatusCode || without(got) != without(want) {
				t.Errorf("%s %s: %d %s, and for what is not there %d %s", c.method, c.path, got.StatusCode, got.body, want.StatusCode, want.body)
			}
			if !maps.EqualFunc(got.Header, want.Header, slices.Equal) {
				t.Errorf("%s %s: headers %v and %v", c.method, c.path, got.Header, want.Header)
			}
		}
		a.do(call{"GET", "/documents/" + id, x.key, nil, nil}).want(t, 200) // nothing was deleted
	}
	// Replacing it, also by the same text, is refused without a word about it.
	for _, header := range []map[string]string{nil, {"If-None-Match": "*"}, {"If-Match": own.Header.Get("ETag")}} {
		body := map[string]any{"collectionId": wiki, "uri": "https://wiki.test/own", "title": "mine", "body": kirschkern}
		status, code := 403, "access-denied"
		if header["If-Match"] != "" {
			status, code = 412, "precondition-failed" // as if it were not there
		}
		reply := a.do(call{"PUT", "/documents", eve.key, body, header}).wantCode(t, status, code)
		if reply.Header.Get("ETag") != "" || strings.Contains(string(reply.body), "About") {
			t.Errorf("%v: %s", reply.Header, reply.body)
		}
	}
	// Who may not read the documents of a collection changes neither its rule nor it.
	a.do(call{"PATCH", "/collections/" + hidden, eve.key, map[string]any{"defaultAccess": nil}, nil}).wantCode(t, 403, "admin-required")
	for _, id := range []string{hidden, wiki} { // by default, and one document of it
		a.do(call{"DELETE", "/collections/" + id, eve.key, nil, nil}).wantCode(t, 403, "access-denied")
	}
	a.do(call{"GET", "/documents/" + own.text(t, "id"), x.key, nil, nil}).want(t, 200)
	var none struct{ DefaultAccess *struct{ Users []string } }
	a.do(call{"PATCH", "/collections/" + hidden, x.pat, map[string]any{"defaultAccess": nil}, nil}).want(t, 200).json(t, &none)
	if none.DefaultAccess != nil {
		t.Errorf("the default stays: %+v", none)
	}
	a.do(call{"GET", "/documents/" + byDefault.text(t, "id"), eve.key, nil, nil}).want(t, 200)
}

func TestActingForAPerson(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x, rival := a.provisioned("acme"), a.newTenant("rival")
	ada := a.newColleague(x, "ada@acme.test")
	stranger := a.newColleague(rival, "eve@rival.test")
	_, bot := a.newKey(x.ID, team.NewKey{Kind: team.KindTeam, Name: "bot", ActFor: true})
	for name, test := range map[string]struct {
		key, user string
		status    int
		code      string
	}{
		"by userName in another case":          {bot, "ADA@ACME.test", 200, ""},
		"by id":                                {bot, ada.id, 200, ""},
		"a key without the right":              {x.key, ada.name, 403, "acting-not-allowed"},
		"nobody":                               {bot, "", 403, "user-not-active"},
		"blanks":                               {bot, "  ", 403, "user-not-active"},
		"a name that nobody has":               {bot, "bob@acme.test", 403, "user-not-active"},
		"an id that nobody has":                {bot, uuid.NewString(), 403, "user-not-active"},
		"a user of another team":               {bot, stranger.name, 403, "user-not-active"},
		"a user of another team by id":         {bot, stranger.id, 403, "user-not-active"},
		"a personal key for its own user":      {ada.key, ada.name, 200, ""},
		"a personal key for another":           {ada.key, x.admin.UserName, 403, "acting-not-allowed"},
		"a personal key for nobody":            {ada.key, "", 403, "acting-not-allowed"},
		"an admin's personal key for a person": {x.pat, ada.name, 403, "acting-not-allowed"},
		"a scim key":                           {x.scim, ada.name, 403, "wrong-key-kind"},
	} {
		for _, path := range []string{"/documents", "/me"} {
			reply := a.do(call{"GET", path, test.key, nil, map[string]string{"Docent-User": test.user}})
			if test.code == "" {
				reply.want(t, test.status)
			} else if reply.StatusCode != test.status || !strings.Contains(string(reply.body), test.code) {
				t.Errorf("%s at %s: %d %s", name, path, reply.StatusCode, reply.body)
			}
		}
	}
	// Acting for a person, a team key has no right of the team.
	for _, path := range []string{"/security-events", "/scim/v2/Users", "/documents/" + uuid.NewString() + "/access?user=x"} {
		if reply := a.raw(call{"GET", path, bot, nil, map[string]string{"Docent-User": ada.name}}); reply.StatusCode != 403 {
			t.Errorf("%s: %d %s", path, reply.StatusCode, reply.body)
		}
	}
	// The feed has who acted for whom, once a minute for each operation.
	events := a.raw(call{"GET", "/security-events?eventType=api_key.acted_for", x.pat, nil, nil}).want(t, 200)
	if n := strings.Count(string(events.body), `"api_key.acted_for"`); n < 2 || !strings.Contains(string(events.body), ada.id) {
		t.Errorf("%d events: %s", n, events.body)
	}
	a.raw(call{"PATCH", "/scim/v2/Users/" + ada.id, x.key, `{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[{"op":"replace","path":"active","value":false}]}`, scimJSON}).want(t, 200)
	a.do(call{"GET", "/documents", bot, nil, map[string]string{"Docent-User": ada.name}}).wantCode(t, 403, "user-not-active")
}

// TestReadersOfRandomTeams compares every way of reading with a model of who may read.
func TestReadersOfRandomTeams(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	runs, changes, compared := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		if runs++; runs > 12 {
			return
		}
		x := a.provisioned(fmt.Sprintf("team%d", runs))
		var people []colleague
		var groups, names []string
		members := map[string]map[string]bool{}
		for i := range 3 {
			people = append(people, a.newColleague(x, fmt.Sprintf("p%d@%s.test", i, x.Name)))
			names = append(names, fmt.Sprintf("Group %d", i))
			groups = append(groups, a.newGroup(x, fmt.Sprintf(`{"schemas":["urn:ietf:params:scim:schemas:core:2.0:Group"],"displayName":"Group %d","externalId":"ext-%d"}`, i, i)))
			members[groups[i]] = map[string]bool{}
		}
		wiki := a.newCollection(x.key, "wiki")
		type rule struct{ users, groups []int }
		var byDefault *rule
		rules, documents := map[string]*rule{}, map[string]string{}
		draw := func() (*rule, any) {
			if rapid.IntRange(0, 3).Draw(rt, "no rule") == 0 {
				return nil, nil
			}
			r, body := &rule{}, map[string]any{}
			var u, g []string
			for i := range 3 {
				if rapid.IntRange(0, 2).Draw(rt, "user") == 0 {
					r.users = append(r.users, i)
					u = append(u, rapid.SampledFrom([]string{people[i].id, people[i].name, strings.ToUpper(people[i].name)}).Draw(rt, "by"))
				}
				if rapid.IntRange(0, 2).Draw(rt, "group") == 0 {
					r.groups = append(r.groups, i)
					g = append(g, rapid.SampledFrom([]string{groups[i], names[i], fmt.Sprintf("ext-%d", i)}).Draw(rt, "by"))
				}
			}
			body["users"], body["groups"] = append([]string{}, u...), append([]string{}, g...)
			return r, body
		}
		reads := func(p int, r *rule) bool {
			if r == nil {
				r = byDefault
			}
			if r == nil || slices.Contains(r.users, p) {
				return true
			}
			return slices.ContainsFunc(r.groups, func(g int) bool { return members[groups[g]][people[p].id] })
		}
		for range rapid.IntRange(3, 8).Draw(rt, "changes") {
			changes++
			switch rapid.IntRange(0, 3).Draw(rt, "change") {
			case 0:
				g, p := rapid.IntRange(0, 2).Draw(rt, "g"), rapid.IntRange(0, 2).Draw(rt, "p")
				in := !members[groups[g]][people[p].id]
				a.member(x, groups[g], people[p].id, in)
				members[groups[g]][people[p].id] = in
			case 1:
				r, body := draw()
				byDefault = r
				a.do(call{"PATCH", "/collections/" + wiki, x.key, map[string]any{"defaultAccess": body}, nil}).want(t, 200)
			default:
				uri := fmt.Sprintf("https://wiki.test/%d", rapid.IntRange(0, 4).Draw(rt, "document"))
				r, body := draw()
				rules[uri] = r
				if id := a.documentID(x, uri); documents[id] != "" && rapid.Bool().Draw(rt, "without its content") {
					a.do(call{"PATCH", "/documents/" + id, x.key, map[string]any{"access": body}, nil}).want(t, 200)
				} else {
					documents[a.putWith(x.key, wiki, uri, body).want(t, 200).text(t, "id")] = uri
				}
				a.drain()
			}
			for i, p := range people {
				var want []string
				for uri, r := range rules {
					if reads(i, r) {
						want = append(want, uri)
					}
				}
				compared += shows(t, p.name, a.seen(p.key, nil, documents, true), want, true)
			}
		}
	})
	t.Logf("%d teams of 3 people and 3 groups, %d changes, %d reads compared", min(runs, 12), changes, compared)
}

// readsNoDocument are the operations that show no document and nothing that was made
// from one, so that they need not decide who reads. What lies below /scim does not.
var readsNoDocument = []string{
	"listCollections", "createCollection", "getCollection", "updateCollection", // names and rules of collections
	"listDataSources", "createDataSource", "updateDataSource", "syncDataSource", "deleteDataSource", "importItems", // by admins, and no items
	"getDocumentAccess",                                                                                                     // by admins and team keys: yes or no
	"listWebhookEndpoints", "createWebhookEndpoint", "getWebhookEndpoint", "updateWebhookEndpoint", "deleteWebhookEndpoint", // by admins
	"rotateWebhookSecret", "testWebhookEndpoint", "listWebhookDeliveries", "replayWebhookDelivery", // ids and states
	"takeGitHubDelivery", "takeGitLabDelivery", "takeSlackEvent", // from providers
	"getMe", "getTeam", "updateTeam", "listApiKeys", "createApiKey", "rotateApiKey", "revokeApiKey",
	"getSamlMetadata", "setSamlMetadata", "setSamlMetadataUrl", "removeSamlMetadata",
	"signIn", "listSessions", "endSession", "endSessions",
	"createUpload", // what becomes of the file is decided when a document takes it
	"answerSingleSignOn", "assertSingleSignOn", "beginOnlySingleSignOn", "beginSingleSignOn", "finishSingleSignOn", "getServiceMetadata",
	"getSingleSignOn", "updateSingleSignOn", "setOpenIdProvider", "removeOpenIdProvider",
	"listSecurityEvents", "getSecurityEvent", "listSecurityEventTypes", // by admins and team keys
	"getUsage", "listUsageUsers", "getQuotas", // numbers; of others by admins and team keys
	"listUnanswered",         // questions, by admins and team keys
	"rateAnswer",             // shows nothing
	"listModels", "getModel", // the one model
	"registerClient", "authorize", "showConsent", "decideConsent", "exchangeToken", "revokeToken", "listAgents", "disconnectAgent",
	"getAuthorizationServer", "getAuthorizationServerByDiscovery", "getProtectedResource", "getProtectedResourceOfTools",
}

// TestEveryOperationIsKnownToReadOrNot finds an operation that may read documents without
// deciding for whom: a new one must be entered in readingPatterns, and then its Reader is
// there to decide, or above. An operation in neither gets a Reader that reads nothing.
func TestEveryOperationIsKnownToReadOrNot(t *testing.T) {
	t.Parallel()
	left := slices.Clone(readsNoDocument)
	patterns := slices.Clone(httpapi.ReadingPatterns)
	for path, item := range httpapi.OpenAPI(app.Providers()).Paths {
		if strings.HasPrefix(path, "/scim/") {
			continue
		}
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op == nil {
				continue
			}
			reads, not := slices.Index(patterns, op.Method+" "+path), slices.Index(left, op.OperationID)
			switch {
			case reads >= 0 && not < 0:
				patterns = slices.Delete(patterns, reads, reads+1)
			case reads < 0 && not >= 0:
				left = slices.Delete(left, not, not+1)
			default:
				t.Errorf("%s %s (%s) must be in exactly one list: readingPatterns if it reads documents, otherwise readsNoDocument in this file", op.Method, path, op.OperationID)
			}
		}
	}
	if len(patterns)+len(left) > 0 {
		t.Errorf("there are no operations %v %v", patterns, left)
	}
	// What agents call reads by the same services.
	a := newAPI(t)
	x := a.newTenant("acme")
	header := map[string]string{"Accept": "application/json, text/event-stream", "Content-Type": "application/json", "MCP-Protocol-Version": "2025-06-18"}
	reply := a.raw(call{"POST", "/mcp", x.key, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, header}).want(t, 200)
	var list struct {
		Result struct{ Tools []struct{ Name string } }
	}
	reply.json(t, &list)
	known := []string{"ask", "context_get_urls", "context_query_issues", "context_query_prs", "context_research", "context_search_code",
		"context_search_documentation", "context_search_issues", "context_search_messages", "context_search_prs"}
	var names []string
	for _, tool := range list.Result.Tools {
		names = append(names, tool.Name)
	}
	if slices.Sort(names); !slices.Equal(names, known) {
		t.Errorf("tools %v: say here that a new one decides who reads", names)
	}
}

// Items of connected sources have rules too, of their own or by their source.
func TestWhoReadsItems(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	ada, eve := a.newColleague(x, "ada@acme.test"), a.newColleague(x, "eve@acme.test")
	id, _ := a.connect(x, "jira", nil)
	only := map[string]any{"access": map[string]any{"users": []string{ada.name, "later@acme.test"}}}
	reply := a.importItems(x, id, issue(1, "The kirschkern is loose", only), issue(2, "The kirschkern is lost", nil),
		issue(3, "The kirschkern is red", map[string]any{"access": map[string]any{"users": "ada"}})).want(t, 200)
	var result struct {
		Accepted, Rejected int
		Errors             []struct{ Detail string }
		AccessUnknown      struct{ Users []string }
	}
	if reply.json(t, &result); result.Accepted != 2 || result.Rejected != 1 || !slices.Equal(result.AccessUnknown.Users, []string{"later@acme.test"}) ||
		result.Errors[0].Detail != "access must be an object with the lists users and groups" {
		t.Errorf("%s", reply.body)
	}
	a.drain()
	reads := func(who colleague, want ...string) {
		t.Helper()
		byText := a.query(who.key, "issues", map[string]any{"query": "kirschkern"}).found(t)
		all := a.query(who.key, "issues", map[string]any{"query": "newest issues"}).found(t)
		found := a.search(who.key, "issues", "kirschkern").found(t)
		for way, got := range map[string][]string{"a query": byText, "a query without words": all, "a search": found} {
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%s by %s: %v, want %v", who.name, way, got, want)
			}
		}
	}
	reads(ada, "issues/1", "issues/2")
	reads(eve, "issues/2")
	a.do(call{"PATCH", "/data-sources/" + id, eve.key, map[string]any{"defaultAccess": map[string]any{}}, nil}).wantCode(t, 403, "admin-required")
	a.do(call{"PATCH", "/data-sources/" + id, x.pat, map[string]any{"defaultAccess": map[string]any{"users": []string{eve.name}}}, nil}).want(t, 200)
	reads(ada, "issues/1")
	reads(eve, "issues/2")
	a.do(call{"PATCH", "/data-sources/" + id, x.pat, map[string]any{"defaultAccess": map[string]any{}}, nil}).want(t, 200)
	reads(eve)
	a.do(call{"PATCH", "/data-sources/" + id, x.pat, map[string]any{"defaultAccess": nil}, nil}).want(t, 200)
	reads(ada, "issues/1", "issues/2")
	// A name that nobody had opens to whoever gets it.
	reads(a.newColleague(x, "Later@acme.test"), "issues/1", "issues/2")
}
