package app

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"docent/shared/storedtest"
)

// storedVolatile are prefixes of the names of members that differ in each reply.
var storedVolatile = []string{"lastUsedAt", "nextCursor", "latency", "dataThrough"}

// record stores in m the replies of the installation at the start of the next hour, so that
// reports of earlier hours are complete. It adds new cursors and keeps the old ones.
func (in *installation) record(m *storedtest.Manifest) {
	in.t.Helper()
	in.clock.Set(in.clock.Now().Truncate(time.Hour).Add(time.Hour))
	in.giveCursors(m)
	m.Reads = slices.DeleteFunc(m.Reads, func(e storedtest.Exchange) bool { return !e.Cursor })
	m.Reads = append(m.Reads, in.reads(m)...)
	for i := range m.Reads {
		in.replied(m, &m.Reads[i])
	}
	m.Tail = in.tail(m)
	m.Written = in.clock.Now()
}

// replied sets the status and the reply of e to the installation's current ones.
func (in *installation) replied(m *storedtest.Manifest, e *storedtest.Exchange) {
	in.t.Helper()
	r := in.do(m.Callers[e.Caller], e.Method, e.Path, e.Body, e.Header)
	e.Status, e.Reply = r.status, nil
	if len(r.body) == 0 {
		return
	}
	var value any
	if json.Unmarshal(r.body, &value) != nil {
		value = string(r.body)
	}
	object, _ := value.(map[string]any)
	skip := storedVolatile
	switch {
	case r.status >= 400:
		value = map[string]any{"code": object["code"]}
	case strings.HasPrefix(e.Path, "/context/get"):
	case strings.HasPrefix(e.Path, "/context"):
		value = best(object)
	case strings.HasPrefix(e.Path, "/security-events"):
		skip = append([]string{"description", "message"}, skip...) // a text for each type of event
	case object["bodyEncoding"] == "gzip":
		object["body"] = in.inflated(object["body"])
	}
	e.Reply = encodeStored(in.t, storedtest.Digested(value, skip...))
}

// inflated returns the text of a body in base64 of its gzip form.
func (in *installation) inflated(body any) string {
	in.t.Helper()
	packed, _ := body.(string)
	r, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	if err != nil {
		in.t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		in.t.Fatal(err)
	}
	return string(text)
}

// best keeps only the best result of a search, because the ranking may change the others.
func best(object map[string]any) map[string]any {
	list, _ := object["sources"].([]any)
	if len(list) == 0 {
		return object
	}
	first, _ := list[0].(map[string]any)
	kept := map[string]any{}
	for _, name := range []string{"url", "title", "sourceType", "provider", "number", "state", "author", "assignees", "labels", "project",
		"createdAt", "updatedAt", "closedAt", "mergedAt"} {
		if member, ok := first[name]; ok {
			kept[name] = member
		}
	}
	return map[string]any{"sources": []any{kept}}
}

// cursor reads a page of a list and keeps the read of the page after it.
func (in *installation) cursor(m *storedtest.Manifest, name, caller, path string) {
	in.t.Helper()
	r := in.must(200, m.Callers[caller], "GET", path, nil)
	next := ""
	if link := regexp.MustCompile(`<https://docent\.test/v1([^>]+)>; rel="next"`).FindStringSubmatch(r.link); link != nil {
		next = link[1]
	}
	var body struct{ NextCursor string }
	if next == "" && json.Unmarshal(r.body, &body) == nil && body.NextCursor != "" {
		next = strings.TrimSuffix(path, "&cursor") + "&cursor=" + url.QueryEscape(body.NextCursor)
	}
	if next == "" {
		in.t.Fatalf("%s: no page after %s: %q %s", name, path, r.link, r.body)
	}
	m.Reads = append(m.Reads, storedtest.Exchange{Name: name, Caller: caller, Method: "GET", Path: next, Cursor: true, Prefix: strings.HasPrefix(name, "feed")})
}

// giveCursors gets a cursor from each list.
func (in *installation) giveCursors(m *storedtest.Manifest) {
	in.t.Helper()
	for _, list := range []struct{ name, caller, path string }{
		{"collections", "team", "/collections?limit=2"},
		{"documents", "team", "/documents?limit=5"},
		{"documents of a collection", "team", "/documents?limit=5&collectionId=" + m.IDs["guide"]},
		{"answers", "team", "/answers?limit=2"},
		{"answers of a user", "member", "/answers?limit=1"},
		{"keys", "admin", "/api-keys?limit=3"},
		{"data sources", "admin", "/data-sources?limit=5"},
		{"users", "scim", "/scim/v2/Users?count=7&cursor"},
		{"users by name", "scim", "/scim/v2/Users?count=7&sortBy=userName&sortOrder=descending&cursor"},
		{"groups", "scim", "/scim/v2/Groups?count=1&cursor"},
		{"usage", "admin", "/usage?granularity=hour&limit=3&start=2026-09-07&end=2026-09-08"},
		{"usage of users", "admin", "/usage/users?limit=1&start=2026-09-07&end=2026-09-08"},
	} {
		in.cursor(m, list.name+" continued", list.caller, list.path)
	}
}

// tail returns the cursor after the last event of the feed.
func (in *installation) tail(m *storedtest.Manifest) string {
	in.t.Helper()
	page := in.feed(m, "since="+storedMain.Format(time.RFC3339))
	for page.HasMore {
		page = in.feed(m, "after="+page.NextCursor)
	}
	return page.NextCursor
}

type storedFeed struct {
	Events     []struct{ EventType string }
	NextCursor string
	HasMore    bool
}

func (in *installation) feed(m *storedtest.Manifest, query string) (page storedFeed) {
	in.t.Helper()
	decodeStored(in.t, in.must(200, m.Callers["admin"], "GET", "/security-events?limit=200&"+query, nil), &page)
	return page
}

