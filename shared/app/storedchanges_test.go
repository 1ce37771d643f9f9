package app

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"docent/shared/audit"
	"docent/shared/pending"
	"docent/shared/scim/scimtest"
	"docent/shared/storedtest"
	"docent/shared/table"
)

// worksOff does the unfinished work of the fixture and checks the results.
func (in *installation) worksOff(m *storedtest.Manifest) {
	in.t.Helper()
	in.work()
	for page, word := range map[string]string{"swept": "gorilla", "waiting": "wombat", "replaced": "capybara"} {
		in.wantIndexed(m, page)
		in.wantFound(m, word, "https://wiki.test/"+page)
	}
	for page, word := range map[string]string{"removed": "narwhal", "within": "quetzal", "cut": "ostrich", "lost": "emu"} {
		in.wantNotFound(m, word, "https://wiki.test/"+page)
	}
	in.wantAnswered(m, "processing", "deployctl undo")
	in.clock.Advance(2 * time.Hour) // when the provider may be asked again, and uploads that nobody used are removed
	in.work()
	in.wantNothingPending()
	// Syncs continued after the pages that had been read.
	for _, part := range []string{"acme/api", "acme/slow", "crash.test/"} {
		in.wantContent(m, "https://provider.test/"+part+"/2", "Page 2 of what was synced.")
	}
}

func (in *installation) wantIndexed(m *storedtest.Manifest, page string) {
	in.t.Helper()
	var d struct{ Indexing struct{ State string } }
	decodeStored(in.t, in.must(200, m.Callers["team"], "GET", "/documents/"+m.IDs[page], nil), &d)
	if d.Indexing.State != "indexed" {
		in.t.Errorf("the document %s is %s, want indexed", page, d.Indexing.State)
	}
}

// found returns the addresses of the documents that a search finds, best first.
func (in *installation) found(m *storedtest.Manifest, query string) []string {
	in.t.Helper()
	var body struct{ Sources []struct{ URL string } }
	decodeStored(in.t, in.must(200, m.Callers["team"], "POST", "/context/search", map[string]any{"query": query, "limit": 50}), &body)
	var urls []string
	for _, s := range body.Sources {
		urls = append(urls, s.URL)
	}
	return urls
}

func (in *installation) wantFound(m *storedtest.Manifest, query, url string) {
	in.t.Helper()
	if urls := in.found(m, query); len(urls) == 0 || urls[0] != url {
		in.t.Errorf("%s is not found for %s, but %q", url, query, urls)
	}
}

func (in *installation) wantNotFound(m *storedtest.Manifest, query, url string) {
	in.t.Helper()
	if urls := in.found(m, query); slices.Contains(urls, url) {
		in.t.Errorf("%s is still found for %s", url, query)
	}
}

func (in *installation) wantAnswered(m *storedtest.Manifest, name, text string) {
	in.t.Helper()
	var a struct {
		State, Answer string
		References    []struct{ HTMLURL string }
	}
	decodeStored(in.t, in.must(200, m.Callers["team"], "GET", "/answers/"+m.IDs[name], nil), &a)
	if a.State != "complete" || !strings.Contains(a.Answer, text) || len(a.References) == 0 || a.References[0].HTMLURL != storedReference {
		in.t.Errorf("the answer %s is %+v, want %q from %s", name, a, text, storedReference)
	}
}

func (in *installation) wantContent(m *storedtest.Manifest, url, content string) {
	in.t.Helper()
	var body struct{ Results []struct{ Content string } }
	decodeStored(in.t, in.must(200, m.Callers["team"], "POST", "/context/get", map[string]any{"urls": []string{url}}), &body)
	if len(body.Results) != 1 || body.Results[0].Content != content {
		in.t.Errorf("the content of %s is %+v, want %q", url, body.Results, content)
	}
}

// wantNothingPending fails the test if any work is pending, except syncs, which are due later.
func (in *installation) wantNothingPending() {
	in.t.Helper()
	for _, name := range []string{table.Documents, table.Answers} {
		for _, partition := range pending.Partitions(name) {
			for item, err := range table.All(in.t.Context(), in.index.Table, table.Query{Table: name, Partition: partition}) {
				if err != nil {
					in.t.Fatal(err)
				}
				in.t.Errorf("still pending: %s", item.Body)
			}
		}
	}
}

