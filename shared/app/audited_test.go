package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"docent/shared/app/faulttest"
	"docent/shared/audit"
	"docent/shared/search"
	"docent/shared/table"
	"docent/shared/team"
)

// audited is a changing operation. Its events and happened show how often it has happened.
type audited struct {
	name     string
	prepare  func(h *home)
	request  func(h *home) reply
	events   []audit.Type      // one of these for each time
	happened func(h *home) int // by the state, without the feed
}

// feed reads the whole feed twice and compares the results.
func (h *home) feed(t *testing.T) []audit.Event {
	t.Helper()
	h.clock.Advance(audit.Grace) // what a lost answer left open may be closed
	var first []audit.Event
	for try := range 2 {
		var all []audit.Event
		q := audit.Query{Limit: 3 + try}
		for {
			page, err := h.services.events.Feed(t.Context(), h.team.ID, q)
			if err != nil {
				t.Fatal(err)
			}
			if all = append(all, page.Events...); !page.More {
				break
			}
			q.After = page.Next
		}
		for i := 1; i < len(all); i++ {
			if all[i].Sequence <= all[i-1].Sequence {
				t.Errorf("number %d after %d", all[i].Sequence, all[i-1].Sequence)
			}
		}
		if try == 1 && !slices.EqualFunc(first, all, func(a, b audit.Event) bool { return a.ID() == b.ID() && a.Type == b.Type }) {
			t.Errorf("the feed had %d events, then %d", len(first), len(all))
		}
		first = all
	}
	return first
}

// count returns the number of events of the types in the feed.
func (h *home) count(t *testing.T, types []audit.Type) int {
	t.Helper()
	n := 0
	for _, e := range h.feed(t) {
		if slices.Contains(types, e.Type) {
			n++
		}
	}
	return n
}

// list returns the number of entries of a list of the API.
func (h *home) list(path string) int {
	h.t.Helper()
	var entries []json.RawMessage
	if r := h.must(200, "GET", path, nil); json.Unmarshal(r.body, &entries) != nil {
		h.t.Fatalf("%s: %s", path, r.body)
	}
	return len(entries)
}

// has returns 1 if the answer at path contains the text, otherwise 0.
func (h *home) has(path, text string) int {
	h.t.Helper()
	if r := h.do("GET", path, nil); r.status == http.StatusOK && strings.Contains(string(r.body), text) {
		return 1
	}
	return 0
}

// gone returns 1 if there is nothing at path, otherwise 0.
func (h *home) gone(path string) int {
	h.t.Helper()
	if h.do("GET", path, nil).status == http.StatusNotFound {
		return 1
	}
	return 0
}

// remember keeps the id that a request made.
func (h *home) remember(name string, status int, method, path string, body any) {
	h.t.Helper()
	h.prepared[name] = h.must(status, method, path, body).text(h.t, "id")
}

// asSCIM makes a request with a key of an identity provider.
func (h *home) asSCIM(method, path string, body any) reply {
	h.t.Helper()
	if h.prepared["scim"] == "" {
		_, secret, err := h.services.teams.CreateKey(h.t.Context(), h.team.ID, team.NewKey{Kind: team.KindSCIM, Name: "idp"})
		if err != nil {
			h.t.Fatal(err)
		}
		h.prepared["scim"] = secret
		if _, err := h.services.teams.SetSAML(h.t.Context(), h.team.ID, team.SAMLProvider{EntityID: "https://idp.test/"}, samlText(h.t, "sso")); err != nil {
			h.t.Fatal(err)
		}
	}
	admin := h.key
	defer func() { h.key = admin }()
	h.key = h.prepared["scim"]
	return h.do(method, "/scim/v2"+path, body, "Content-Type", "application/scim+json", "Accept", "application/json")
}

func (h *home) scimList(path string) int {
	h.t.Helper()
	var list struct{ TotalResults int }
	r := h.asSCIM("GET", path, nil)
	if err := json.Unmarshal(r.body, &list); err != nil {
		h.t.Fatalf("%s: %d %s", path, r.status, r.body)
	}
	return list.TotalResults
}

