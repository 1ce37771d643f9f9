package connectors_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/app"
	"docent/shared/app/parts/connectors"
	"docent/shared/clocktest"
	"docent/shared/connect/gitlab/gitlabtest"
	"docent/shared/connect/notion"
	"docent/shared/connect/notion/notiontest"
	"docent/shared/connect/slack"
	"docent/shared/connect/slack/slacktest"
	"docent/shared/extract"
	"docent/shared/fetch"
	"docent/shared/fetch/page"
	"docent/shared/source"
	"docent/shared/team"
)

// house is an installation whose connectors reach every address and trust one server.
type house struct {
	t     *testing.T
	local *app.Local
	clock *clocktest.Clock
	team  string
	key   string // of a team: it reads every item
	admin string
}

func newHouse(t *testing.T, server *httptest.Server) *house {
	t.Helper()
	h := &house{t: t, clock: clocktest.New(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))}
	reach := fetch.NewReaching(page.Read, func(netip.AddrPort) bool { return true }, server.Certificate())
	var err error
	if h.local, err = app.OpenLocal(t.Context(), t.TempDir(), app.LocalOptions{Log: slog.New(slog.DiscardHandler), NoSync: true, Now: h.clock.Now,
		Parts: app.Parts{Extract: byLines, Connect: func(now func() time.Time) map[source.ProviderName]source.Connection {
			all := connectors.With(reach)(now)
			replace := func(name source.ProviderName, c source.Connector) { // its provider has one address only
				own := all[name]
				own.Connector = c
				all[name] = own
			}
			atOnce := func(context.Context, time.Duration) error { return nil }
			replace("notion", &notion.Connector{Base: server.URL + "/", HTTP: reach.Client(0), Now: now, Pause: atOnce})
			replace("slack", &slack.Connector{Base: server.URL + "/api/", Files: server.URL + "/files/", HTTP: reach.Client(0), Now: now, Pause: atOnce})
			return all
		}}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.local.Close() })
	made, admin, err := h.local.Teams.CreateTeam(t.Context(), "Acme", "ada@acme.test")
	if err != nil {
		t.Fatal(err)
	}
	h.team = made.ID
	if _, h.key, err = h.local.Teams.CreateKey(t.Context(), made.ID, team.NewKey{Kind: team.KindTeam, Name: "team"}); err != nil {
		t.Fatal(err)
	}
	if _, h.admin, err = h.local.Teams.CreateKey(t.Context(), made.ID, team.NewKey{Kind: team.KindPersonal, Name: "ada", UserID: admin.ID}); err != nil {
		t.Fatal(err)
	}
	return h
}

// byLines reads files whose pages are their lines.
func byLines(_ context.Context, _ string, file io.ReaderAt, size int64) (extract.Document, error) {
	data, err := io.ReadAll(io.NewSectionReader(file, 0, size))
	var d extract.Document
	for n, line := range strings.Split(string(data), "\n") {
		d.Pages = append(d.Pages, extract.Page{Number: n + 1, Markdown: line})
	}
	return d, err
}

// call sends a request and decodes the reply.
func (h *house) call(key, method, path string, body, into any) {
	h.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		h.t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(h.t.Context(), method, "/v1"+path, strings.NewReader(string(text)))
	r.Header.Set("Authorization", "Bearer "+key)
	w := httptest.NewRecorder()
	h.local.Handler("https://docent.test/v1").ServeHTTP(w, r)
	if w.Code > 299 {
		h.t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
	if into != nil && json.Unmarshal(w.Body.Bytes(), into) != nil {
		h.t.Fatalf("%s %s: %s", method, path, w.Body)
	}
}

// connect creates a data source and returns its id.
func (h *house) connect(provider string, settings map[string]any) string {
	h.t.Helper()
	var made struct{ ID string }
	h.call(h.admin, "POST", "/data-sources", map[string]any{"provider": provider, "name": "source", "settings": settings}, &made)
	return made.ID
}

// texts returns the texts of the items of uris; of those that are not there, none.
func (h *house) texts(uris []string) map[string]string {
	h.t.Helper()
	all := map[string]string{}
	for some := range slices.Chunk(uris, 10) {
		var got struct {
			Results []struct {
				URL, Content string
				Error        any
			}
		}
		h.call(h.key, "POST", "/context/get", map[string]any{"urls": some}, &got)
		for _, r := range got.Results {
			if r.Error == nil {
				all[r.URL] = r.Content
			}
		}
	}
	return all
}

// standIn is a provider's server with content that a test fills anew for each source.
type standIn struct {
	server   *httptest.Server
	provider string
	// fill adds content under a name, and returns the settings that read it, the texts of
	// its items by uri, and a function that changes and removes some of them.
	fill   func(name string) (settings map[string]any, want map[string]string, change func(want map[string]string, now time.Time))
	before func(func(path string, w http.ResponseWriter) bool)
	// requests returns how many requests there were since the last call.
	requests func() int
}

// TestSyncsResumeAtEveryRequest lets each request of a sync fail in turn, and ends the
// process before and after each reply. Every item is then stored once, and what changes
// and is removed later is noticed.
func TestSyncsResumeAtEveryRequest(t *testing.T) {
	t.Parallel()
	for _, open := range []func(t *testing.T) standIn{gitlabStandIn, notionStandIn, slackStandIn} {
		s := open(t)
		t.Run(s.provider, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, s.server)
			r := resuming{h: h, standIn: s}
			first := r.run(0, "")
			t.Logf("%s: a first sync sends %d requests and stores %d items", s.provider, first.requests, first.items)
			cases := 0
			for at := 1; at <= first.requests; at++ {
				for _, mode := range []string{"limited", "broken", "ended before", "ended after"} {
					r.run(at, mode)
					cases++
				}
			}
			t.Logf("%s: %d failures, of them %d ends of the process", s.provider, cases, cases/2)
		})
	}
}