// wantWholeIndex compares the search index with the documents.
func (in *installation) wantWholeIndex(m *storedtest.Manifest) {
	in.t.Helper()
	report, err := in.index.Check(in.t.Context(), m.IDs["team"])
	if err != nil {
		in.t.Fatal(err)
	}
	missing, _, err := in.documents.Unindexed(in.t.Context(), m.IDs["team"], report.Current)
	if err != nil {
		in.t.Fatal(err)
	}
	if len(report.Damaged)+len(missing) > 0 {
		in.t.Errorf("the index has damaged segments %v and lacks the documents %v", report.Damaged, missing)
	}
}

// changes writes in every area and reads back what it wrote. It may be repeated.
func (in *installation) changes(m *storedtest.Manifest) {
	in.t.Helper()
	in.clock.Advance(time.Minute)
	mark := storedMark(in.clock.Now())
	in.changesCollections(m, mark)
	in.changesDocuments(m, mark)
	in.changesIdentities(m, mark)
	in.changesKeys(m, mark)
	in.changesSources(m, mark)
	in.work()
	in.wantFound(m, "pangolin "+mark, "https://github.test/acme/api/issues/3")
	in.wantNothingPending()
	in.wantWholeIndex(m)
	in.wantEvents(m)
}

// storedMark returns a word for a time that no other text contains.
func storedMark(at time.Time) string { return "m" + at.Format("20060102150405") }

func (in *installation) changesCollections(m *storedtest.Manifest, mark string) {
	in.t.Helper()
	key := m.Callers["team"]
	in.must(200, key, "PATCH", "/collections/"+m.IDs["guide"], map[string]any{"name": mark})
	in.must(200, m.Callers["admin"], "PATCH", "/team", map[string]any{"name": mark})
	for _, path := range []string{"/collections/" + m.IDs["guide"], "/team"} {
		var named struct{ Name, Description string }
		decodeStored(in.t, in.must(200, m.Callers["admin"], "GET", path, nil), &named)
		if named.Name != mark {
			in.t.Errorf("%s is called %q, want %q", path, named.Name, mark)
		}
	}
}

func (in *installation) changesDocuments(m *storedtest.Manifest, mark string) {
	in.t.Helper()
	key := m.Callers["team"]
	in.put(m, "wiki", "runbook", "Runbook", strings.Replace(storedRunbook, "twice", mark, 1))
	in.put(m, "archive", "page9", "Page 9", "The lighthouse number 9 has moved.\n")
	in.put(m, "wiki", "unindexed", "Unindexed", "A walrus that nobody indexed in time.\n")
	in.put(m, "wiki", "heron", "Heron", longBody("heron", 9<<10))
	in.put(m, "wiki", "brief", "Brief", "The axolotl stays briefly.\n")
	in.work()
	in.ask(m, "member", "changed", storedQuestion)
	in.work()
	in.wantAnswered(m, "changed", mark)
	in.wantIndexed(m, "unindexed")
	in.wantFound(m, "axolotl", "https://wiki.test/brief")
	in.must(204, key, "DELETE", "/documents/"+m.IDs["brief"], nil)
	in.must(404, key, "GET", "/documents/"+m.IDs["brief"], nil)
	in.wantNotFound(m, "axolotl", "https://wiki.test/brief")
	var list []struct{ ID string }
	decodeStored(in.t, in.must(200, key, "GET", "/documents?collectionId="+m.IDs["archive"], nil), &list)
	if len(list) != 2 {
		in.t.Errorf("the archive holds %v, want the documents old and page9", list)
	}
	in.put(m, "guide", "page9", "Page 9", "# Page 9\n\nThe lighthouse number 9 shines red.\n")
	in.put(m, "guide", "heron", "Heron", "The heron is a bird of few words.\n")
}