// rotations returns how often the prepared key was rotated: each rotation is a version of it.
func (h *home) rotations() int {
	h.t.Helper()
	item, err := h.store.Get(h.t.Context(), table.Key{Table: table.Identities, Partition: "key/" + h.prepared["key"], Sort: "key"})
	if err != nil {
		h.t.Fatal(err)
	}
	return int(item.Version) - 1
}

func scimUser(name string) map[string]any {
	return map[string]any{"schemas": []string{"urn:ietf:params:scim:schemas:core:2.0:User"}, "userName": name}
}

func scimGroup(name string) map[string]any {
	return map[string]any{"schemas": []string{"urn:ietf:params:scim:schemas:core:2.0:Group"}, "displayName": name}
}

func scimPatch(op, path string, value any) map[string]any {
	return map[string]any{"schemas": []string{"urn:ietf:params:scim:api:messages:2.0:PatchOp"},
		"Operations": []map[string]any{{"op": op, "path": path, "value": value}}}
}

// crowd is a number of users large enough that changing all members of a group is staged.
const crowd = 46

func (h *home) makeCrowd() {
	h.t.Helper()
	r := h.asSCIM("POST", "/Bulk", scimBulk(crowd))
	var reply struct{ Operations []struct{ Location string } }
	if err := json.Unmarshal(r.body, &reply); err != nil || len(reply.Operations) != crowd {
		h.t.Fatalf("%d %s", r.status, r.body)
	}
	for n, o := range reply.Operations {
		h.prepared[fmt.Sprintf("user %d", n)] = o.Location[strings.LastIndexByte(o.Location, '/')+1:]
	}
}

// scimBulk returns a request that creates that many users.
func scimBulk(users int) map[string]any {
	var operations []map[string]any
	for n := range users {
		operations = append(operations, map[string]any{"method": "POST", "path": "/Users", "bulkId": fmt.Sprint(n),
			"data": scimUser(fmt.Sprintf("u%d@x.test", n))})
	}
	return map[string]any{"schemas": []string{"urn:ietf:params:scim:api:messages:2.0:BulkRequest"}, "Operations": operations}
}

// staff returns a group of that name whose members are the crowd.
func (h *home) staff(name string) map[string]any {
	var members []map[string]string
	for n := range crowd {
		members = append(members, map[string]string{"value": h.prepared[fmt.Sprintf("user %d", n)]})
	}
	g := scimGroup(name)
	g["members"] = members
	return g
}

// members returns the number of members of the prepared group.
func (h *home) members() int {
	return strings.Count(string(h.asSCIM("GET", "/Groups/"+h.prepared["group"], nil).body), `"$ref"`)
}

// importItems imports that many issues into the prepared source.
func (h *home) importItems(items int) reply {
	h.t.Helper()
	var lines strings.Builder
	for n := range items {
		fmt.Fprintf(&lines, `{"uri":"https://t.test/%d","title":"t","body":"The zebra is small.","sourceType":"issue"}`+"\n", n)
	}
	return h.do("POST", "/data-sources/"+h.prepared["source"]+"/items", []byte(lines.String()), "Content-Type", "application/x-ndjson")
}

// imported returns the number of items of the prepared source.
func (h *home) imported() int {
	h.t.Helper()
	n := 0
	for _, err := range h.services.documents.Items(h.t.Context(), h.team.ID, h.prepared["source"], search.Issues, true) {
		if err != nil {
			h.t.Fatal(err)
		}
		n++
	}
	return n
}

func (h *home) scimID(name, path string, body any) {
	h.t.Helper()
	h.prepared[name] = h.asSCIM("POST", path, body).text(h.t, "id")
}

