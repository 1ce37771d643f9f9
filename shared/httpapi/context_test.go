package httpapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"docent/shared/team"
)

// connect makes a data source of the provider and returns its id and reply.
func (a *api) connect(x tenant, provider string, settings map[string]any) (string, response) {
	a.t.Helper()
	body := map[string]any{"provider": provider, "name": provider}
	if settings != nil {
		body["settings"] = settings
	}
	reply := a.do(call{"POST", "/data-sources", x.pat, body, nil}).want(a.t, 201)
	return reply.text(a.t, "id"), reply
}

// importItems sends items, one map a line, and returns the reply.
func (a *api) importItems(x tenant, id string, items ...map[string]any) response {
	a.t.Helper()
	var lines strings.Builder
	for _, i := range items {
		text, err := json.Marshal(i)
		if err != nil {
			a.t.Fatal(err)
		}
		lines.Write(text)
		lines.WriteString("\n")
	}
	return a.do(call{"POST", "/data-sources/" + id + "/items", x.pat, lines.String(), map[string]string{"Content-Type": "application/x-ndjson"}})
}

func issue(n int, title string, more map[string]any) map[string]any {
	i := map[string]any{"uri": fmt.Sprintf("https://tracker.test/issues/%d", n), "title": title, "body": "Details: " + title + ".",
		"sourceType": "issue", "number": fmt.Sprint(n), "state": "open", "author": "ada", "project": "acme/api",
		"createdAt": fmt.Sprintf("2026-%02d-01T00:00:00Z", n), "updatedAt": fmt.Sprintf("2026-%02d-02T00:00:00Z", n)}
	for name, value := range more {
		i[name] = value
	}
	return i
}

// found returns the URLs of the sources of a reply, in order.
func (r response) found(t *testing.T) []string {
	t.Helper()
	var body struct{ Sources []struct{ URL string } }
	r.want(t, 200).json(t, &body)
	urls := []string{}
	for _, s := range body.Sources {
		urls = append(urls, strings.TrimPrefix(s.URL, "https://tracker.test/"))
	}
	return urls
}

func (a *api) query(key, space string, body map[string]any) response {
	a.t.Helper()
	return a.do(call{"POST", "/context/query/" + space, key, body, nil})
}

func (a *api) search(key, space, query string) response {
	a.t.Helper()
	return a.do(call{"POST", strings.TrimSuffix("/context/search/"+space, "/"), key, map[string]any{"query": query}, nil})
}

// tracker creates a data source with an item of each space and six issues.
func (a *api) tracker(x tenant) string {
	a.t.Helper()
	id, _ := a.connect(x, "jira", nil)
	of := func(sourceType, uri, text string) map[string]any {
		return map[string]any{"uri": "https://tracker.test/" + uri, "title": text, "body": text + " explained.", "sourceType": sourceType}
	}
	a.importItems(x, id,
		issue(1, "Login fails on Safari", map[string]any{"labels": []string{"bug", "ui"}}),
		issue(2, "Login page is slow", map[string]any{"state": "closed", "closedAt": "2026-10-05T00:00:00Z", "author": "grace"}),
		issue(3, "Export of invoices stops", map[string]any{"project": "acme/billing", "assignees": []string{"ada"}, "author": "grace"}),
		issue(4, "Login ignores the language", map[string]any{"author": "admin", "updatedAt": "2026-11-01T00:00:00Z"}),
		issue(5, "Invoices lack the tax number", map[string]any{"project": "acme/billing", "labels": []string{"Bug"}}),
		issue(6, "Dark mode for the login", map[string]any{"state": "closed", "closedAt": "2026-06-20T00:00:00Z"}),
		map[string]any{"uri": "https://tracker.test/pulls/7", "title": "Fix the login on Safari", "body": "Sets the cookie.", "sourceType": "pull_request",
			"state": "merged", "number": "7", "author": "ada", "mergedAt": "2026-11-10T00:00:00Z", "createdAt": "2026-11-09T00:00:00Z"},
		of("code", "login.go", "func handleLogin"), of("documentation", "guide", "How the login works"), of("message", "m1", "login is down again"),
	).want(a.t, 200)
	a.drain()
	return id
}

