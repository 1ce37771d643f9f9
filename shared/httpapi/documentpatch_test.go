package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	documents "docent/shared/document"
	"docent/shared/team"
)

// documentID returns the id of the document or item of the team with the uri.
func (a *api) documentID(x tenant, uri string) string {
	a.t.Helper()
	id, err := documents.ID(x.ID, uri)
	if err != nil {
		a.t.Fatal(err)
	}
	return id
}

// changeDocument sends a merge patch of a document.
func (a *api) changeDocument(key, id string, body any, header ...string) response {
	a.t.Helper()
	c := sent("PATCH", "/documents/"+id, body, header...)
	return a.do(c.as(key))
}

// TestNullWithinMetadataIsRefused: RFC 7396 means it to remove one name, and metadata is replaced whole.
func TestNullWithinMetadataIsRefused(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	id := a.putDocument(x.key, a.newCollection(x.key, "wiki"), "https://wiki.test/a", "A", "a")
	a.changeDocument(x.key, id, map[string]any{"metadata": map[string]any{"product": "api", "draft": true}}).want(t, 200)
	for _, metadata := range []string{`{"draft":null}`, `{"product":"api","draft": null }`} {
		if got := a.changeDocument(x.key, id, `{"metadata":`+metadata+`}`).want(t, 400); !strings.Contains(string(got.body), `"pointer":"/metadata"`) {
			t.Errorf("%s: %s", metadata, got.body)
		}
	}
	get := call{"GET", "/documents/" + id, x.key, nil, nil}
	if got := a.do(get).want(t, 200); !strings.Contains(string(got.body), `"metadata":{"draft":true,"product":"api"}`) {
		t.Errorf("after the refusals: %s", got.body)
	}
	a.changeDocument(x.key, id, `{"metadata":null}`).want(t, 200)
	if got := a.do(get).want(t, 200); strings.Contains(string(got.body), `"metadata"`) {
		t.Errorf("removed whole: %s", got.body)
	}
}

// TestAccessIsChangedWithoutTheContent: what a change closes is hidden at once, what it opens is found once it is indexed.
func TestAccessIsChangedWithoutTheContent(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	ada, eve := a.newColleague(x, "ada@acme.test"), a.newColleague(x, "eve@acme.test")
	wiki := a.do(call{"POST", "/collections", x.key, map[string]any{"name": "wiki", "description": "Wiki", "defaultAccess": map[string]any{"users": []string{eve.name}}}, nil}).want(t, 201).text(t, "id")
	const uri = "https://wiki.test/a"
	id := a.putWith(x.key, wiki, uri, map[string]any{"users": []string{ada.name}}).want(t, 200).text(t, "id")
	a.drain()
	one := map[string]string{id: uri}
	question := numberedID(1)
	a.ask(ada.key, question, "Where is the kirschkern kept?").want(t, 204)
	a.drain()
	for step, test := range []struct {
		access any
		ada    bool
		eve    bool
	}{
		{map[string]any{"users": []string{eve.name}}, false, true},
		{map[string]any{"users": []string{ada.name, eve.name}}, true, true},
		{map[string]any{}, false, false},
		{map[string]any{"users": []string{ada.id}, "groups": []string{}}, true, false},
		{nil, false, true},
	} {
		a.changeDocument(x.key, id, map[string]any{"access": test.access}).want(t, 200)
		for _, indexed := range []bool{false, true} {
			if indexed {
				a.drain()
			}
			for who, reads := range map[colleague]bool{ada: test.ada, eve: test.eve} {
				var want []string
				if reads {
					want = []string{uri}
				}
				if got := a.seen(who.key, nil, one, true); indexed || !reads {
					shows(t, fmt.Sprintf("step %d, %s, indexed: %t", step, who.name, indexed), got, want, true)
				}
			}
			if text := string(a.do(call{"GET", "/answers/" + question, ada.key, nil, nil}).want(t, 200).body); strings.Contains(text, "cellar") != test.ada {
				t.Errorf("step %d: ada's answer is %s", step, text)
			}
		}
	}
}

