package httpapi_test

import (
	"cmp"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	documents "docent/shared/document"
	"docent/shared/httpapi"
	"docent/shared/table"
	"docent/shared/team"
)

// world is a team in which eve attacks. A full one has what eve may not read; the other is the same
// without it. What eve is answered must be the same in both: then nothing of it can be inferred.
type world struct {
	*api
	tenant
	eve, bob       colleague
	wiki, hr, jira string // a collection, one that only bob reads by default, and a data source
	github         string // another data source, with a webhook
	attackers      map[string]attacker
	bobsQuestion   string
	hiddenPosition string // in the list of documents
	hiddenID, etag string
	secrets        []string // texts that eve must never see
}

// attacker is one way in which eve is authenticated.
type attacker struct {
	key    string
	header map[string]string
	agent  bool // only /mcp
	// mayActFor says that the key may name anyone, so that whoever holds it must be trusted.
	mayActFor bool
}

const otherNames = "in another person's name"

const (
	zwetschge  = "The zwetschgenmus of the cellar is worth 4711 guilders, says the quince ledger."
	hiddenPage = "https://wiki.test/hidden/0"
	hiddenMany = 60
)

// newWorld makes a world. Both kinds take the same steps, so that their clocks agree.
func newWorld(t *testing.T, full bool) *world {
	t.Helper()
	a := newAPI(t)
	w := &world{api: a, tenant: a.provisioned("acme"), bobsQuestion: "11111111-2222-4333-8444-555555555555", secrets: []string{"4711 guilders", "says the quince", "wiki.test/hidden/"}}
	w.eve, w.bob = a.newColleague(w.tenant, "eve@acme.test"), a.newColleague(w.tenant, "bob@acme.test")
	w.wiki = a.newCollection(w.key, "wiki")
	w.hr = a.do(call{"POST", "/collections", w.key, map[string]any{"name": "hr", "description": "HR", "defaultAccess": map[string]any{"users": []string{w.bob.name}}}, nil}).want(t, 201).text(t, "id")
	w.jira, _ = a.connect(w.tenant, "jira", nil)
	w.github, _ = a.connect(w.tenant, "github", map[string]any{"repositories": []string{"acme/api"}})
	only := map[string]any{"users": []string{w.bob.name}}
	for i := range hiddenMany { // before, between and after those that everybody reads
		a.clock.Advance(time.Second)
		if i == 0 {
			id, err := documents.ID(w.ID, hiddenPage)
			if err != nil {
				t.Fatal(err)
			}
			w.hiddenID, w.hiddenPosition = id, table.Inverted(a.clock.Now())+"#"+id
		}
		if full {
			body := map[string]any{"collectionId": w.wiki, "uri": fmt.Sprintf("https://wiki.test/hidden/%d", i), "title": "Zwetschgenmus", "body": zwetschge,
				"metadata": map[string]any{"salary": 1000 * i, "codename": "quince", "due": "2027-01-01"}, "access": only}
			if i%3 == 2 {
				body["collectionId"] = w.hr
				delete(body, "access")
			}
			reply := a.do(call{"PUT", "/documents", w.key, body, nil}).want(t, 200)
			if i == 0 {
				w.etag = reply.Header.Get("ETag")
			}
		}
		if i%20 == 10 {
			a.clock.Advance(time.Second)
			a.do(call{"PUT", "/documents", w.key, map[string]any{"collectionId": w.wiki, "uri": fmt.Sprintf("https://wiki.test/open/%d", i), "title": "The bakery",
				"body": kirschkern + strings.Repeat(" It is open.", i)}, nil}).want(t, 200)
		}
	}
	a.importItems(w.tenant, w.jira, issue(1, "The kirschkern is loose", nil), issue(2, "The kirschkern is lost behind the bread oven", nil)).want(t, 200)
	if full {
		a.importItems(w.tenant, w.jira, issue(3, "The zwetschgenmus of 4711 guilders", map[string]any{"access": only, "author": "quince", "labels": []string{"quince"}}),
			map[string]any{"uri": "bad"}).want(t, 200)
	}
	a.drain()
	if full {
		a.ask(w.bob.key, w.bobsQuestion, "Where is the zwetschgenmus, and what is it worth?").want(t, 204)
		a.drain()
		a.do(call{"GET", "/answers/" + w.bobsQuestion, w.bob.key, nil, nil}).want(t, 200)
	}
	_, acting := a.newKey(w.ID, team.NewKey{Kind: team.KindTeam, Name: "bot", ActFor: true})
	_, limited := a.newKey(w.ID, team.NewKey{Kind: team.KindPersonal, Name: "limited", UserID: w.eve.id, DataSourceIDs: []string{w.wiki, w.hr, w.jira}})
	code, _, err := a.local.Teams.Invite(t.Context(), w.ID, w.eve.id)
	if err != nil {
		t.Fatal(err)
	}
	session := a.do(call{"POST", "/sessions", "", map[string]any{"credential": code}, map[string]string{"Sec-Fetch-Site": "same-origin"}}).want(t, 201).Cookies()[0]
	p := a.program(redirect)
	agent := p.token(p.codeForm(p.decide(session, true).Get("code"))).want(t, 200).text(t, "access_token")
	w.attackers = map[string]attacker{
		"a personal key":         {key: w.eve.key},
		"a restricted key":       {key: limited},
		"a session":              {header: by(session)},
		"a team key, acting":     {key: acting, header: map[string]string{"Docent-User": w.eve.name}, mayActFor: true},
		"an agent, by its token": {key: agent, agent: true},
	}
	return w
}

