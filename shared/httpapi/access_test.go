package httpapi_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

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
		shows(t, "the bot for ada by her id", a.seen(acting, map[string]string{"Docent-User": strings.ToUpper(ada.id)}, documents, true), want, true)
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
	a.clock.Advance(time.Minute)
	a.do(call{"PATCH", "/data-sources/" + id, x.pat, map[string]any{"name": "tracker"}, nil}).want(t, 200)
	changed := a.clock.Now()
	a.clock.Advance(time.Minute)
	a.importItems(x, id, issue(1, "The kirschkern is loose", map[string]any{"access": map[string]any{}})).want(t, 200)
	updated := map[bool]string{false: changed.Format("15:04:05"), true: a.clock.Now().Format("15:04:05")}
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
		for shown, at := range updated {
			if strings.Contains(list, `"updatedAt":"`+changed.Format("2006-01-02T")+at) != (shown == test.shown) {
				t.Errorf("%s, updatedAt: %s", name, list)
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
	// Of two headers, one may be of a program in between that reads the other: neither counts.
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/documents", nil)
	r.Header = http.Header{"Authorization": {"Bearer " + bot}, "Docent-User": {ada.name, x.admin.UserName}}
	twice := httptest.NewRecorder()
	a.handler.ServeHTTP(twice, r)
	if twice.Code != http.StatusBadRequest || !strings.Contains(twice.Body.String(), "must be sent once") {
		t.Errorf("two persons: %d %s", twice.Code, twice.Body)
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
