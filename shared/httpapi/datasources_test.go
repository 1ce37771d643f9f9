package httpapi_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/shared/team"
	"docent/shared/team/teamtest"
)

func TestDataSourcesAreListedWithoutSecrets(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki := a.newCollection(acme.key, "wiki")
	a.clock.Advance(time.Second)
	const token, signing = "ghp-tell-nobody", "slack-tell-nobody"
	github, created := a.connect(acme, "github", map[string]any{"repositories": []string{"acme/api"}, "accessToken": token})
	a.clock.Advance(time.Second)
	slack, _ := a.connect(acme, "slack", map[string]any{"signingSecret": signing})
	a.clock.Advance(time.Second)
	web, _ := a.connect(acme, "web", map[string]any{"urls": []string{"https://docs.test/a"}})
	hook := created.text(t, "webhookSecret")
	if len(hook) < 40 || created.text(t, "state") != "connecting" || created.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("created: %s", created.body)
	}
	reply := a.do(call{"GET", "/data-sources", acme.key, nil, nil}).want(t, 200)
	var list []struct {
		ID, Provider, State, CreatedAt, UpdatedAt string
		Settings                                  map[string]any
	}
	reply.json(t, &list)
	var got []string
	for _, d := range list {
		got = append(got, d.ID+" "+d.Provider+" "+d.State+" "+fmt.Sprint(d.Settings))
	}
	want := []string{web + " web connecting map[urls:[https://docs.test/a]]", slack + " slack connecting map[]",
		github + " github connecting map[repositories:[acme/api]]", wiki + " custom ready map[]"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for _, secret := range []string{token, signing, hook} {
		if strings.Contains(string(reply.body), secret) || strings.Contains(a.log.String(), secret) {
			t.Errorf("the log or a reply contains %s", secret)
		}
	}
	if first := a.members(call{"GET", "/data-sources?limit=1", acme.key, nil, nil}, "id"); !slices.Equal(first, []string{web}) {
		t.Errorf("first page: %v", first)
	}
	if next := a.do(call{"GET", "/data-sources?limit=3", acme.key, nil, nil}).link(t, "next"); next == nil {
		t.Error("no next page")
	} else if last := a.members(call{"GET", "/data-sources?" + next.Encode(), acme.key, nil, nil}, "id"); !slices.Equal(last, []string{wiki}) {
		t.Errorf("last page: %v", last)
	}
	_, restricted := a.newKey(acme.ID, team.NewKey{Kind: team.KindTeam, Name: "r", DataSourceIDs: []string{slack}})
	if ids := a.members(call{"GET", "/data-sources", restricted, nil, nil}, "id"); !slices.Equal(ids, []string{slack}) {
		t.Errorf("restricted: %v", ids)
	}
	if ids := a.members(call{"GET", "/collections", acme.key, nil, nil}, "id"); !slices.Equal(ids, []string{wiki}) {
		t.Errorf("collections: %v", ids)
	}
	if items := holding(a.stored(), token, signing, hook); len(items) != 0 {
		t.Errorf("stored in the open: %q", items)
	}
}