// as returns the reply to c by an attacker.
func (w *world) as(by attacker, c call) response {
	w.t.Helper()
	header := maps.Clone(by.header)
	if header == nil {
		header = map[string]string{}
	}
	maps.Copy(header, c.header)
	c.key, c.header = by.key, header
	w.clock.Advance(2 * time.Millisecond) // so that questions have an order
	if header["Accept"] == "text/event-stream" {
		if _, ok := c.body.(map[string]any); ok {
			text, err := json.Marshal(c.body)
			if err != nil {
				w.t.Fatal(err)
			}
			c.body, header["Content-Type"] = string(text), "application/json"
		}
	}
	if strings.HasPrefix(c.path, "/scim/") || header["Accept"] == "text/event-stream" {
		return w.raw(c)
	}
	return w.do(c)
}

// attempt is one thing that eve tries. All calls are made, one after the other.
type attempt struct {
	name  string
	calls func(w *world) []call
}

func get(path string, header ...string) call { return sent("GET", path, nil, header...) }

func sent(method, path string, body any, header ...string) call {
	c := call{method, path, "", body, map[string]string{}}
	for i := 0; i < len(header); i += 2 {
		c.header[header[i]] = header[i+1]
	}
	return c
}

func posts(path string, bodies ...map[string]any) []call {
	var all []call
	for _, b := range bodies {
		all = append(all, sent("POST", path, b))
	}
	return all
}

// probes are filters by which the metadata and facts of hidden documents could be found out.
func probes() []map[string]any {
	all := []map[string]any{
		{"salary": map[string]any{"exists": true}}, {"salary": map[string]any{"exists": false}}, {"not": map[string]any{"salary": map[string]any{"exists": true}}},
		{"codename": "quince"}, {"codename": map[string]any{"in": []string{"quince", "x"}}}, {"not": map[string]any{"codename": "quince"}},
		{"or": []any{map[string]any{"codename": "quince"}, map[string]any{"product": "none"}}},
		{"due": map[string]any{"gt": "2026-12-31"}}, {"author": "quince"}, {"labels": "quince"}, {"not": map[string]any{"author": "quince"}},
		{"createdAt": map[string]any{"gte": "2026-01-01"}},
	}
	for bound := 32_000; bound >= 1000; bound /= 2 { // bisection
		all = append(all, map[string]any{"salary": map[string]any{"gt": bound}}, map[string]any{"not": map[string]any{"salary": map[string]any{"lte": bound}}})
	}
	return all
}

// questions ask for hidden words, near them, beside them, and for what everybody may read.
var questions = []string{"zwetschgenmus", "What is the zwetschgenmus worth?", "zwetschgenmuss", "zwetschgen mus", "quince ledger guilders 4711", "guliders", "Where is the kirschkern kept?",
	"kirschkern zwetschgenmus cellar", "ledger"}