// everyChange returns an operation of every kind of change.
func everyChange() []audited {
	wiki := func(h *home) { h.collection("wiki") }
	page := func(h *home) { wiki(h); h.put(h.collection("wiki"), smallURI, "The zebra is small."); h.work() }
	asked := func(h *home) {
		h.must(204, "PUT", "/answers/"+questionID, map[string]string{"question": "How small?"})
		h.work()
	}
	key := func(h *home) {
		h.remember("key", 201, "POST", "/api-keys", map[string]any{"kind": "team", "name": "CI"})
	}
	source := func(h *home) {
		h.remember("source", 201, "POST", "/data-sources", map[string]string{"provider": "jira", "name": "Tickets"})
	}
	user := func(h *home) { h.scimID("user", "/Users", scimUser("bob@x.test")) }
	group := func(h *home) { h.scimID("group", "/Groups", scimGroup("Staff")) }
	nothing := func(*home) {}
	return []audited{
		{"create a collection", nothing, func(h *home) reply {
			return h.do("POST", "/collections", map[string]string{"name": "wiki", "description": "d"})
		}, []audit.Type{audit.CollectionCreated}, func(h *home) int { return h.list("/collections") }},
		{"change a collection", wiki, func(h *home) reply {
			return h.do("PATCH", "/collections/"+h.collectionID("wiki"), map[string]string{"name": "changed"})
		}, []audit.Type{audit.CollectionUpdated}, func(h *home) int { return h.has("/collections/"+h.collectionID("wiki"), `"changed"`) }},
		{"delete a collection", page, func(h *home) reply { return h.do("DELETE", "/collections/"+h.collectionID("wiki"), nil) },
			[]audit.Type{audit.CollectionDeleted}, func(h *home) int { return h.gone("/collections/" + h.collectionID("wiki")) }},
		{"add a document", wiki, func(h *home) reply { return h.put(h.collection("wiki"), smallURI, "The zebra is small.") },
			[]audit.Type{audit.DocumentCreated}, func(h *home) int { return 1 - h.gone("/documents/"+h.id(smallURI)) }},
		{"replace a document", page, func(h *home) reply { return h.put(h.collection("wiki"), smallURI, largeBody("okapi")) },
			[]audit.Type{audit.DocumentReplaced}, func(h *home) int { return h.has("/documents/"+h.id(smallURI), "okapi") }},
		{"change a document", page, func(h *home) reply {
			return h.do("PATCH", "/documents/"+h.id(smallURI), map[string]any{"title": "okapi"})
		}, []audit.Type{audit.DocumentReplaced}, func(h *home) int { return h.has("/documents/"+h.id(smallURI), "okapi") }},
		{"change who may read a document", page, func(h *home) reply {
			return h.do("PATCH", "/documents/"+h.id(smallURI), map[string]any{"access": map[string]any{"users": []string{"ada"}}})
		}, []audit.Type{audit.DocumentAccessChanged}, func(h *home) int { return h.has("/documents/"+h.id(smallURI), `"access"`) }},
		{"delete a document", page, func(h *home) reply { return h.do("DELETE", "/documents/"+h.id(smallURI), nil) },
			[]audit.Type{audit.DocumentDeleted}, func(h *home) int { return h.gone("/documents/" + h.id(smallURI)) }},
		{"ask", nothing, func(h *home) reply {
			return h.do("PUT", "/answers/"+questionID, map[string]string{"question": "How small?"})
		}, []audit.Type{audit.AnswerAsked}, func(h *home) int { return h.has("/answers/"+questionID, `"complete"`) }},
		{"delete an answer", asked, func(h *home) reply { return h.do("DELETE", "/answers/"+questionID, nil) },
			[]audit.Type{audit.AnswerDeleted}, func(h *home) int { return h.gone("/answers/" + questionID) }},
		{"create a key", nothing, func(h *home) reply {
			return h.do("POST", "/api-keys", map[string]any{"kind": "team", "name": "CI"})
		}, []audit.Type{audit.APIKeyCreated}, func(h *home) int { return h.list("/api-keys") - 2 }},
		{"revoke a key", key, func(h *home) reply { return h.do("DELETE", "/api-keys/"+h.prepared["key"], nil) },
			[]audit.Type{audit.APIKeyRevoked}, func(h *home) int { return 3 - h.list("/api-keys") }},
		{"rotate a key", key, func(h *home) reply { return h.do("POST", "/api-keys/"+h.prepared["key"]+"/rotate", map[string]any{}) },
			[]audit.Type{audit.APIKeyRotated}, func(h *home) int { return h.rotations() }},
		{"rename the team", nothing, func(h *home) reply { return h.do("PATCH", "/team", map[string]any{"name": "Zebra"}) },
			[]audit.Type{audit.TeamUpdated}, func(h *home) int { return h.has("/team", "Zebra") }},
		{"set the SAML metadata", func(h *home) { h.prepared["saml"] = string(samlText(h.t, "new")) }, func(h *home) reply {
			return h.do("PUT", "/team/saml-metadata", []byte(h.prepared["saml"]), "Content-Type", "application/xml")
		}, []audit.Type{audit.SAMLMetadataUpdated}, func(h *home) int { return h.has("/team/saml-metadata", "https://idp.test/new") }},
		{"remove the SAML metadata", nothing, func(h *home) reply { return h.do("DELETE", "/team/saml-metadata", nil) },
			[]audit.Type{audit.SAMLMetadataDeleted}, func(h *home) int { return h.gone("/team/saml-metadata") }},
		{"connect a data source", nothing, func(h *home) reply {
			return h.do("POST", "/data-sources", map[string]string{"provider": "jira", "name": "Tickets"})
		}, []audit.Type{audit.DataSourceCreated}, func(h *home) int { return h.list("/data-sources") }},
		{"remove a data source", source, func(h *home) reply { return h.do("DELETE", "/data-sources/"+h.prepared["source"], nil) },
			[]audit.Type{audit.DataSourceDeleted}, func(h *home) int { return 1 - h.list("/data-sources") }},
		{"import an item", source, func(h *home) reply { return h.importItems(1) },
			[]audit.Type{audit.DataSourceItemsImported}, (*home).imported},
		{"add users in bulk", nothing, func(h *home) reply { return h.asSCIM("POST", "/Bulk", scimBulk(3)) },
			[]audit.Type{audit.SCIMUserCreated}, func(h *home) int { return h.scimList("/Users") - 1 }},
		{"replace a user", user, func(h *home) reply {
			u := scimUser("rob@x.test")
			u["displayName"] = "Rob"
			return h.asSCIM("PUT", "/Users/"+h.prepared["user"], u)
		}, []audit.Type{audit.SCIMUserUpdated}, func(h *home) int { return h.scimList("/Users?filter=userName+eq+%22rob@x.test%22") }},
		{"replace a group by one of many members", func(h *home) { h.makeCrowd(); group(h) }, func(h *home) reply {
			return h.asSCIM("PUT", "/Groups/"+h.prepared["group"], h.staff("Staff"))
		}, []audit.Type{audit.SCIMGroupMemberAdded}, func(h *home) int { return h.members() / crowd }},
		{"take many members out of a group", func(h *home) {
			h.makeCrowd()
			h.scimID("group", "/Groups", h.staff("Staff"))
		}, func(h *home) reply {
			return h.asSCIM("PUT", "/Groups/"+h.prepared["group"], scimGroup("Staff"))
		}, []audit.Type{audit.SCIMGroupMemberRemoved}, func(h *home) int { return 1 - h.members()/crowd }},
		{"add a group of many members", func(h *home) { h.makeCrowd() }, func(h *home) reply {
			return h.asSCIM("POST", "/Groups", h.staff("Staff"))
		}, []audit.Type{audit.SCIMGroupCreated}, func(h *home) int { return h.scimList("/Groups") }},
		{"add a user", nothing, func(h *home) reply { return h.asSCIM("POST", "/Users", scimUser("bob@x.test")) },
			[]audit.Type{audit.SCIMUserCreated}, func(h *home) int { return h.scimList("/Users") - 1 }},
		{"deactivate a user", user, func(h *home) reply {
			return h.asSCIM("PATCH", "/Users/"+h.prepared["user"], scimPatch("replace", "active", false))
		}, []audit.Type{audit.SCIMUserDeactivated}, func(h *home) int { return h.scimList("/Users?filter=active+eq+false") }},
		{"make a user an admin", user, func(h *home) reply {
			return h.do("PATCH", "/scim/v2/Users/"+h.prepared["user"], scimPatch("replace", "roles", []map[string]string{{"value": "admin"}}))
		}, []audit.Type{audit.UserRoleChanged}, func(h *home) int {
			u, err := h.services.teams.User(h.t.Context(), h.team.ID, h.prepared["user"])
			if err != nil {
				h.t.Fatal(err)
			}
			return map[team.Role]int{team.RoleAdmin: 1}[u.Role]
		}},
		{"remove a user", user, func(h *home) reply { return h.asSCIM("DELETE", "/Users/"+h.prepared["user"], nil) },
			[]audit.Type{audit.SCIMUserDeleted}, func(h *home) int { return 2 - h.scimList("/Users") }},
		{"add a group", nothing, func(h *home) reply { return h.asSCIM("POST", "/Groups", scimGroup("Staff")) },
			[]audit.Type{audit.SCIMGroupCreated}, func(h *home) int { return h.scimList("/Groups") }},
		{"rename a group", group, func(h *home) reply {
			return h.asSCIM("PATCH", "/Groups/"+h.prepared["group"], scimPatch("replace", "displayName", "All"))
		}, []audit.Type{audit.SCIMGroupUpdated}, func(h *home) int { return h.scimList(`/Groups?filter=displayName+eq+%22All%22`) }},
		{"add a member", func(h *home) { user(h); group(h) }, func(h *home) reply {
			return h.asSCIM("PATCH", "/Groups/"+h.prepared["group"], scimPatch("add", "members", []map[string]string{{"value": h.prepared["user"]}}))
		}, []audit.Type{audit.SCIMGroupMemberAdded}, func(h *home) int {
			return strings.Count(string(h.asSCIM("GET", "/Groups/"+h.prepared["group"], nil).body), h.prepared["user"]+`","`)
		}},
		{"remove a group", group, func(h *home) reply { return h.asSCIM("DELETE", "/Groups/"+h.prepared["group"], nil) },
			[]audit.Type{audit.SCIMGroupDeleted}, func(h *home) int { return 1 - h.scimList("/Groups") }},
	}
}