func TestOnlyAdminsManageDataSources(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	id := a.tracker(acme)
	wiki := a.newCollection(acme.key, "wiki")
	member, err := teamtest.CreateUser(t.Context(), a.local.Teams, acme.ID, "member@acme.test", team.RoleMember)
	if err != nil {
		t.Fatal(err)
	}
	_, memberKey := a.newKey(acme.ID, team.NewKey{Kind: team.KindPersonal, Name: "m", UserID: member.ID})
	_, restricted := a.newKey(acme.ID, team.NewKey{Kind: team.KindPersonal, Name: "r", UserID: acme.admin.ID, DataSourceIDs: []string{id}})
	for _, c := range []call{newDataSource, importCall(id), {"DELETE", "/data-sources/" + id, "", nil, nil}} {
		a.refused(c.as(acme.key), 403, "admin-required")
		a.refused(c.as(memberKey), 403, "admin-required")
		a.refused(c.as(restricted), 403, "key-restricted")
	}
	for _, c := range []call{importCall(wiki), {"DELETE", "/data-sources/" + wiki, "", nil, nil}} {
		a.refused(c.as(acme.pat), 400, "invalid-request")
	}
	for _, unknown := range []string{unknownID, "nonsense"} {
		a.refused(importCall(unknown).as(acme.pat), 404, "not-found")
		a.refused(call{"DELETE", "/data-sources/" + unknown, acme.pat, nil, nil}, 404, "not-found")
	}
	for _, c := range []call{{"GET", "/collections/" + id, acme.key, nil, nil}, {"PATCH", "/collections/" + id, acme.key, map[string]any{"name": "x"}, nil},
		{"PUT", "/documents", acme.key, map[string]any{"collectionId": id, "title": "t", "body": "b", "uri": "https://x.test/"}, nil}} {
		a.refused(c, 404, "not-found")
	}
	a.do(call{"DELETE", "/collections/" + id, acme.key, nil, nil}).want(t, 204)
	if got := a.search(acme.key, "issues", "login").found(t); len(got) == 0 {
		t.Error("DELETE /collections removed a data source")
	}
}

func TestBadDataSources(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	many := func(n int, text string) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = text
		}
		return out
	}
	for name, body := range map[string]map[string]any{
		"nothing": {}, "no name": {"provider": "jira"}, "empty name": {"provider": "jira", "name": ""}, "long name": {"provider": "jira", "name": strings.Repeat("ä", 101)},
		"control characters": {"provider": "jira", "name": "a\nb"}, "custom": {"provider": "custom", "name": "n"}, "unknown": {"provider": "myspace", "name": "n"},
		"github without repositories": {"provider": "github", "name": "n"}, "github, none": {"provider": "github", "name": "n", "settings": map[string]any{"repositories": []string{}}},
		"github, 101":          {"provider": "github", "name": "n", "settings": map[string]any{"repositories": many(101, "acme/api")}},
		"github, no owner":     {"provider": "github", "name": "n", "settings": map[string]any{"repositories": []string{"api"}}},
		"github, a path":       {"provider": "github", "name": "n", "settings": map[string]any{"repositories": []string{"acme/.."}}},
		"github, a URL":        {"provider": "github", "name": "n", "settings": map[string]any{"repositories": []string{"https://github.com/acme/api"}}},
		"github, bad base":     {"provider": "github", "name": "n", "settings": map[string]any{"repositories": []string{"acme/api"}, "baseUrl": "ftp://x.test"}},
		"github, plain HTTP":   {"provider": "github", "name": "n", "settings": map[string]any{"repositories": []string{"acme/api"}, "baseUrl": "http://github.test/api/v3"}},
		"github, base, blank":  {"provider": "github", "name": "n", "settings": map[string]any{"repositories": []string{"acme/api"}, "baseUrl": "https://github.test/a b"}},
		"web, bidirectional":   {"provider": "web", "name": "n", "settings": map[string]any{"urls": []string{"https://x.test/\u202e"}}},
		"web, sitemap, quote":  {"provider": "web", "name": "n", "settings": map[string]any{"sitemap": "https://x.test/\""}},
		"github, bad token":    {"provider": "github", "name": "n", "settings": map[string]any{"repositories": []string{"acme/api"}, "accessToken": "a b"}},
		"slack without secret": {"provider": "slack", "name": "n"}, "web without anything": {"provider": "web", "name": "n"},
		"web with both":      {"provider": "web", "name": "n", "settings": map[string]any{"urls": []string{"https://x.test/"}, "sitemap": "https://x.test/s"}},
		"web, 101":           {"provider": "web", "name": "n", "settings": map[string]any{"urls": many(101, "https://x.test/")}},
		"web, a file":        {"provider": "web", "name": "n", "settings": map[string]any{"urls": []string{"file:///etc/passwd"}}},
		"web, a password":    {"provider": "web", "name": "n", "settings": map[string]any{"urls": []string{"https://a:b@x.test/"}}},
		"foreign setting":    {"provider": "jira", "name": "n", "settings": map[string]any{"urls": []string{"https://x.test/"}}},
		"foreign secret":     {"provider": "web", "name": "n", "settings": map[string]any{"urls": []string{"https://x.test/"}, "signingSecret": "s"}},
		"settings of a type": {"provider": "jira", "name": "n", "settings": "none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a.in(t).refused(call{"POST", "/data-sources", acme.pat, body, nil}, 400, "invalid-request")
		})
	}
}