type resuming struct {
	h *house
	standIn
	sources int
}

type ran struct{ requests, items int }

// run connects new content, reads it while request number at fails, resumes, and checks
// what is stored.
func (r *resuming) run(at int, mode string) ran {
	t := r.h.t
	t.Helper()
	r.sources++
	name := fmt.Sprintf("n%d", r.sources)
	settings, want, change := r.fill(name)
	id := r.h.connect(r.provider, settings)
	r.h.clock.Advance(20 * time.Minute) // what a connector keeps for some minutes is read again
	ctx, end := context.WithCancel(t.Context())
	defer end()
	asked := 0
	r.requests()
	r.before(func(_ string, w http.ResponseWriter) bool {
		if asked++; asked != at {
			return false
		}
		switch mode {
		case "limited":
			w.Header().Set("Retry-After", "300")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		case "broken":
			w.WriteHeader(http.StatusBadRequest)
			return true
		case "ended before":
			end()
			panic(http.ErrAbortHandler)
		default:
			end()
			return false
		}
	})
	_, err := r.h.local.SyncSource(ctx, r.h.team, id, nil)
	r.before(nil)
	if (err != nil) != (strings.HasPrefix(mode, "ended") && at > 0) {
		t.Fatalf("%s at request %d: %v", mode, at, err)
	}
	first := ran{r.requests(), len(want)}
	r.resume(id)
	uris := []string{}
	for uri := range want {
		uris = append(uris, uri)
	}
	r.check(fmt.Sprintf("%s at request %d", mode, at), id, uris, want)
	if at == 0 || mode == "limited" { // changes are the same after the others
		change(want, r.h.clock.Now())
		r.h.clock.Advance(25 * time.Hour)
		r.resume(id)
		r.check(fmt.Sprintf("changes after %s at request %d", mode, at), id, uris, want)
	}
	r.h.call(r.h.admin, "DELETE", "/data-sources/"+id, nil, nil)
	return first
}