// TestAChangeHappensWithItsEventOrNotAtAll makes every storage, object and queue call of an
// operation of each kind fail in each way. Whatever the reply is, the change has happened as
// often as the feed says, both at once and after the client's retry.
func TestAChangeHappensWithItsEventOrNotAtAll(t *testing.T) {
	t.Parallel()
	for _, f := range everyChange() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			prepared := func() *home {
				h := newHome(t)
				h.asSCIM("GET", "/ServiceProviderConfig", nil) // makes its key
				f.prepare(h)
				return h
			}
			h := prepared()
			before := h.count(t, f.events) - f.happened(h)
			h.plan.Watch()
			if r := f.request(h); r.status >= 300 {
				t.Fatalf("without a fault: %d %s", r.status, r.body)
			}
			h.work()
			calls := h.plan.Seen()
			h.plan.Disarm()
			if f.happened(h) == 0 {
				t.Fatal("the state does not show that it happened")
			}
			for n, call := range calls {
				if (n+len(f.name))%faulttest.EveryNth != 0 {
					continue
				}
				for _, mode := range append(faulttest.ModesOf(call), faulttest.EndBefore, faulttest.EndAfter) {
					if call != "Write" && mode != faulttest.FailBefore && mode != faulttest.FailAfter {
						continue // without effect, as FailBefore
					}
					t.Run(fmt.Sprintf("call %d, %s, %s", n+1, call, mode), func(t *testing.T) {
						h := prepared()
						h.plan.Arm(mode, n+1)
						first := f.request(h)
						if mode == faulttest.EndBefore || mode == faulttest.EndAfter {
							h.plan.Disarm() // another process
						}
						h.work()
						h.plan.Disarm()
						h.repair()
						if events, times := h.count(t, f.events)-before, f.happened(h); events != times {
							t.Errorf("the client got %d; it happened %d times, with %d events", first.status, times, events)
						}
						again := f.request(h)
						h.work()
						h.repair()
						if events, times := h.count(t, f.events)-before, f.happened(h); events != times || times == 0 {
							t.Errorf("the client got %d, then %d; it happened %d times, with %d events", first.status, again.status, times, events)
						}
					})
				}
			}
		})
	}
}