func TestSearchBySpace(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	a.tracker(acme)
	wiki := a.newCollection(acme.key, "wiki")
	a.putDocument(acme.key, wiki, "https://tracker.test/wiki", "Login handbook", "Everything about the login.")
	a.drain()
	for space, want := range map[string][]string{
		"issues": {"issues/1", "issues/2", "issues/4", "issues/6"}, "prs": {"pulls/7"}, "code": {"login.go"},
		"documentation": {"guide", "wiki"}, "messages": {"m1"},
	} {
		got := a.search(acme.key, space, "login").found(t)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", space, got, want)
		}
	}
	if got := a.search(acme.key, "", "login").found(t); len(got) != 9 {
		t.Errorf("everything: %v", got)
	}
	if got := a.search(acme.key, "issues", "zeppelin").found(t); len(got) != 0 {
		t.Errorf("nothing: %v", got)
	}
	var body struct {
		Sources []map[string]any
	}
	a.search(acme.key, "prs", "cookie").json(t, &body)
	want := map[string]any{"content": "Sets the cookie.", "title": "Fix the login on Safari", "url": "https://tracker.test/pulls/7",
		"sourceType": "pull_request", "provider": "jira"}
	if len(body.Sources) != 1 || fmt.Sprint(body.Sources[0]) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", body.Sources, want)
	}
	limited := a.do(call{"POST", "/context/search/issues", acme.key, map[string]any{"query": "login", "limit": 2, "instruction": "prefer Safari"}, nil}).found(t)
	if len(limited) != 2 || limited[0] != "issues/1" {
		t.Errorf("limit and instruction: %v", limited)
	}
	explained := a.do(call{"POST", "/context/search/issues", acme.key, map[string]any{"query": "login", "explain": true}, nil})
	if text := string(explained.want(t, 200).body); !strings.Contains(text, `"explanation":{"score":`) || !strings.Contains(text, `{"term":"login","times":`) {
		t.Errorf("explained: %s", text)
	}
	if provider := a.search(acme.key, "documentation", "handbook"); !strings.Contains(string(provider.body), `"provider":"custom"`) {
		t.Errorf("a document of a collection: %s", provider.body)
	}
}