func storedRepeated(mark string) map[string]any {
	return map[string]any{"name": "repeated " + mark, "description": "Created once"}
}

// reads returns the requests whose replies a fixture keeps. None of them changes stored data.
func (in *installation) reads(m *storedtest.Manifest) []storedtest.Exchange {
	in.t.Helper()
	var all []storedtest.Exchange
	get := func(caller string, paths ...string) {
		for _, path := range paths {
			all = append(all, storedtest.Exchange{Name: "read by " + caller, Caller: caller, Method: "GET", Path: path})
		}
	}
	for _, page := range []string{"runbook", "old", "heron", "swept", "waiting", "replaced", "removed", "deleted", "unindexed", "within", "large"} {
		get("team", "/documents/"+m.IDs[page])
	}
	for _, name := range []string{"answered", "unanswerable", "restricted answer", "erased", "failed", "processing"} {
		get("team", "/answers/"+m.IDs[name])
	}
	for _, name := range []string{"archive", "wiki", "guide", "emptied", "repeated"} {
		get("team", "/collections/"+m.IDs[name])
	}
	get("team", "/collections", "/documents?limit=200", "/answers", "/usage/quotas", "/data-sources")
	get("member", "/answers", "/me")
	get("restricted", "/collections", "/documents/"+m.IDs["old"], "/documents/"+m.IDs["runbook"], "/answers")
	get("stranger", "/collections", "/documents/"+m.IDs["runbook"], "/answers/"+m.IDs["answered"])
	get("admin", "/me", "/team", "/team/saml-metadata", "/api-keys", "/data-sources")
	in.readsOfSCIM(m, get)
	readsOfReports(get)
	for _, caller := range []string{"team", "scim", "after rotation", "before rotation", "expired", "revoked", "deactivated"} {
		get(caller, "/me")
	}
	all = append(all, storedtest.Exchange{Name: "a create repeated", Caller: "team", Method: "POST", Path: "/collections", Status: 201,
		Header: map[string]string{"Idempotency-Key": m.IDs["repeat"]}, Body: in.repeated(m)})
	return append(all, in.searches()...)
}

// repeated returns the request that created the collection, which may be sent again.
func (in *installation) repeated(m *storedtest.Manifest) []byte {
	in.t.Helper()
	var c struct{ Name, Description string }
	decodeStored(in.t, in.must(200, m.Callers["team"], "GET", "/collections/"+m.IDs["repeated"], nil), &c)
	return encodeStored(in.t, map[string]any{"name": c.Name, "description": c.Description})
}

func (in *installation) readsOfSCIM(m *storedtest.Manifest, get func(string, ...string)) {
	for _, name := range []string{"ada", "grace", "linus", "inactive", "deleted", "departed"} {
		get("scim", "/scim/v2/Users/"+m.IDs[name])
	}
	for _, name := range []string{"group small", "group large", "group staged", "group departed"} {
		get("scim", "/scim/v2/Groups/"+m.IDs[name])
	}
	for _, filter := range []string{`userName eq "LINUS@acme.test"`, `externalId eq "ext-linus"`, `emails.value eq "grace@acme.test"`, `displayName eq "grace"`, `active eq false`} {
		get("scim", "/scim/v2/Users?filter="+url.QueryEscape(filter))
	}
	for _, filter := range []string{`displayName eq "Small"`, `externalId eq "ext-large"`} {
		get("scim", "/scim/v2/Groups?filter="+url.QueryEscape(filter))
	}
	get("scim", "/scim/v2/Users?count=100&attributes=userName,groups")
}

func readsOfReports(get func(string, ...string)) {
	const days = "start=2026-09-06&end=2026-09-08" // later requests are not included
	get("admin", "/usage?groupBy=feature&groupBy=apiKey&"+days, "/usage?groupBy=collection&"+days,
		"/usage?groupBy=dataSource&"+days, "/usage/users?"+days,
		"/security-events?limit=200&since="+storedMain.Format(time.RFC3339)+"&until="+storedMain.Add(time.Minute).Format(time.RFC3339),
		"/security-events?limit=5&format=ocsf&since="+storedMain.Format(time.RFC3339),
		"/security-events?limit=5&order=desc&until="+storedMain.Add(24*time.Hour).Format(time.RFC3339))
}

// searches returns a search for each kind of document or item, by a word of only that one.
func (in *installation) searches() []storedtest.Exchange {
	var all []storedtest.Exchange
	find := func(path, query string) {
		all = append(all, storedtest.Exchange{Name: "search " + query, Caller: "team", Method: "POST", Path: path, Prefix: true,
			Body: encodeStored(in.t, map[string]any{"query": query})})
	}
	find("/context/search", "pelican")
	find("/context/search", "lighthouse number 7")
	find("/context/search", "heron of few words")
	find("/context/search", "canteen soup at noon")
	find("/context/search", storedQuestion)
	for _, p := range storedSearched {
		for space, word := range map[string]string{"code": "kingfisher", "prs": "cormorant", "issues": "albatross", "documentation": "puffin", "messages": "flamingo"} {
			find("/context/search/"+space, word+" of "+string(p))
		}
	}
	find("/context/query/issues", "albatross of jira closed issues assigned to grace")
	find("/context/query/prs", "cormorant of github")
	slices.SortFunc(all, func(a, b storedtest.Exchange) int { return strings.Compare(a.Name, b.Name) })
	return append(all, storedtest.Exchange{Name: "content of a url", Caller: "team", Method: "POST", Path: "/context/get",
		Body: encodeStored(in.t, map[string]any{"urls": []string{storedReference}})})
}