// TestAnImportIsRecordedIfItChangedAnything: once for each import that changed something,
// whichever of its writes fails and whether its process continues.
func TestAnImportIsRecordedIfItChangedAnything(t *testing.T) {
	t.Parallel()
	const items = 20
	prepared := func(t *testing.T) *home {
		h := newHome(t)
		h.remember("source", 201, "POST", "/data-sources", map[string]string{"provider": "jira", "name": "Tickets"})
		return h
	}
	try := func(t *testing.T, h *home, request func() reply) reply {
		t.Helper()
		items, events := h.imported(), h.count(t, []audit.Type{audit.DataSourceItemsImported})
		r := request()
		h.plan.Disarm()
		items, events = h.imported()-items, h.count(t, []audit.Type{audit.DataSourceItemsImported})-events
		if want := min(items, 1); events != want {
			t.Errorf("%d items came, with %d events", items, events)
		}
		return r
	}
	h := prepared(t)
	h.plan.Watch()
	if r := h.importItems(items); r.status != 200 {
		t.Fatalf("without a fault: %d %s", r.status, r.body)
	}
	writes := 0
	for n, call := range h.plan.Seen() {
		if call != "Write" {
			continue
		}
		writes++
		for _, mode := range []faulttest.Mode{faulttest.FailBefore, faulttest.FailAfter, faulttest.EndBefore, faulttest.EndAfter} {
			t.Run(fmt.Sprintf("call %d %s", n+1, mode), func(t *testing.T) {
				t.Parallel()
				h := prepared(t)
				try(t, h, func() reply { h.plan.Arm(mode, n+1); return h.importItems(items) })
				if again := try(t, h, func() reply { return h.importItems(items) }); again.status != 200 || h.imported() != items {
					t.Errorf("again: %d %s, %d items", again.status, again.body, h.imported())
				}
				if r := try(t, h, func() reply { return h.importItems(items) }); r.status != 200 {
					t.Errorf("nothing new: %d %s", r.status, r.body)
				}
			})
		}
	}
	if writes < items {
		t.Errorf("%d writes", writes)
	}
	h.plan.Watch()
	h.importItems(items)
	if slices.Contains(h.plan.Seen(), "Write") {
		t.Errorf("nothing new: %q; a number of the feed is taken and closed again only for an event", h.plan.Seen())
	}
}