func TestTheLimitOfDataSourcesHoldsInARace(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	for range 95 {
		a.connect(acme, "jira", nil)
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for range 12 {
		group.Go(func() {
			reply := a.do(newDataSource.as(acme.pat))
			mu.Lock()
			defer mu.Unlock()
			statuses[reply.StatusCode]++
		})
	}
	group.Wait()
	if statuses[201] != 5 || statuses[409] != 7 {
		t.Errorf("statuses %v", statuses)
	}
}

func TestDeletedDataSourcesTakeTheirItemsAlong(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	tracker := a.tracker(acme)
	a.do(call{"DELETE", "/data-sources/" + tracker, acme.pat, nil, nil}).want(t, 204)
	a.refused(call{"DELETE", "/data-sources/" + tracker, acme.pat, nil, nil}, 404, "not-found")
	gone := func(when string) {
		if got := a.search(acme.key, "", "login").found(t); len(got) != 0 {
			t.Errorf("%s: search finds %v", when, got)
		}
		if got := a.query(acme.pat, "issues", map[string]any{"query": "all issues"}).found(t); len(got) != 0 {
			t.Errorf("%s: query finds %v", when, got)
		}
		if reply := a.do(call{"POST", "/context/get", acme.key, map[string]any{"urls": []string{"https://tracker.test/issues/1"}}, nil}); !strings.Contains(string(reply.body), "not-found") {
			t.Errorf("%s: get finds %s", when, reply.body)
		}
	}
	gone("at once")
	a.drain()
	gone("after the work")
	again, _ := a.connect(acme, "jira", nil)
	a.importItems(acme, again, issue(1, "Login fails again", nil)).want(t, 200)
	a.drain()
	if got := a.search(acme.key, "issues", "login").found(t); !slices.Equal(got, []string{"issues/1"}) {
		t.Errorf("the uri is not free again: %v", got)
	}
	a.do(call{"DELETE", "/data-sources/" + again, acme.pat, nil, nil}).want(t, 204)
	a.drain()
	if items := holding(a.stored(), "tracker.test"); len(items) != 0 {
		t.Errorf("left behind: %q", items)
	}
}

func TestChangesOfDataSourcesRecordTheirEvents(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	id, _ := a.connect(acme, "linear", nil)
	a.importItems(acme, id, issue(1, "One", nil), issue(2, "Two", nil)).want(t, 200)
	a.importItems(acme, id).want(t, 400)
	a.do(call{"DELETE", "/data-sources/" + id, acme.pat, nil, nil}).want(t, 204)
	var feed struct {
		Events []struct {
			EventType string
			Targets   []struct{ Type, ID string }
		}
	}
	a.do(call{"GET", "/security-events?category=data&category=configuration", acme.pat, nil, nil}).want(t, 200).json(t, &feed)
	var got []string
	for _, e := range feed.Events {
		if len(e.Targets) == 1 && e.Targets[0].ID == id {
			got = append(got, e.EventType)
		}
	}
	slices.Sort(got)
	if want := []string{"data_source.created", "data_source.deleted", "data_source.items_imported"}; !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}

func TestChangingADataSource(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme, rival := a.newTenant("acme"), a.newTenant("rival")
	const first, second = "ghp-first-token", "ghp-second-token"
	id, made := a.connect(acme, "github", map[string]any{"repositories": []string{"acme/api"}, "accessToken": first})
	hook := made.text(t, "webhookSecret")
	at := "/data-sources/" + id
	change := func(body map[string]any) response { return a.do(call{"PATCH", at, acme.pat, body, nil}) }
	settings := func(members map[string]any) map[string]any { return map[string]any{"settings": members} }

	a.clock.Advance(time.Second)
	reply := change(map[string]any{"name": "Code", "settings": map[string]any{"repositories": []string{"acme/api", "acme/web"}, "accessToken": second}}).want(t, 200)
	for _, want := range []string{`"name":"Code"`, `"repositories":["acme/api","acme/web"]`, `"updatedAt":"` + a.clock.Now().UTC().Format("2006-01-02T15:04:05")} {
		if !strings.Contains(string(reply.body), want) {
			t.Errorf("%s lacks %s", reply.body, want)
		}
	}
	const other = "https://github.example/api/v3"
	if reply := change(settings(map[string]any{"baseUrl": other})).want(t, 400); !strings.Contains(string(reply.body), "/settings/accessToken") {
		t.Errorf("a token for another host: %s", reply.body)
	}
	change(settings(map[string]any{"baseUrl": other, "accessToken": second})).want(t, 200)
	if reply := change(settings(map[string]any{"baseUrl": nil, "accessToken": second})).want(t, 200); strings.Contains(string(reply.body), "baseUrl") || !strings.Contains(string(reply.body), "acme/web") {
		t.Errorf("without baseUrl: %s", reply.body)
	}
	before := string(a.do(call{"GET", "/data-sources", acme.key, nil, nil}).body)
	if reply := change(map[string]any{"name": "a\x1b"}).want(t, 400); !strings.Contains(string(reply.body), "no control characters") {
		t.Errorf("a control character in a name of two characters: %s", reply.body)
	}
	for name, body := range map[string]map[string]any{
		"no name": {"name": ""}, "null as the name": {"name": nil}, "null as paused": {"paused": nil}, "a text as paused": {"paused": "yes"}, "null as settings": {"settings": nil},
		"no repositories":      settings(map[string]any{"repositories": nil}),
		"a bad repository":     settings(map[string]any{"repositories": []string{"api"}}),
		"a foreign setting":    settings(map[string]any{"urls": []string{"https://x.test/"}}),
		"a good and a bad one": {"name": "Other", "settings": map[string]any{"accessToken": "a b"}},
	} {
		t.Run(name, func(t *testing.T) { a.in(t).refused(call{"PATCH", at, acme.pat, body, nil}, 400, "invalid-request") })
	}
	a.refused(call{"PATCH", at, rival.pat, map[string]any{"name": "x"}, nil}, 404, "not-found")
	a.refused(call{"PATCH", at, acme.key, map[string]any{"name": "x"}, nil}, 403, "admin-required")
	if after := string(a.do(call{"GET", "/data-sources", acme.key, nil, nil}).body); after != before {
		t.Errorf("changed: %s, before %s", after, before)
	}

	for _, paused := range []bool{true, false} {
		reply := change(map[string]any{"paused": paused}).want(t, 200)
		if state := reply.text(t, "state"); (state == "paused") != paused {
			t.Errorf("paused %t: %s", paused, reply.body)
		}
	}
	var feed struct {
		Events []struct {
			EventType string
			Changes   []struct{ Field string }
		}
	}
	a.do(call{"GET", "/security-events?category=configuration", acme.pat, nil, nil}).want(t, 200).json(t, &feed)
	var fields []string
	for _, e := range feed.Events {
		for _, c := range e.Changes {
			if e.EventType == "data_source.updated" {
				fields = append(fields, c.Field)
			}
		}
	}
	slices.Sort(fields)
	if want := []string{"name", "paused", "paused", "settings.accessToken", "settings.baseUrl", "settings.baseUrl", "settings.repositories"}; !slices.Equal(fields, want) {
		t.Errorf("events of %q, want %q", fields, want)
	}
	if items := holding(a.stored(), first, second, hook); len(items) != 0 {
		t.Errorf("stored in the open: %q", items)
	}
}

func TestASyncIsAskedFor(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme, rival := a.newTenant("acme"), a.newTenant("rival")
	id, _ := a.connect(acme, "github", map[string]any{"repositories": []string{"acme/api"}})
	imported, _ := a.connect(acme, "jira", nil)
	at := "/data-sources/" + id + "/sync"
	reply := a.do(call{"POST", at, acme.pat, nil, nil}).want(t, 202)
	if reply.text(t, "id") != id || !strings.Contains(string(reply.body), `"next":"`) {
		t.Errorf("%s", reply.body)
	}
	a.do(call{"POST", at, acme.pat, map[string]any{}, nil}).want(t, 202)
	a.refused(call{"POST", at, acme.key, nil, nil}, 403, "admin-required")
	a.refused(call{"POST", at, rival.pat, nil, nil}, 404, "not-found")
	a.refused(call{"POST", "/data-sources/" + imported + "/sync", acme.pat, nil, nil}, 409, "not-synced")
	a.do(call{"PATCH", "/data-sources/" + id, acme.pat, map[string]any{"paused": true}, nil}).want(t, 200)
	a.refused(call{"POST", at, acme.pat, nil, nil}, 409, "not-synced")
}

func TestRacingChangesAllHold(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	id, _ := a.connect(acme, "github", map[string]any{"repositories": []string{"acme/api"}})
	var group sync.WaitGroup
	for _, body := range []map[string]any{{"name": "Code"}, {"settings": map[string]any{"baseUrl": "https://github.example/", "accessToken": "t"}},
		{"settings": map[string]any{"repositories": []string{"acme/web"}}}, {"paused": true}, {"defaultAccess": map[string]any{"users": []string{"eve@x.test"}}}} {
		group.Go(func() { a.do(call{"PATCH", "/data-sources/" + id, acme.pat, body, nil}).want(t, 200) })
	}
	group.Wait()
	shown := string(a.do(call{"GET", "/data-sources", acme.key, nil, nil}).body)
	for _, want := range []string{`"name":"Code"`, `"baseUrl":"https://github.example/"`, `"repositories":["acme/web"]`, `"state":"paused"`, "eve@x.test"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%s lacks %s", shown, want)
		}
	}
}

func TestDeliveriesToAPausedSourceChangeNothing(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	id, made := a.connect(acme, "github", map[string]any{"repositories": []string{"acme/api"}})
	deliver := func(n string) {
		body := fmt.Sprintf(`{"action":"opened","repository":{"full_name":"acme/api"},"issue":{"html_url":"https://github.com/acme/api/issues/%[1]s","number":%[1]s,"title":"Zeppelin %[1]s","body":"b","state":"open","created_at":"2026-05-01T00:00:00Z","updated_at":"2026-05-01T00:00:00Z"}}`, n)
		a.do(githubCall(id, made.text(t, "webhookSecret"), "issues", n, body)).want(t, 202)
	}
	a.do(call{"PATCH", "/data-sources/" + id, acme.pat, map[string]any{"paused": true, "settings": map[string]any{"accessToken": "new"}}, nil}).want(t, 200)
	deliver("1")
	a.do(call{"PATCH", "/data-sources/" + id, acme.pat, map[string]any{"paused": false}, nil}).want(t, 200)
	deliver("2")
	a.drain()
	if got := a.search(acme.key, "issues", "Zeppelin").found(t); len(got) != 1 || !strings.Contains(got[0], "2") {
		t.Errorf("found %v", got)
	}
}