func TestQuery(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme") // its admin is admin@acme.test
	a.tracker(acme)
	for _, tt := range []struct {
		name, space string
		body        map[string]any
		want        []string // in order; for a relevance order in any
	}{
		{"everything, newest first", "issues", map[string]any{"query": "all issues"}, []string{"issues/6", "issues/5", "issues/4", "issues/3", "issues/2", "issues/1"}},
		{"words and a state", "issues", map[string]any{"query": "open issues about login", "sort": "created"}, []string{"issues/4", "issues/1"}},
		{"mine by the local part of my name", "issues", map[string]any{"query": "my issues"}, []string{"issues/4"}},
		{"a field wins over the text", "issues", map[string]any{"query": "open issues", "state": "closed"}, []string{"issues/6", "issues/2"}},
		{"user as author or assignee", "issues", map[string]any{"query": "issues", "userName": "Ada", "projects": []string{"acme/billing"}}, []string{"issues/5", "issues/3"}},
		{"assigned", "issues", map[string]any{"query": "issues assigned to @ada"}, []string{"issues/3"}},
		{"by", "issues", map[string]any{"query": "issues by grace"}, []string{"issues/3", "issues/2"}},
		{"short project, labels without case", "issues", map[string]any{"query": "issues in the billing project labeled bug"}, []string{"issues/5"}},
		{"all labels", "issues", map[string]any{"query": "issues", "labels": []string{"BUG", "ui"}}, []string{"issues/1"}},
		{"completed", "issues", map[string]any{"query": "issues closed in October"}, []string{"issues/2"}},
		{"after inclusive, before exclusive", "issues", map[string]any{"query": "issues", "createdAfter": "2026-02-01T00:00:00Z", "createdBefore": "2026-04-01T00:00:00Z"}, []string{"issues/3", "issues/2"}},
		{"by update", "issues", map[string]any{"query": "recently updated issues", "limit": 2}, []string{"issues/4", "issues/6"}},
		{"merged", "prs", map[string]any{"query": "PRs merged this month"}, []string{"pulls/7"}},
		{"merged before", "prs", map[string]any{"query": "merged PRs", "completedBefore": "2026-11-10T00:00:00Z"}, []string{}},
		{"an unknown author", "issues", map[string]any{"query": "issues by stranger"}, []string{}},
		{"words that nothing has", "issues", map[string]any{"query": "open issues about zeppelins"}, []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := a.in(t).query(acme.pat, tt.space, tt.body).found(t); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	reply := a.query(acme.pat, "issues", map[string]any{"query": "closed login issues since October 1", "limit": 1})
	var body struct {
		Sources []struct {
			Number, State, Author, CreatedAt, UpdatedAt, ClosedAt, Project, Provider, SourceType string
		}
		Interpreted map[string]any
	}
	reply.json(t, &body)
	if fmt.Sprint(body.Interpreted) != "map[completedAfter:2026-10-01T00:00:00.000Z state:closed text:login]" {
		t.Errorf("interpreted %v", body.Interpreted)
	}
	a.query(acme.key, "issues", map[string]any{"query": "my issues"}).wantCode(t, 400, "invalid-request")
	a.query(acme.key, "issues", map[string]any{"query": "x", "userName": "me"}).wantCode(t, 400, "invalid-request")
}

func TestRecordsOfQueries(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	a.tracker(acme)
	for query, content := range map[string]string{"safari": "Details: Login fails on Safari.", "issues labeled ui": "Details: Login fails on Safari."} {
		var body struct{ Sources []map[string]any }
		a.query(acme.pat, "issues", map[string]any{"query": query}).want(t, 200).json(t, &body)
		want := map[string]any{"content": content, "title": "Login fails on Safari", "url": "https://tracker.test/issues/1", "sourceType": "issue",
			"provider": "jira", "number": "1", "state": "open", "author": "ada", "project": "acme/api", "labels": []any{"bug", "ui"},
			"createdAt": "2026-01-01T00:00:00.000Z", "updatedAt": "2026-01-02T00:00:00.000Z"}
		if len(body.Sources) != 1 || fmt.Sprint(body.Sources[0]) != fmt.Sprint(want) {
			t.Errorf("%s: got %v, want %v", query, body.Sources, want)
		}
	}
}

func TestRestrictedKeysAndContext(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme, rival := a.newTenant("acme"), a.newTenant("rival")
	tracker := a.tracker(acme)
	wiki := a.newCollection(acme.key, "wiki")
	a.putDocument(acme.key, wiki, "https://tracker.test/wiki", "Login handbook", "Everything about the login.")
	a.drain()
	_, wikiKey := a.newKey(acme.ID, team.NewKey{Kind: team.KindTeam, Name: "wiki", DataSourceIDs: []string{wiki}})
	_, trackerKey := a.newKey(acme.ID, team.NewKey{Kind: team.KindTeam, Name: "tracker", DataSourceIDs: []string{tracker}})
	lonely := a.newTenant("lonely") // as much content as the restricted key sees, and nothing else
	own := a.newCollection(lonely.key, "wiki")
	a.putDocument(lonely.key, own, "https://tracker.test/wiki", "Login handbook", "Everything about the login.")
	a.drain()
	for _, question := range []string{"login", "Safari cookie", "How does the login work?", "Safary cokie of the loginn", "open issues labelled safari by grace", "merged PRs by ada", "newest"} {
		for _, path := range []string{"search", "search/code", "search/documentation", "search/issues", "search/messages", "search/prs", "research", "query/issues", "query/prs"} {
			body := map[string]any{"query": question}
			switch {
			case strings.HasPrefix(path, "search"):
				body["instruction"] = "prefer Safari" // ranks by the words of what may be read alone
			case path == "research":
				body["effort"] = "high" // other wordings and parts are of what may be read alone
			}
			c := call{"POST", "/context/" + path, wikiKey, body, nil}
			if got, want := shown(a.do(c)), shown(a.do(c.as(lonely.key))); got != want {
				t.Errorf("%s %q: the restricted key sees %s, a team with nothing else %s", path, question, got, want)
			}
			if got := a.do(c.as(rival.key)).found(t); len(got) != 0 {
				t.Errorf("%s %q: another team sees %v", path, question, got)
			}
		}
	}
	if got := a.search(trackerKey, "documentation", "login").found(t); !slices.Equal(got, []string{"guide"}) {
		t.Errorf("the key of the tracker sees %v", got)
	}
	get := call{"POST", "/context/get", wikiKey, map[string]any{"urls": []string{"https://tracker.test/issues/1"}}, nil}
	if got, want := shown(a.do(get)), shown(a.do(get.as(rival.key))); got != want || !strings.Contains(got, "not-found") {
		t.Errorf("get of an item of another source: %s", got)
	}
	if ids := a.members(call{"GET", "/data-sources", wikiKey, nil, nil}, "id"); !slices.Equal(ids, []string{wiki}) {
		t.Errorf("data sources of the restricted key: %v", ids)
	}
}

// TestASearchNamesItsDataSources compares requests that name data sources with those of keys that are restricted to them.
func TestASearchNamesItsDataSources(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme, rival := a.newTenant("acme"), a.newTenant("rival")
	tracker := a.tracker(acme)
	wiki := a.newCollection(acme.key, "wiki")
	a.putDocument(acme.key, wiki, "https://tracker.test/wiki", "Login handbook", "Everything about the login.")
	theirs := a.newCollection(rival.key, "wiki")
	a.putDocument(rival.key, theirs, "https://tracker.test/theirs", "Login handbook", "Everything about the login.")
	a.drain()
	restricted := func(ids ...string) string {
		_, key := a.newKey(acme.ID, team.NewKey{Kind: team.KindTeam, Name: "restricted", DataSourceIDs: ids})
		return key
	}
	wikiKey := restricted(wiki)
	for _, path := range []string{"search", "search/documentation", "search/issues", "research"} {
		in := func(key string, ids ...string) response {
			body := map[string]any{"query": "How does the login work?"}
			if ids != nil {
				body["dataSourceIds"] = ids
			}
			return a.do(call{"POST", "/context/" + path, key, body, nil})
		}
		for name, c := range map[string]struct{ got, want response }{
			"one":                     {in(acme.key, wiki), in(wikiKey)},
			"another":                 {in(acme.key, tracker), in(restricted(tracker))},
			"both, and one twice":     {in(acme.key, wiki, tracker, wiki), in(acme.key)},
			"more than the key reads": {in(wikiKey, tracker, wiki), in(wikiKey)},
			"of another team as well": {in(acme.key, theirs, wiki), in(wikiKey)},
			"none that the key reads": {in(wikiKey, tracker), in(a.newTenant("empty").key)},
			"none that the team has":  {in(acme.key, numberedID(7), theirs), in(a.newTenant("bare").key)},
		} {
			if got, want := shown(c.got), shown(c.want); got != want {
				t.Errorf("%s, %s: %s, want %s", path, name, got, want)
			}
		}
		for _, bad := range []any{[]string{}, []string{"wiki"}, []string{""}, wiki, make([]string, 101)} {
			a.refused(call{"POST", "/context/" + path, acme.key, map[string]any{"query": "x", "dataSourceIds": bad}, nil}, 400, "invalid-request")
		}
	}
}

func TestGetContent(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	a.tracker(acme)
	wiki := a.newCollection(acme.key, "wiki")
	long := strings.Repeat("ß", 130_000) // 260,000 bytes
	a.putDocument(acme.key, wiki, "https://tracker.test/long", "Long", long)
	reply := a.do(call{"POST", "/context/get", acme.key, map[string]any{"urls": []string{
		"https://tracker.test/issues/1", "https://tracker.test/long", "https://tracker.test/pulls/7#discussion", "https://tracker.test/none",
		"file:///etc/passwd", "ftp://tracker.test/x", "nonsense", "HTTPS://tracker.test/issues/1"}}, nil}).want(t, 200)
	var body struct {
		Results []struct {
			URL, Title, Content, SourceType, Provider string
			Truncated                                 bool
			Error                                     *struct{ Code, Detail string }
		}
	}
	reply.json(t, &body)
	var got []string
	for _, r := range body.Results {
		line := fmt.Sprintf("%s %s/%s %d %t", r.Title, r.SourceType, r.Provider, len(r.Content), r.Truncated)
		if r.Error != nil {
			line = r.Error.Code
		}
		got = append(got, line)
	}
	want := []string{"Login fails on Safari issue/jira 31 false", "Long documentation/custom 250000 true", "Fix the login on Safari pull_request/jira 16 false",
		"not-found", "unsupported-url", "unsupported-url", "unsupported-url", "not-found"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestResearchEfforts(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki := a.newCollection(acme.key, "wiki")
	a.putDocument(acme.key, wiki, "https://tracker.test/rollback", "Runbook", "To roll back a deployment, run `deployctl undo` within 24 hours.")
	a.putDocument(acme.key, wiki, "https://tracker.test/lunch", "Lunch", "The canteen opens at noon and serves soup.")
	a.putDocument(acme.key, wiki, "https://tracker.test/vpn", "VPN", "The VPN needs a hardware token from the service desk.")
	a.drain()
	ask := func(query, effort string) (string, []string) {
		body := map[string]any{"query": query}
		if effort != "" {
			body["effort"] = effort
		}
		reply := a.do(call{"POST", "/context/research", acme.key, body, nil}).want(t, 200)
		return reply.text(t, "answer"), reply.found(t)
	}
	for _, effort := range []string{"", "low", "medium", "high"} {
		answer, sources := ask("How do I roll back a deployment?", effort)
		if !strings.Contains(answer, "deployctl undo") || len(sources) == 0 || sources[0] != "rollback" {
			t.Errorf("%q: %s %v", effort, answer, sources)
		}
		if answer, sources = ask("Who painted the ceiling?", effort); len(sources) != 0 || !strings.HasPrefix(answer, "Nothing in the documents") {
			t.Errorf("%q, nothing: %s %v", effort, answer, sources)
		}
	}
	answer, sources := ask("When does the canteen open and how do I roll back a deployment? Who painted the ceiling?", "high")
	for _, want := range []string{"## When does the canteen open", "## how do I roll back a deployment?", "deployctl undo", "noon", "## Who painted the ceiling?", "Nothing in the documents"} {
		if !strings.Contains(answer, want) {
			t.Errorf("no %q in %s", want, answer)
		}
	}
	if !slices.Contains(sources, "rollback") || !slices.Contains(sources, "lunch") {
		t.Errorf("sources %v", sources)
	}
	if answer, _ := ask("difference between the canteen and the VPN", "high"); !strings.Contains(answer, "## the canteen") || !strings.Contains(answer, "## the VPN") {
		t.Errorf("a comparison: %s", answer)
	}
}

func TestContextRefusals(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	long := strings.Repeat("ä", 10_001)
	many := make([]string, 51)
	for i := range many {
		many[i] = "x"
	}
	for path, bodies := range map[string][]map[string]any{
		"search": {{}, {"query": ""}, {"query": long}, {"query": "x", "instruction": long}, {"query": "x", "limit": 0}, {"query": "x", "limit": 51},
			{"query": "x", "limit": "5"}, {"query": 5}, {"query": nil}},
		"search/prs": {{"query": ""}, {"query": long}, {"query": "x", "limit": -1}},
		"research":   {{"query": ""}, {"query": long}, {"query": "x", "effort": "extreme"}, {"query": "x", "effort": ""}, {"query": "x", "effort": "LOW"}},
		"query/issues": {{"query": ""}, {"query": long}, {"query": "x", "limit": 201}, {"query": "x", "limit": 0}, {"query": "x", "state": "merged"},
			{"query": "x", "projects": many}, {"query": "x", "labels": many}, {"query": "x", "labels": []string{""}}, {"query": "x", "projects": []string{strings.Repeat("x", 257)}},
			{"query": "x", "createdAfter": "yesterday"}, {"query": "x", "sort": "random"}, {"query": "x", "userName": strings.Repeat("x", 257)}, {"query": "x", "labels": "bug"}},
		"query/prs": {{"query": "x", "state": "resolved"}, {"query": "x", "completedBefore": 5}},
		"get": {{}, {"urls": []string{}}, {"urls": make([]string, 11)}, {"urls": []string{""}}, {"urls": []string{"https://x.test/" + strings.Repeat("x", 2048)}},
			{"urls": "https://x.test/"}, {"urls": nil}, {"urls": []int{5}}},
	} {
		for i, body := range bodies {
			t.Run(fmt.Sprintf("%s/%d", path, i), func(t *testing.T) {
				t.Parallel()
				a.in(t).refused(call{"POST", "/context/" + path, acme.key, body, nil}, 400, "invalid-request")
			})
		}
	}
	a.refused(call{"POST", "/context/search/wiki", acme.key, map[string]any{"query": "x"}, nil}, 404, "not-found")
	a.refused(call{"POST", "/context/query/messages", acme.key, map[string]any{"query": "x"}, nil}, 404, "not-found")
	at := strings.Repeat("ä", 10_000)
	a.do(call{"POST", "/context/search", acme.key, map[string]any{"query": at, "instruction": at, "limit": 50}, nil}).want(t, 200)
}

func TestGetFromTheWebIsOffUntilAnAdminAllowsIt(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	get := func() string {
		reply := a.do(call{"POST", "/context/get", acme.key, map[string]any{"urls": []string{"http://127.0.0.1:9/"}}, nil}).want(t, 200)
		var body struct {
			Results []struct{ Error struct{ Code string } }
		}
		reply.json(t, &body)
		return body.Results[0].Error.Code
	}
	if got := get(); got != "not-found" {
		t.Errorf("off: %s", got)
	}
	a.do(call{"PATCH", "/team", acme.pat, map[string]any{"webFetch": true}, nil}).want(t, 200)
	if got := get(); got != "blocked-url" {
		t.Errorf("on: %s", got)
	}
}