// TestADeletedCollectionIsOneEvent, which covers its documents.
func TestADeletedCollectionIsOneEvent(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	wiki := h.collection("wiki")
	for n := range 7 {
		h.put(wiki, fmt.Sprintf("https://wiki.test/%d", n), "The zebra is small.")
	}
	h.put(h.collection("other"), "https://wiki.test/other", "The okapi is shy.")
	h.work()
	h.must(204, "DELETE", "/collections/"+wiki, nil)
	h.work()
	var last []audit.Event
	for _, e := range h.feed(t) {
		if e.Type == audit.CollectionDeleted || e.Type == audit.DocumentDeleted {
			last = append(last, e)
		}
	}
	if len(last) != 1 || last[0].Counts["documents"] != 7 {
		t.Errorf("%+v", last)
	}
}

// TestDocumentEventsNameTheirCollection when a document is created, moved and deleted.
func TestDocumentEventsNameTheirCollection(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	wiki, other := h.collection("wiki"), h.collection("other")
	h.put(wiki, smallURI, "The zebra is small.")
	h.put(other, smallURI, "The zebra is small.")
	h.must(204, "DELETE", "/documents/"+h.id(smallURI), nil)
	var got []audit.Change
	for _, e := range h.feed(t) {
		if e.Targets[0].Type == audit.TargetDocument {
			got = append(got, e.Changes...)
		}
	}
	want := []audit.Change{{Field: "collectionId", To: wiki}, {Field: "collectionId", From: wiki, To: other}, {Field: "collectionId", From: other}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