func TestADocumentIsChangedByAMergePatch(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	ada := a.newColleague(x, "ada@acme.test")
	wiki := a.newCollection(x.key, "wiki")
	id := a.putDocument(x.key, wiki, "https://wiki.test/a", "About cellars", kirschkern)
	a.drain()
	var before string
	for step, test := range []struct {
		body, title, metadata, access, unknown string
		same                                   bool
	}{
		{`{}`, "About cellars", "", "", "", true},
		{`{"metadata":{"product":"api"},"access":{"users":["ADA@acme.test"],"groups":["Staff"]}}`, "About cellars", `{"product":"api"}`,
			`{"users":["ADA@acme.test"],"groups":["Staff"]}`, `{"users":[],"groups":["Staff"]}`, false},
		{`{"metadata":{"product":"api"},"access":{"users":["ADA@acme.test"],"groups":["Staff"]}}`, "About cellars", `{"product":"api"}`,
			`{"users":["ADA@acme.test"],"groups":["Staff"]}`, `{"users":[],"groups":["Staff"]}`, true},
		{`{"title":"Cellars"}`, "Cellars", `{"product":"api"}`, `{"users":["ADA@acme.test"],"groups":["Staff"]}`, "", false},
		{`{"access":{"users":["ADA@acme.test"]}}`, "Cellars", `{"product":"api"}`, `{"users":["ADA@acme.test"],"groups":[]}`, "", false},
		{`{"metadata":{"version":2}}`, "Cellars", `{"version":2}`, `{"users":["ADA@acme.test"],"groups":[]}`, "", false},
		{`{"metadata":{}}`, "Cellars", "", `{"users":["ADA@acme.test"],"groups":[]}`, "", false},
		{`{"metadata":null,"access":null}`, "Cellars", "", "", "", false},
		{`{"uri":"https://wiki.test/b","body":"mine","collectionId":"x","mediaType":"text/plain","keepAccess":true,"nothing":1}`, "Cellars", "", "", "", true},
	} {
		sent := call{"PATCH", "/documents/" + id, ada.key, test.body, map[string]string{"Content-Type": "application/merge-patch+json"}}
		reply := a.do(sent).want(t, 200)
		text := func(member, value string) string {
			if value == "" {
				return ""
			}
			return `"` + member + `":` + value + `,`
		}
		want := `{"id":"` + id + `","collectionId":"` + wiki + `","title":"` + test.title + `","uri":"https://wiki.test/a",` + text("metadata", test.metadata) + text("access", test.access) + `"createdAt":`
		unknown := text("accessUnknown", test.unknown)
		if got := string(reply.body); !strings.HasPrefix(got, want) || strings.Contains(got, `"accessUnknown"`) != (unknown != "") || !strings.Contains(got, strings.TrimSuffix(unknown, ",")) {
			t.Errorf("step %d: %s, want %s and %s", step, got, want, unknown)
		}
		d := a.do(call{"GET", "/documents/" + id, ada.key, nil, nil}).want(t, 200)
		if tag := reply.Header.Get("ETag"); tag != d.Header.Get("ETag") || d.text(t, "body") != kirschkern || (tag == before) != test.same && step > 0 {
			t.Errorf("step %d: %s after %s, stored %s, %s", step, tag, before, d.Header.Get("ETag"), d.body)
		}
		before = reply.Header.Get("ETag")
		a.drain()
	}
	for body, pointer := range map[string]string{
		`{"title":null}`: "/title", `{"title":""}`: "/title", `{"title":1}`: "/title", `{"metadata":{"and":1}}`: "/metadata", `{"metadata":{"a":{}}}`: "/metadata/a", `{"metadata":[]}`: "/metadata",
		`{"access":{"users":"ada"}}`: "/access/users", `{"access":{"users":[""]}}`: "/access/users/0", `{"access":[]}`: "/access",
	} {
		reply := a.do(call{"PATCH", "/documents/" + id, ada.key, body, nil}).wantCode(t, 400, "invalid-request")
		if !strings.Contains(string(reply.body), `"pointer":"`+pointer+`"`) {
			t.Errorf("%s: %s", body, reply.body)
		}
	}
	a.changeDocument(x.key, id, map[string]any{"title": "Stale"}, "If-Match", `"1"`).wantCode(t, 412, "precondition-failed")
	a.changeDocument(x.key, id, map[string]any{"title": "Fresh"}, "If-Match", before).want(t, 200)
}