func (in *installation) changesIdentities(m *storedtest.Manifest, mark string) {
	in.t.Helper()
	scim := m.Callers["scim"]
	patch := func(status int, path string, operations ...any) {
		in.must(status, scim, "PATCH", "/scim/v2/"+path, map[string]any{"schemas": []string{patchOp}, "Operations": operations})
	}
	add := func(path string, value any) any { return map[string]any{"op": "add", "path": path, "value": value} }
	made := in.must(201, scim, "POST", "/scim/v2/Users", map[string]any{"schemas": []string{coreUser}, "userName": mark + "@acme.test"}).id(in.t)
	in.must(409, scim, "POST", "/scim/v2/Users", map[string]any{"schemas": []string{coreUser}, "userName": "GRACE@acme.test"})
	patch(200, "Users/"+m.IDs["linus"], add("title", mark))
	var linus map[string]any
	decodeStored(in.t, in.must(200, scim, "GET", "/scim/v2/Users/"+m.IDs["linus"], nil), &linus)
	if enterprise, _ := linus[enterpriseUser].(map[string]any); linus["title"] != mark || enterprise["manager"] == nil {
		in.t.Errorf("linus is %v", linus)
	}
	// Groups whose changes of members were interrupted can be changed again.
	for name, members := range map[string]int{"small": 4, "large": storedUsers, "staged": 2} {
		id := m.IDs["group "+name]
		patch(204, "Groups/"+id, add("members", []any{map[string]any{"value": made}}))
		var group struct{ Members []any }
		decodeStored(in.t, in.must(200, scim, "GET", "/scim/v2/Groups/"+id, nil), &group)
		if len(group.Members) != members {
			in.t.Errorf("the group %s has %d members, want %d", name, len(group.Members), members)
		}
	}
	// Interrupted deletions finish when they are requested again.
	status := http.StatusNoContent
	if m.IDs["departed ended"] != "" {
		status = http.StatusNotFound
	}
	in.must(status, scim, "DELETE", "/scim/v2/Users/"+m.IDs["departed"], nil)
	in.must(status, scim, "DELETE", "/scim/v2/Groups/"+m.IDs["group departed"], nil)
	m.IDs["departed ended"] = "yes"
	in.must(204, scim, "DELETE", "/scim/v2/Users/"+made, nil)
	in.must(404, scim, "GET", "/scim/v2/Users/"+made, nil)
	in.must(200, m.Callers["admin"], "PUT", "/team/saml-metadata", []byte(scimtest.Metadata), "Content-Type", "application/samlmetadata+xml")
}

func (in *installation) changesKeys(m *storedtest.Manifest, mark string) {
	in.t.Helper()
	var k struct{ ID, Secret string }
	decodeStored(in.t, in.must(201, m.Callers["admin"], "POST", "/api-keys", map[string]any{"kind": "team", "name": mark}), &k)
	in.must(200, k.Secret, "GET", "/me", nil)
	first := k.Secret
	decodeStored(in.t, in.must(200, m.Callers["admin"], "POST", "/api-keys/"+k.ID+"/rotate", map[string]any{"overlapSeconds": 0}), &k)
	in.must(200, k.Secret, "GET", "/me", nil)
	in.must(204, m.Callers["admin"], "DELETE", "/api-keys/"+k.ID, nil)
	in.clock.Advance(10 * time.Second) // a key is cached that long
	in.must(401, k.Secret, "GET", "/me", nil)
	in.must(401, first, "GET", "/me", nil)
}

func (in *installation) changesSources(m *storedtest.Manifest, mark string) {
	in.t.Helper()
	admin := m.Callers["admin"]
	in.deliver(m, 3, "edited "+mark)
	in.deliver(m, 2, "opened") // came before
	in.slack(m, "The toucan says "+mark+".")
	in.must(200, admin, "POST", "/data-sources/"+m.IDs["jira"]+"/items", importOf("jira", ""), "Content-Type", "application/x-ndjson")
	made := in.must(201, admin, "POST", "/data-sources", map[string]any{"provider": "linear", "name": mark}).id(in.t)
	in.must(200, admin, "POST", "/data-sources/"+made+"/items", importOf("brief"+mark, "code"), "Content-Type", "application/x-ndjson")
	in.must(204, admin, "DELETE", "/data-sources/"+made, nil)
}

// wantEvents reads the feed after the last event of the fixture.
func (in *installation) wantEvents(m *storedtest.Manifest) {
	in.t.Helper()
	var types []string
	for page := (storedFeed{NextCursor: m.Tail, HasMore: true}); page.HasMore; {
		page = in.feed(m, "after="+page.NextCursor)
		for _, e := range page.Events {
			types = append(types, e.EventType)
		}
	}
	for _, want := range []audit.Type{audit.DocumentReplaced, audit.DocumentDeleted, audit.CollectionUpdated, audit.TeamUpdated, audit.AnswerAsked,
		audit.SCIMUserCreated, audit.SCIMUserDeleted, audit.SCIMGroupMemberAdded, audit.APIKeyCreated, audit.APIKeyRevoked, audit.DataSourceDeleted} {
		if !slices.Contains(types, string(want)) {
			in.t.Errorf("the feed continues with %q, which lacks %s", types, want)
		}
	}
}