var searchSpaces = []string{"", "/code", "/prs", "/issues", "/documentation", "/messages"}

// attempts are the attacks whose replies must be the same whether there is something to be hidden or not. The README of
// package access has a line for each.
var attempts = []attempt{
	{"lists, page by page", func(w *world) []call {
		var all []call
		for _, query := range []string{"", "limit=200", "limit=1", "limit=2", "limit=3", "collectionId=" + w.hr, "collectionId=" + w.wiki + "&limit=3", "collectionId=" + w.hr + "&limit=1"} {
			all = append(all, get("/documents?"+query))
		}
		return all
	}},
	{"forged cursors", func(w *world) []call {
		var all []call
		for _, position := range []string{w.hiddenPosition, "0", "~", table.Inverted(w.clock.Now())} {
			for _, way := range []string{"after", "before"} {
				for _, limit := range []int{1, 2, 3, 200} {
					all = append(all, get(fmt.Sprintf("/documents?limit=%d&%s=%s", limit, way, httpapi.EncodeCursor(w.ID, "documents", position))))
				}
				all = append(all, get("/answers?"+way+"="+httpapi.EncodeCursor(w.ID, "answers", position)),
					get("/answers?"+way+"="+httpapi.EncodeCursor(w.ID, "documents", position)))
			}
		}
		return all
	}},
	{"a document by the id of its URI", func(w *world) []call {
		at := "/documents/" + w.hiddenID
		return []call{get(at), get(at, "If-None-Match", cmp.Or(w.etag, `"1"`)), get(at, "If-None-Match", "*"), get(at, "Range", "bytes=0-10"), sent("HEAD", at, nil), get(at + "/access?user=eve@acme.test"),
			sent("PATCH", at, map[string]any{"access": nil}), sent("PATCH", at, map[string]any{"metadata": map[string]any{"and": 1}}), sent("PATCH", at, map[string]any{}, "If-Match", cmp.Or(w.etag, `"1"`)),
			sent("DELETE", at, nil, "If-Match", `"1"`), sent("DELETE", at, nil, "If-Match", "*"), sent("DELETE", at, nil)}
	}},
	{"replacing a document, under a condition", func(w *world) []call {
		var all []call
		for _, tag := range []string{`"1"`, `"0"`, "*", cmp.Or(w.etag, `"2"`)} {
			all = append(all, sent("PUT", "/documents", map[string]any{"collectionId": w.wiki, "uri": hiddenPage, "title": "mine", "body": "mine"}, "If-Match", tag))
		}
		return append(all, sent("PUT", "/documents", map[string]any{"collectionId": uuid.Nil.String(), "uri": hiddenPage, "title": "mine", "body": "mine"}))
	}},
	{"searches, with explanations", func(*world) []call {
		var all []call
		for _, space := range searchSpaces {
			for _, q := range questions {
				all = append(all, posts("/context/search"+space, map[string]any{"query": q, "explain": true, "limit": 50})...)
			}
		}
		return append(all, posts("/context/search", map[string]any{"query": "kirschkern", "instruction": "prefer zwetschgenmus, quince and guilders", "explain": true})...)
	}},
	{"filters that probe metadata", func(*world) []call {
		var all []call
		for _, f := range probes() {
			all = append(all, posts("/context/search", map[string]any{"query": "kirschkern zwetschgenmus", "filter": f, "explain": true, "limit": 50})...)
			all = append(all, posts("/context/research", map[string]any{"query": "Where is the zwetschgenmus kept?", "filter": f})...)
			all = append(all, posts("/context/query/issues", map[string]any{"query": "newest issues", "filter": f}, map[string]any{"query": "zwetschgenmus kirschkern", "filter": f})...)
		}
		return all
	}},
	{"queries of issues", func(w *world) []call {
		var all []call
		for _, space := range []string{"issues", "prs"} {
			all = append(all, posts("/context/query/"+space, map[string]any{"query": "newest issues"}, map[string]any{"query": "newest issues", "limit": 1}, map[string]any{"query": "zwetschgenmus"},
				map[string]any{"query": "everything", "labels": []string{"quince"}}, map[string]any{"query": "everything", "userName": "quince"}, map[string]any{"query": "my issues"},
				map[string]any{"query": "everything", "sort": "updated", "limit": 1}, map[string]any{"query": "kirschkern zwetschgenmus", "sort": "created"},
				map[string]any{"query": "issues of " + w.bob.name})...)
		}
		return all
	}},
	{"research, also as a stream", func(*world) []call {
		var all []call
		for _, q := range questions {
			for _, effort := range []string{"low", "high"} {
				all = append(all, posts("/context/research", map[string]any{"query": q, "effort": effort})...)
			}
			all = append(all, sent("POST", "/context/research", map[string]any{"query": q}, "Accept", "text/event-stream"))
		}
		return all
	}},
	{"questions and their answers", func(*world) []call {
		var all []call
		for i, q := range questions {
			id := fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
			all = append(all, sent("DELETE", "/answers/"+id, nil), sent("PUT", "/answers/"+uuid.NewString(), map[string]any{"question": q}, "Accept", "text/event-stream"),
				sent("POST", "/chat/completions", map[string]any{"model": "docent", "messages": []any{map[string]any{"role": "user", "content": q}}}),
				sent("POST", "/chat/completions", map[string]any{"model": "docent", "stream": true, "messages": []any{map[string]any{"role": "user", "content": q}}}, "Accept", "text/event-stream"))
		}
		for _, f := range probes() {
			all = append(all, sent("PUT", "/answers/"+uuid.NewString(), map[string]any{"question": "Where is the kirschkern kept?", "filter": f}, "Accept", "text/event-stream"))
		}
		return append(all, get("/answers?limit=200"), get("/usage/unanswered"))
	}},
	{"another person's answer", func(w *world) []call {
		at := "/answers/" + w.bobsQuestion
		return []call{get(at), get(at, "Prefer", "wait=1"), get(at, "Accept", "text/event-stream"), get(at, "Accept", "text/event-stream", "Last-Event-ID", "1"),
			sent("HEAD", at, nil), sent("DELETE", at, nil), sent("PUT", at+"/feedback", map[string]any{"rating": "down"}),
			sent("PUT", "/answers/"+uuid.NewString(), map[string]any{"question": "And what is it worth?", "previousQuestionId": w.bobsQuestion}),
			sent("PUT", "/answers/"+uuid.NewString(), map[string]any{"question": "And what is it worth?", "previousQuestionId": w.bobsQuestion}, "Accept", "text/event-stream")}
	}},
	{"contents by URL", func(*world) []call {
		return posts("/context/get", map[string]any{"urls": []string{hiddenPage, hiddenPage + "#top", strings.ToUpper(hiddenPage), hiddenPage + "/", "https://tracker.test/issues/3", "https://wiki.test/nothing"}})
	}},
	{"tools of agents", func(*world) []call {
		var all []call
		message := func(method string, params any) {
			all = append(all, sent("POST", "/mcp", map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
				"Accept", "application/json, text/event-stream", "MCP-Protocol-Version", "2025-06-18"))
		}
		tool := func(name string, arguments map[string]any) {
			message("tools/call", map[string]any{"name": name, "arguments": arguments})
		}
		for _, q := range questions {
			for _, name := range []string{"context_search_code", "context_search_documentation", "context_search_issues", "context_search_messages", "context_search_prs",
				"context_research", "context_query_issues", "context_query_prs"} {
				tool(name, map[string]any{"query": q})
			}
		}
		for _, f := range probes() {
			tool("context_search_documentation", map[string]any{"query": "kirschkern", "filter": f})
		}
		tool("context_get_urls", map[string]any{"urls": []string{hiddenPage, "https://tracker.test/issues/3"}})
		message("resources/list", map[string]any{})
		message("resources/read", map[string]any{"uri": hiddenPage})
		message("resources/templates/list", map[string]any{})
		message("prompts/list", map[string]any{})
		return all
	}},
	{"collections and data sources", func(w *world) []call {
		return []call{get("/collections"), get("/collections/" + w.hr), get("/data-sources"), get("/data-sources?limit=1"),
			sent("PATCH", "/collections/"+w.hr, map[string]any{"defaultAccess": nil}), sent("PATCH", "/data-sources/"+w.jira, map[string]any{"defaultAccess": nil}),
			sent("DELETE", "/data-sources/"+w.jira, nil), sent("POST", "/data-sources/"+w.jira+"/items", "{}", "Content-Type", "application/x-ndjson")}
	}},
	{"usage", func(w *world) []call {
		const since = "start=2026-11-01"
		var all []call
		for _, accept := range []string{"application/json", "text/csv", "application/x-ndjson"} {
			for _, query := range []string{"", "&groupBy=feature", "&groupBy=user", "&groupBy=collection", "&groupBy=dataSource", "&userId=" + w.bob.id, "&userId=" + w.bob.id + "&groupBy=dataSource",
				"&collectionId=" + w.hr, "&groupBy=collection&groupBy=feature"} {
				all = append(all, get("/usage?"+since+query, "Accept", accept))
			}
			all = append(all, get("/usage/users?"+since, "Accept", accept))
		}
		return append(all, get("/usage/unanswered"), get("/usage/unanswered?days=400"))
	}},
	{"what administrators see", func(w *world) []call {
		return []call{get("/security-events"), get("/security-events?eventType=document.access-changed"), get("/api-keys"), get("/team"), get("/scim/v2/Users"), get("/scim/v2/Groups"),
			get(`/scim/v2/Users?filter=userName+eq+"` + url.QueryEscape(w.bob.name) + `"`), sent("POST", "/scim/v2/.search", `{"schemas":["urn:ietf:params:scim:api:messages:2.0:SearchRequest"]}`)}
	}},
	{"webhooks, unsigned", func(w *world) []call {
		return []call{sent("POST", "/webhooks/github/"+w.github, `{"zen":"quince"}`, "X-GitHub-Event", "ping", "X-GitHub-Delivery", "1"),
			sent("POST", "/webhooks/slack/"+w.jira, `{"type":"event_callback"}`)}
	}},
	{otherNames, func(w *world) []call {
		var all []call
		for _, user := range []string{w.bob.name, w.bob.id, ""} {
			all = append(all, get("/documents", "Docent-User", user), get("/answers/"+w.bobsQuestion, "Docent-User", user))
		}
		return all
	}},
}