func TestWhoMayChangeADocument(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x, rival := a.newTenant("acme"), a.newTenant("rival")
	ada, eve := a.newColleague(x, "ada@acme.test"), a.newColleague(x, "eve@acme.test")
	wiki, other := a.newCollection(x.key, "wiki"), a.newCollection(x.key, "other")
	id := a.putWith(x.key, wiki, "https://wiki.test/a", map[string]any{"users": []string{ada.name}}).want(t, 200).text(t, "id")
	source, _ := a.connect(x, "jira", nil)
	a.importItems(x, source, issue(1, "The kirschkern is loose", nil)).want(t, 200)
	a.drain()
	item := a.documentID(x, "https://tracker.test/issues/1")
	key := func(k team.NewKey) string { k.Name = "k"; _, text := a.newKey(x.ID, k); return text }
	bot := key(team.NewKey{Kind: team.KindTeam, ActFor: true})
	for name, test := range map[string]struct {
		key, id, user string
		status        int
		code          string
	}{
		"who reads it":                        {ada.key, id, "", 200, ""},
		"who does not":                        {eve.key, id, "", 404, "not-found"},
		"an admin who does not":               {x.pat, id, "", 404, "not-found"},
		"a team key":                          {x.key, id, "", 200, ""},
		"a team key for who reads it":         {bot, id, ada.name, 200, ""},
		"a team key for who does not":         {bot, id, eve.name, 404, "not-found"},
		"a key of its collection":             {key(team.NewKey{Kind: team.KindTeam, DataSourceIDs: []string{wiki}}), id, "", 200, ""},
		"a key of another collection":         {key(team.NewKey{Kind: team.KindTeam, DataSourceIDs: []string{other}}), id, "", 403, "source-not-allowed"},
		"a key that writes":                   {key(team.NewKey{Kind: team.KindTeam, Scopes: []team.Scope{team.ScopeWrite}}), id, "", 200, ""},
		"a key that reads and manages":        {key(team.NewKey{Kind: team.KindTeam, Scopes: []team.Scope{team.ScopeRead, team.ScopeManage}}), id, "", 403, "missing-scope"},
		"a key of another team":               {rival.key, id, "", 404, "not-found"},
		"a key of SCIM":                       {key(team.NewKey{Kind: team.KindSCIM}), id, "", 403, "wrong-key-kind"},
		"a team key, of an item":              {x.key, item, "", 404, "not-found"},
		"a team key, of a document not there": {x.key, unknownID, "", 404, "not-found"},
	} {
		var header []string
		if test.user != "" {
			header = []string{"Docent-User", test.user}
		}
		reply := a.changeDocument(test.key, test.id, map[string]any{"metadata": map[string]any{"by": name}}, header...)
		if test.code != "" {
			reply.wantCode(t, test.status, test.code)
		} else if reply.StatusCode != test.status || !strings.Contains(string(reply.body), name) {
			t.Errorf("%s: %d %s", name, reply.StatusCode, reply.body)
		}
	}
	// Who leaves themselves out reads the reply, and nothing later.
	a.changeDocument(ada.key, id, map[string]any{"access": map[string]any{"users": []string{eve.name}}}).want(t, 200)
	a.changeDocument(ada.key, id, map[string]any{"access": nil}).wantCode(t, 404, "not-found")
	a.changeDocument(eve.key, id, map[string]any{"access": nil}).want(t, 200)
}

// TestChangedAccessIsRecorded: with numbers of who may read, without names, and without the title.
func TestChangedAccessIsRecorded(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	id := a.putDocument(x.key, a.newCollection(x.key, "wiki"), "https://wiki.test/a", "Before", "b")
	cursor := *a.feed(x.key, "").NextCursor
	for _, body := range []map[string]any{
		{"access": map[string]any{"users": []string{"secret@x.test"}}}, {"access": map[string]any{"users": []string{"secret@x.test"}}},
		{"title": "Secret", "metadata": map[string]any{"a": "secret"}, "access": nil}, {},
	} {
		a.changeDocument(x.key, id, body).want(t, 200)
	}
	reply := a.raw(call{"GET", "/security-events?after=" + cursor, x.key, nil, nil}).want(t, 200)
	text := string(reply.body)
	var kinds []string
	for _, e := range a.feed(x.key, "&after="+cursor).Events {
		kinds = append(kinds, e.EventType)
	}
	if got := strings.Join(kinds, " "); got != "document.access_changed document.replaced document.access_changed" {
		t.Errorf("%s", got)
	}
	if strings.Contains(strings.ToLower(text), "secret") || !strings.Contains(text, `"1 user, 0 groups"`) {
		t.Errorf("%s", text)
	}
}