// resume syncs until the source is ready.
func (r *resuming) resume(id string) {
	t := r.h.t
	t.Helper()
	for range 2 {
		r.h.clock.Advance(20 * time.Minute)
		if _, err := r.h.local.SyncSource(t.Context(), r.h.team, id, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// check fails the test unless exactly the items of want are stored, of uris and in all.
func (r *resuming) check(when, id string, uris []string, want map[string]string) {
	t := r.h.t
	t.Helper()
	got := r.h.texts(uris)
	for _, uri := range uris {
		text, there := got[uri]
		if wanted, exists := want[uri]; there != exists || there && !strings.Contains(text, wanted) {
			t.Errorf("%s: %s is %q, want %q", when, uri, text, wanted)
		}
	}
	sources, err := r.h.local.SyncedSources(t.Context(), r.h.team)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range sources {
		if d.ID == id && (d.State != "ready" || d.LastError != nil) {
			t.Errorf("%s: the source is %s, %+v", when, d.State, d.LastError)
		}
	}
	var found struct{ Sources []struct{ URL string } }
	r.h.call(r.h.key, "POST", "/context/search", map[string]any{"query": "text of the issue, the page and the change", "limit": 50}, &found)
	times := map[string]int{}
	for _, s := range found.Sources {
		if times[s.URL]++; times[s.URL] > 1 || want[s.URL] == "" {
			t.Errorf("%s: %s is found %d times", when, s.URL, times[s.URL])
		}
	}
}

// TestOnlyMembersFindAPrivateProject: a member reads it with a personal key, and nobody
// else does.
func TestOnlyMembersFindAPrivateProject(t *testing.T) {
	t.Parallel()
	s := gitlabStandIn(t)
	h := newHouse(t, s.server)
	settings, want, _ := s.fill("private")
	id := h.connect(s.provider, settings)
	found := func(key string) int {
		var reply struct{ Sources []struct{ URL string } }
		h.call(key, "POST", "/context/search", map[string]any{"query": "text of the issue", "limit": 50}, &reply)
		return len(reply.Sources)
	}
	without := func(path string, w http.ResponseWriter) bool { // ada is not a member
		if strings.Contains(path, "/members/all") {
			_, _ = w.Write([]byte(`[{"username":"bob","state":"active","access_level":40,"public_email":"bob@acme.test"}]`))
			return true
		}
		return false
	}
	for _, member := range []bool{false, true, false} {
		h.clock.Advance(20 * time.Minute)
		s.before(map[bool]func(string, http.ResponseWriter) bool{false: without}[member])
		if _, err := h.local.SyncSource(t.Context(), h.team, id, nil); err != nil {
			t.Fatal(err)
		}
		if n := found(h.admin); (n > 0) != member {
			t.Errorf("a member: %t, finds %d", member, n)
		}
		if n := found(h.key); n == 0 {
			t.Errorf("the team's key finds nothing of %d", len(want))
		}
	}
}

func gitlabStandIn(t *testing.T) standIn {
	t.Helper()
	server := gitlabtest.New(t)
	fill := func(name string) (map[string]any, map[string]string, func(map[string]string, time.Time)) {
		path := "acme/" + name
		base := server.URL + "/" + path + "/-/"
		want := map[string]string{base + "wikis/home": "Text of Home.", base + "wikis/dir/page": "Text of Page.", base + "merge_requests/9": "Why so?",
			base + "blob/main/README.md": "Read me " + name, base + "blob/main/main.go": "package main"}
		server.Put(path, func(p *gitlabtest.Project) {
			p.Visibility, p.Members = "private", []gitlabtest.Member{gitlabtest.NewMember("ada", 40, "ada@acme.test")}
			for n := range 103 {
				issue := gitlabtest.NewIssue(n+10, fmt.Sprintf("Issue %d", n))
				want[fmt.Sprintf("%sissues/%d", base, n+10)] = fmt.Sprintf("Text of Issue %d.", n)
				if n < 2 {
					issue.Comments = []gitlabtest.Note{{Body: "A comment."}}
					want[fmt.Sprintf("%sissues/%d", base, n+10)] = "A comment."
				}
				p.Issues = append(p.Issues, issue)
			}
			p.MergeRequests = []gitlabtest.Record{gitlabtest.NewMergeRequest(9, "Change")}
			p.MergeRequests[0].Comments = []gitlabtest.Note{{Body: "Why so?"}}
			p.Wiki = []gitlabtest.WikiPage{gitlabtest.NewWikiPage("home", "Home"), gitlabtest.NewWikiPage("dir/page", "Page")}
			p.Commits = []gitlabtest.Commit{{Files: map[string]string{"README.md": "# Read me " + name, "main.go": "package main // " + name}}}
		})
		return map[string]any{"projects": []string{path}, "accessToken": gitlabtest.Token, "baseUrl": server.URL}, want, func(want map[string]string, _ time.Time) {
			server.Put(path, func(p *gitlabtest.Project) {
				p.Issues = slices.Delete(p.Issues, 3, 4)
				p.Issues[0].Comments = nil // a removed comment does not change the time
				p.MergeRequests, p.Wiki = nil, p.Wiki[:1]
				p.Commits = append(p.Commits, gitlabtest.Commit{Files: map[string]string{"README.md": "# Another text of " + name}})
			})
			for _, gone := range []string{"issues/13", "merge_requests/9", "wikis/dir/page", "blob/main/main.go"} {
				delete(want, base+gone)
			}
			want[base+"issues/10"] = "Text of Issue 0."
			want[base+"blob/main/README.md"] = "Another text of " + name
		}
	}
	return standIn{server: server.Server, provider: "gitlab", fill: fill, before: server.Before, requests: func() int { return len(server.Requests()) }}
}

func notionStandIn(t *testing.T) standIn {
	t.Helper()
	server := notiontest.New(t)
	var last []*notiontest.Object // of the content before, which is no longer shared
	fills := 0
	fill := func(name string) (map[string]any, map[string]string, func(map[string]string, time.Time)) {
		for _, o := range last {
			server.Change(o.ID, func(o *notiontest.Object) { o.Unshared = true })
		}
		last = nil
		fills++
		want := map[string]string{}
		uri := func(n int) string {
			return "https://www.notion.so/" + strings.ReplaceAll(notiontest.ID(fills*1000+n), "-", "")
		}
		for n := range 12 {
			o := notiontest.NewPage(fills*1000+n, fmt.Sprintf("Page %d of %s", n, name))
			o.Edited = notiontest.Day.Add(time.Duration(n) * time.Hour)
			last, want[uri(n)] = append(last, o), fmt.Sprintf("Text of Page %d of %s.", n, name)
		}
		database, part := notiontest.ID(fills*1000+100), notiontest.ID(fills*1000+101)
		table := &notiontest.Object{Kind: "data_source", ID: part, Title: "Table", Markdown: "What we run.", Edited: notiontest.Day, Parent: notiontest.Below("database", database), Container: notiontest.Workspace}
		want["https://www.notion.so/"+strings.ReplaceAll(database, "-", "")+"#source-"+strings.ReplaceAll(part, "-", "")] = "What we run."
		last[0].Parts = []string{notiontest.ID(fills*1000 + 102)}
		last[1].Parent = notiontest.Row(part, database)
		last = append(last, table, &notiontest.Object{Kind: "block", ID: notiontest.ID(fills*1000 + 102), Markdown: "The rest."})
		want[uri(0)] = "The rest."
		server.Put(last...)
		changed, trashed, unshared, hidden := last[2], last[3], last[4], last[5]
		return map[string]any{"access": "source", "accessToken": notiontest.Token}, want, func(want map[string]string, now time.Time) {
			server.Change(changed.ID, func(o *notiontest.Object) { o.Markdown, o.Edited = "Another text.", now })
			server.Change(trashed.ID, func(o *notiontest.Object) { o.InTrash = true })
			server.Change(unshared.ID, func(o *notiontest.Object) { o.Unshared = true })
			server.Change(hidden.ID, func(o *notiontest.Object) { o.Unlisted = true }) // the search misses it
			want[uri(2)] = "Another text."
			delete(want, uri(3))
			delete(want, uri(4))
		}
	}
	return standIn{server: server.Server, provider: "notion", fill: fill, before: server.Before, requests: func() int { return len(server.Requests()) }}
}

// slackStandIn is a workspace of which all public channels are read. Each content replaces the
// channels before.
func slackStandIn(t *testing.T) standIn {
	t.Helper()
	server := slacktest.New(t)
	server.Emails["U1"] = "ada@acme.test"
	fills := 0
	fill := func(name string) (map[string]any, map[string]string, func(map[string]string, time.Time)) {
		fills++
		want := map[string]string{}
		channel := func(n, messages int) *slacktest.Channel {
			c := &slacktest.Channel{ID: fmt.Sprintf("C%07d%d", fills, n), Name: fmt.Sprintf("channel-%d", n), Replies: map[string][]slacktest.Message{}, Members: []string{"U1"}}
			for at := range messages {
				m := slacktest.Message{Type: "message", User: "U1", Text: fmt.Sprintf("Text of message %d in channel %d of %s.", at, n, name), TS: fmt.Sprintf("%d.000100", 1790000000+at)}
				c.Messages = append(c.Messages, m)
				want["https://slack.com/archives/"+c.ID+"/p"+strings.ReplaceAll(m.TS, ".", "")] = m.Text
			}
			return c
		}
		server.Change(func() {
			clear(server.Channels)
			for n := range 5 {
				c := channel(n, n)
				server.Channels[c.ID] = c
			}
		})
		id := func(n int) string { return fmt.Sprintf("C%07d%d", fills, n) }
		return map[string]any{"botToken": slacktest.Token}, want, func(want map[string]string, _ time.Time) {
			server.Change(func() {
				delete(server.Channels, id(1))
				server.Channels[id(2)].Archived, server.Channels[id(2)].Member = true, false
				left := server.Channels[id(3)]
				left.Private, left.Member = true, false
				added := channel(5, 3)
				server.Channels[added.ID] = added
			})
			for uri := range want {
				if strings.Contains(uri, id(1)) || strings.Contains(uri, id(3)) {
					delete(want, uri)
				}
			}
		}
	}
	before := func(f func(path string, w http.ResponseWriter) bool) {
		server.Change(func() {
			if server.Before = nil; f != nil {
				server.Before = func(_ int, w http.ResponseWriter) bool { return f("", w) }
			}
		})
	}
	return standIn{server: server.Server, provider: "slack", fill: fill, before: before, requests: func() int { return len(server.Requests()) }}
}