var (
	anyUUID   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	anyCursor = regexp.MustCompile(`(after|before)=([A-Za-z0-9_-]+)`)
	anyBlock  = regexp.MustCompile(`"(?:id|apiKeyId)":"[0-9A-Za-z]{16}"`)
)

// anyTally are the members of usage that differ by chance: a busy server gives up counting a request, and times differ.
var anyTally = regexp.MustCompile(`"(requests|ok|latencyMsP50|latencyMsP95)":[0-9]+`)

// withoutTallies empties these columns of a table.
func withoutTallies(table string) string {
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil || len(rows) == 0 {
		return table
	}
	var lines []string
	for n, row := range rows {
		for i, name := range rows[0] {
			if n > 0 && anyTally.MatchString(`"`+name+`":0`) {
				row[i] = ""
			}
		}
		lines = append(lines, strings.Join(row, ","))
	}
	return strings.Join(lines, "\n")
}

// plain returns a reply without what differs by chance: ids are numbered in order of appearance, and cursors are opened.
func plain(r response) string {
	body := anyTally.ReplaceAllString(string(r.body), `"$1":0`)
	if r.Header.Get("Content-Type") == "text/csv; charset=utf-8" {
		body = withoutTallies(body)
	}
	var head []string
	for name, values := range r.Header {
		if name != "Date" && (name != "Content-Length" || body == string(r.body)) && name != "X-Request-Id" && name != "Set-Cookie" && !strings.Contains(strings.ToLower(name), "ratelimit") {
			head = append(head, name+": "+strings.Join(values, ", "))
		}
	}
	slices.Sort(head)
	text := fmt.Sprintf("%d\n%s\n\n%s", r.StatusCode, strings.Join(head, "\n"), body)
	text = anyCursor.ReplaceAllStringFunc(text, func(m string) string {
		way, cursor, _ := strings.Cut(m, "=")
		raw, err := base64.RawURLEncoding.DecodeString(cursor)
		if err != nil || len(raw) < 8 {
			return m
		}
		return way + "=" + string(raw[8:])
	})
	text = anyBlock.ReplaceAllString(text, `"id":"key"`)
	numbers := map[string]string{}
	return anyUUID.ReplaceAllStringFunc(text, func(id string) string {
		if numbers[id] == "" {
			numbers[id] = fmt.Sprintf("id-%d", len(numbers)+1)
		}
		return numbers[id]
	})
}

// TestNothingHiddenCanBeInferred makes every attempt in two worlds, one of which has 60 documents, an item and an answer that
// the attacker may not read, and compares the replies byte by byte.
func TestNothingHiddenCanBeInferred(t *testing.T) {
	t.Parallel()
	full, empty := newWorld(t, true), newWorld(t, false)
	compared := sameReplies(t, full, empty, slices.Sorted(maps.Keys(full.attackers))...)
	t.Logf("%d kinds of attempts by %d attackers, %d pairs of replies compared", len(attempts)+len(moreAttempts), len(full.attackers), compared)
}

// sameReplies makes every attempt by the attackers with these names in both worlds, and compares the replies byte by byte. It returns how many
// pairs it has compared.
func sameReplies(t *testing.T, full, empty *world, names ...string) (compared int) {
	t.Helper()
	for _, name := range names {
		for _, try := range slices.Concat(attempts, moreAttempts) {
			have, want := full.attackers[name], empty.attackers[name]
			if have.agent && try.name != "tools of agents" || have.mayActFor && try.name == otherNames {
				continue
			}
			inFull, inEmpty := try.calls(full), try.calls(empty)
			if len(inEmpty) != len(inFull) {
				t.Fatalf("%s: %d and %d calls", try.name, len(inFull), len(inEmpty))
			}
			failed := 0
			for i := range inFull {
				for page := 0; ; page++ {
					compared++
					a, b := full.as(have, inFull[i]), empty.as(want, inEmpty[i])
					got, expected := plain(a), plain(b)
					for again := 0; got != expected && again < 50 && strings.HasPrefix(inFull[i].path, "/usage"); again++ {
						// A report counts itself before or after it is read, by chance: what differs by that only is the same at some time.
						a, b = full.as(have, inFull[i]), empty.as(want, inEmpty[i])
						got, expected = plain(a), plain(b)
					}
					if got != expected && strings.HasPrefix(inFull[i].path, "/usage") && strings.Contains(full.log.String()+empty.log.String(), "usage not counted") {
						t.Logf("%s is not compared: on this busy machine, a count came too late to one of the worlds", inFull[i].path)
						break
					}
					for _, secret := range full.secrets {
						asked := fmt.Sprint(inFull[i].path, inFull[i].body)
						if strings.Contains(string(a.body), secret) && !strings.Contains(asked, secret) {
							t.Errorf("%s by %s: %s %s shows %q: %s", try.name, name, inFull[i].method, inFull[i].path, secret, a.body)
						}
					}
					if got != expected {
						if failed++; failed <= 3 {
							t.Errorf("%s by %s: %s %s %v\n--- with hidden documents\n%s\n--- without\n%s", try.name, name, inFull[i].method, inFull[i].path, inFull[i].body, got, expected)
						}
						break
					}
					next, same := nextPage(a), nextPage(b)
					if next == "" || page == 20 {
						break
					}
					inFull[i].path, inEmpty[i].path = next, same
				}
			}
			if failed > 3 {
				t.Errorf("%s by %s: %d replies differ", try.name, name, failed)
			}
		}
	}
	return compared
}

var nextLink = regexp.MustCompile(`<` + regexp.QuoteMeta(baseURL) + `([^>]*)>; rel="next"`)

func nextPage(r response) string {
	if m := nextLink.FindStringSubmatch(r.Header.Get("Link")); m != nil {
		return m[1]
	}
	return ""
}
