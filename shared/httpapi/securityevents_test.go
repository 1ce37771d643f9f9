package httpapi_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/app"
	"docent/shared/audit"
	"docent/shared/httpapi"
	"docent/shared/team"
	"docent/shared/team/teamtest"
)

type feedEvent struct {
	ID, EventType string
	Description   string
	Sequence      int64
	Outcome       struct{ Reason string }
	Request       struct{ Path string }
	Actor         struct{ Type, ID string }
	Targets       []struct{ Type, ID, DisplayName string }
	Changes       []struct {
		Field    string
		From, To any
	}
}

type feedPage struct {
	Events     []feedEvent
	NextCursor *string
	HasMore    bool
}

func (a *api) feed(key, query string) feedPage {
	a.t.Helper()
	var page feedPage
	reply := a.do(call{"GET", "/security-events?limit=200" + query, key, nil, nil}).want(a.t, 200)
	reply.json(a.t, &page)
	if reply.Header.Get("Cache-Control") != "no-store" {
		a.t.Errorf("Cache-Control %q", reply.Header.Get("Cache-Control"))
	}
	return page
}

// withoutEvent are the changing operations that record nothing by design; usage
// carries their counts.
var withoutEvent = []string{"rateAnswer", "createUpload",
	"searchContext", "searchCode", "searchPullRequests", "searchIssues", "searchDocumentation", "searchMessages",
	"research", "queryIssues", "queryPullRequests", "getContent",
	"searchScimRoot", "searchScim", "searchScimUsers", "searchScimGroups",
	"takeGitHubDelivery", "takeGitLabDelivery", "takeSlackEvent", // accepted deliveries
	"syncDataSource",                               // changes no setting
	"callTools",                                    // its tools are context operations and asking
	"testWebhookEndpoint", "replayWebhookDelivery", // they are listed as deliveries
	"bulkScim",                            // its operations record theirs
	"signIn", "endSession", "endSessions", // see sessions_test.go
	"assertSingleSignOn",                                                                                // see signon_test.go
	"registerClient", "showConsent", "decideConsent", "exchangeToken", "revokeToken", "disconnectAgent", // see oauth_test.go
}

const scimUserBody = `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":"`

// TestEveryChangeRecordsItsEvent calls each operation of the OpenAPI document
// that changes something and looks for its event, and for nothing planted.
func TestEveryChangeRecordsItsEvent(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	const secret = "Birnenmost" // in bodies, questions and settings: in no event
	var wiki, question, key, source, user, group, hook string
	question = numberedID(7)
	send := func(method, path string, body any, header ...string) func() response {
		return func() response {
			c := call{method, path, acme.pat, body, map[string]string{}}
			for i := 0; i+1 < len(header); i += 2 {
				c.header[header[i]] = header[i+1]
			}
			for from, to := range map[string]string{"{wiki}": wiki, "{key}": key, "{source}": source, "{user}": user, "{group}": group, "{hook}": hook} {
				c.path = strings.ReplaceAll(c.path, from, to)
				if text, ok := c.body.(string); ok {
					c.body = strings.ReplaceAll(text, from, to)
				}
			}
			return a.do(c)
		}
	}
	keep := func(id *string, do func() response) func() response {
		return func() response {
			r := do()
			*id = r.text(t, "id")
			return r
		}
	}
	const jsonType, scimType = "application/json", "application/scim+json"
	patch := func(path, value string) string {
		return `{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[{"op":"replace","path":"` + path + `","value":` + value + `}]}`
	}
	steps := []struct {
		operation string
		do        func() response
		event     string
	}{
		{"createCollection", keep(&wiki, send("POST", "/collections", map[string]string{"name": "wiki", "description": "d"})), "collection.created"},
		{"updateCollection", send("PATCH", "/collections/{wiki}", map[string]string{"name": "handbook"}), "collection.updated"},
		{"putDocument", func() response {
			return send("PUT", "/documents", map[string]string{"collectionId": wiki, "uri": "https://x.test/1", "title": "T", "body": secret})()
		}, "document.created"},
		{"putDocument", func() response {
			return send("PUT", "/documents", map[string]string{"collectionId": wiki, "uri": "https://x.test/1", "title": "T2", "body": secret})()
		}, "document.replaced"},
		{"updateDocument", func() response {
			return send("PATCH", "/documents/"+a.members(call{"GET", "/documents", acme.key, nil, nil}, "id")[0], map[string]any{"metadata": map[string]any{"a": secret}})()
		}, "document.replaced"},
		{"updateDocument", func() response {
			return send("PATCH", "/documents/"+a.members(call{"GET", "/documents", acme.key, nil, nil}, "id")[0], map[string]any{"access": map[string]any{"users": []string{acme.admin.ID}}})()
		}, "document.access_changed"},
		{"deleteDocument", func() response {
			return send("DELETE", "/documents/"+a.members(call{"GET", "/documents", acme.key, nil, nil}, "id")[0], nil)()
		}, "document.deleted"},
		{"askQuestion", func() response {
			defer a.drain()
			return send("PUT", "/answers/"+question, map[string]string{"question": secret + "?"})()
		}, "answer.asked"},
		{"createChatCompletion", send("POST", "/chat/completions", map[string]any{"model": "docent", "messages": []any{map[string]any{"role": "user", "content": secret}}}), "answer.asked"},
		{"createResponse", send("POST", "/responses", map[string]any{"model": "docent", "input": secret}), "answer.asked"},
		{"deleteAnswer", send("DELETE", "/answers/"+question, nil), "answer.deleted"},
		{"createApiKey", keep(&key, send("POST", "/api-keys", map[string]any{"kind": "team", "name": "CI"})), "api_key.created"},
		{"rotateApiKey", send("POST", "/api-keys/{key}/rotate", map[string]any{}), "api_key.rotated"},
		{"revokeApiKey", send("DELETE", "/api-keys/{key}", nil), "api_key.revoked"},
		{"updateTeam", send("PATCH", "/team", map[string]any{"name": "Acme & Co"}), "team.updated"},
		{"createDataSource", keep(&source, send("POST", "/data-sources", map[string]string{"provider": "jira", "name": "Tickets"})), "data_source.created"},
		{"importItems", send("POST", "/data-sources/{source}/items", `{"uri":"https://j.test/1","title":"t","body":"`+secret+`","sourceType":"issue"}`, "Content-Type", "application/x-ndjson"), "data_source.items_imported"},
		{"updateDataSource", send("PATCH", "/data-sources/{source}", map[string]any{"defaultAccess": map[string]any{"users": []string{"eve@x.test"}}}), "data_source.updated"},
		{"deleteDataSource", send("DELETE", "/data-sources/{source}", nil), "data_source.deleted"},
		{"createWebhookEndpoint", keep(&hook, send("POST", "/webhook-endpoints", map[string]any{"url": "https://hooks.x.test/" + secret, "eventTypes": []string{"answer.failed"}})), "webhook_endpoint.created"},
		{"updateWebhookEndpoint", send("PATCH", "/webhook-endpoints/{hook}", map[string]any{"url": "https://hooks.x.test/2" + secret}), "webhook_endpoint.updated"},
		{"rotateWebhookSecret", send("POST", "/webhook-endpoints/{hook}/rotate", map[string]any{}), "webhook_endpoint.rotated"},
		{"deleteWebhookEndpoint", send("DELETE", "/webhook-endpoints/{hook}", nil), "webhook_endpoint.deleted"},
		{"setSamlMetadata", send("PUT", "/team/saml-metadata", samlText, "Content-Type", "application/xml"), "saml_metadata.updated"},
		{"setSamlMetadataUrl", send("PUT", "/team/saml-metadata/url", map[string]any{"url": samlAddress}), "saml_metadata.updated"},
		{"createScimUser", keep(&user, send("POST", "/scim/v2/Users", scimUserBody+`bob@x.test","password":"`+secret+`"}`, "Content-Type", scimType, "Accept", jsonType)), "scim.user.created"},
		{"updateScimUser", send("PATCH", "/scim/v2/Users/{user}", patch("active", "false"), "Content-Type", scimType, "Accept", jsonType), "scim.user.deactivated"},
		{"updateScimUser", send("PATCH", "/scim/v2/Users/{user}", patch("active", "true"), "Content-Type", scimType, "Accept", jsonType), "scim.user.reactivated"},
		{"replaceScimUser", send("PUT", "/scim/v2/Users/{user}", scimUserBody+`bob@x.test","roles":[{"value":"admin"}]}`, "Content-Type", scimType, "Accept", jsonType), "user.role_changed"},
		{"updateScimUser", send("PATCH", "/scim/v2/Users/{user}", patch("displayName", `"Bob"`), "Content-Type", scimType, "Accept", jsonType), "scim.user.updated"},
		{"updateScimUser", send("PATCH", "/scim/v2/Users/{user}", patch("roles", `[{"value":"member"}]`), "Content-Type", scimType, "Accept", jsonType), "user.role_changed"},
		{"createScimGroup", keep(&group, send("POST", "/scim/v2/Groups", `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:Group"],"displayName":"Staff"}`, "Content-Type", scimType, "Accept", jsonType)), "scim.group.created"},
		{"updateScimGroup", send("PATCH", "/scim/v2/Groups/{group}", strings.Replace(patch("members", `[{"value":"{user}"}]`), "replace", "add", 1), "Content-Type", scimType, "Accept", jsonType), "scim.group.member_added"},
		{"replaceScimGroup", send("PUT", "/scim/v2/Groups/{group}", `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:Group"],"displayName":"Staff","members":[]}`, "Content-Type", scimType, "Accept", jsonType), "scim.group.member_removed"},
		{"updateScimGroup", send("PATCH", "/scim/v2/Groups/{group}", patch("displayName", `"All"`), "Content-Type", scimType, "Accept", jsonType), "scim.group.updated"},
		{"deleteScimGroup", send("DELETE", "/scim/v2/Groups/{group}", nil, "Accept", jsonType), "scim.group.deleted"},
		{"deleteScimUser", send("DELETE", "/scim/v2/Users/{user}", nil, "Accept", jsonType), "scim.user.deleted"},
		{"updateSingleSignOn", send("PATCH", "/team/single-sign-on", map[string]any{"attribute": "mail"}), "single_sign_on.updated"},
		{"setOpenIdProvider", send("PUT", "/team/openid-provider", map[string]any{"issuer": "https://idp.x.test", "clientId": "docent", "clientSecret": secret}), "single_sign_on.updated"},
		{"removeOpenIdProvider", send("DELETE", "/team/openid-provider", nil), "single_sign_on.updated"},
		{"removeSamlMetadata", send("DELETE", "/team/saml-metadata", nil), "saml_metadata.deleted"},
		{"deleteCollection", send("DELETE", "/collections/{wiki}", nil), "collection.deleted"},
	}
	cursor := *a.feed(acme.key, "").NextCursor
	known := map[string]bool{}
	for _, id := range withoutEvent {
		known[id] = true
	}
	for _, s := range steps {
		known[s.operation] = true
		if r := s.do(); r.StatusCode >= 300 {
			t.Fatalf("%s: %d %s", s.operation, r.StatusCode, r.body)
		}
		page := a.feed(acme.key, "&after="+cursor)
		cursor = *page.NextCursor
		if len(page.Events) != 1 || page.Events[0].EventType != s.event || page.Events[0].Actor.ID != acme.admin.ID {
			t.Errorf("%s recorded %+v, want %s by the admin", s.operation, page.Events, s.event)
		}
	}
	for path, item := range httpapi.OpenAPI(app.Providers()).Paths {
		for _, op := range []*huma.Operation{item.Post, item.Put, item.Patch, item.Delete} {
			if op != nil && !known[op.OperationID] {
				t.Errorf("%s: the test does not list the event of %s", path, op.OperationID)
			}
		}
	}
	imported := a.do(call{"GET", "/security-events?eventType=data_source.items_imported", acme.key, nil, nil}).want(t, 200).body
	if !strings.Contains(string(imported), `"counts":{"items":1,"malformed":0}`) {
		t.Errorf("an import without its counts: %s", imported)
	}
	for _, format := range []string{"", "&format=ocsf"} {
		body := a.do(call{"GET", "/security-events?limit=200" + format, acme.key, nil, nil}).want(t, 200).body
		if strings.Contains(string(body), secret) || strings.Contains(string(body), acme.key) {
			t.Errorf("an event holds what it must not: %s", body)
		}
	}
}

// TestEveryNewAndFormerAdminHasAnEvent, also a user who is created as an admin, such as the first
// one of a team.
func TestEveryNewAndFormerAdminHasAnEvent(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	begin := a.feed(acme.key, "")
	if first := begin.Events[:2]; first[0].EventType != "scim.user.created" || first[1].EventType != "user.role_changed" ||
		first[1].Targets[0].ID != acme.admin.ID {
		t.Errorf("a team begins with %+v", first)
	}
	cursor := *begin.NextCursor
	scim := map[string]string{"Content-Type": "application/scim+json", "Accept": "application/json"}
	a.do(call{"PUT", "/team/saml-metadata", acme.pat, samlText, map[string]string{"Content-Type": "application/xml"}}).want(t, 200)
	boss := a.do(call{"POST", "/scim/v2/Users", acme.pat, scimUserBody + `boss@x.test","roles":[{"value":"admin"}]}`, scim}).want(t, 201).text(t, "id")
	a.do(call{"DELETE", "/scim/v2/Users/" + boss, acme.scim, nil, scim}).want(t, 204)
	page := a.feed(acme.key, "&after="+cursor)
	var types []string
	for _, e := range page.Events[1:] {
		types = append(types, e.EventType)
		if e.Targets[0].ID != boss {
			t.Errorf("%+v", e)
		}
	}
	if want := []string{"scim.user.created", "user.role_changed", "user.role_changed", "scim.user.deleted"}; !slices.Equal(types, want) {
		t.Errorf("events %v, want %v", types, want)
	}
}

// TestAKeysEventsDescribeIt: a new key's event has its kind, owner, restrictions, scopes and expiry, and whether it may act for
// people. The event of a rotation says that the secret changed and until when the old one works.
func TestAKeysEventsDescribeIt(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki := a.newCollection(acme.key, "wiki")
	cursor := *a.feed(acme.key, "").NextCursor
	expires := a.clock.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	made := a.do(call{"POST", "/api-keys", acme.pat, map[string]any{"kind": "personal", "name": "laptop", "userId": acme.admin.ID,
		"dataSourceIds": []string{wiki}, "scopes": []string{"read", "ask"}, "expiresAt": expires}, nil}).want(t, 201)
	rotated := a.do(call{"POST", "/api-keys/" + made.text(t, "id") + "/rotate", acme.pat, map[string]int{"overlapSeconds": 60}, nil}).want(t, 200)
	acting := a.do(call{"POST", "/api-keys", acme.pat, map[string]any{"kind": "team", "name": "bot", "actFor": true}, nil}).want(t, 201)
	var page struct {
		Events []struct {
			Changes []struct {
				Field string
				To    any
			}
		}
	}
	r := a.do(call{"GET", "/security-events?after=" + cursor, acme.key, nil, nil}).want(t, 200)
	r.json(t, &page)
	got := make([]map[string]any, len(page.Events))
	for i, e := range page.Events {
		got[i] = map[string]any{}
		for _, c := range e.Changes {
			got[i][c.Field] = c.To
		}
	}
	want := []map[string]any{
		{"kind": "personal", "userId": acme.admin.ID, "dataSourceIds": []any{wiki}, "scopes": []any{"read", "ask"}, "expiresAt": expires},
		{"secret": "changed", "previousSecretExpiresAt": a.clock.Now().Add(time.Minute).UTC().Format(time.RFC3339)},
		{"kind": "team", "actFor": true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	for _, secret := range []string{made.text(t, "secret"), rotated.text(t, "secret"), acting.text(t, "secret")} {
		if strings.Contains(string(r.body), secret) {
			t.Error("an event holds a secret")
		}
	}
}

func TestNothingChangedRecordsNothing(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki := a.newCollection(acme.key, "wiki")
	a.putDocument(acme.key, wiki, "https://x.test/1", "T", "B")
	before := a.feed(acme.key, "")
	a.putDocument(acme.key, wiki, "https://x.test/1", "T", "B")
	a.do(call{"PATCH", "/collections/" + wiki, acme.key, map[string]string{"name": "wiki"}, nil}).want(t, 200)
	a.do(call{"DELETE", "/documents/" + unknownID, acme.key, nil, nil}).want(t, 204)
	a.do(call{"DELETE", "/collections/" + unknownID, acme.key, nil, nil}).want(t, 204)
	after := a.feed(acme.key, "&after="+*before.NextCursor)
	if len(after.Events) > 0 || after.HasMore {
		t.Errorf("recorded: %+v", after.Events)
	}
	a.newCollection(acme.key, "blog")
	if again := a.feed(acme.key, "&after="+*after.NextCursor); len(again.Events) != 1 {
		t.Errorf("at once after them: %+v", again.Events)
	}
}

func TestWhoMayReadTheFeed(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme, rival := a.newTenant("acme"), a.newTenant("rival")
	wiki := a.newCollection(acme.key, "wiki")
	member, err := teamtest.CreateUser(t.Context(), a.local.Teams, acme.ID, "member@acme.test", team.RoleMember)
	if err != nil {
		t.Fatal(err)
	}
	_, memberKey := a.newKey(acme.ID, team.NewKey{Kind: team.KindPersonal, Name: "m", UserID: member.ID})
	_, restricted := a.newKey(acme.ID, team.NewKey{Kind: team.KindTeam, Name: "r", DataSourceIDs: []string{wiki}})
	id := a.feed(acme.pat, "").Events[0].ID
	for _, path := range []string{"/security-events", "/security-events/types", "/security-events/" + id} {
		for _, key := range []string{acme.key, acme.pat} {
			a.do(call{"GET", path, key, nil, nil}).want(t, 200)
		}
		a.do(call{"GET", path, memberKey, nil, nil}).wantCode(t, 403, "admin-required")
		a.do(call{"GET", path, restricted, nil, nil}).wantCode(t, 403, "key-restricted")
		a.do(call{"GET", path, acme.scim, nil, nil}).wantCode(t, 403, "wrong-key-kind")
	}
	a.do(call{"GET", "/security-events/" + id, rival.key, nil, nil}).wantCode(t, 404, "not-found")
	a.do(call{"GET", "/security-events?since=" + id, rival.key, nil, nil}).wantCode(t, 400, "invalid-request")
	cursor := *a.feed(acme.key, "").NextCursor
	a.do(call{"GET", "/security-events?after=" + cursor, rival.key, nil, nil}).wantCode(t, 400, "invalid-cursor")
	a.do(call{"GET", "/security-events?format=xml", acme.key, nil, nil}).wantCode(t, 400, "invalid-request")

	// The refusals are recorded once a minute each; the reads are not.
	counts := map[string]int{}
	for range 5 {
		a.do(call{"GET", "/security-events", memberKey, nil, nil}).want(t, 403)
	}
	for _, e := range a.feed(acme.key, "&eventType=auth.access_denied").Events {
		counts[e.Outcome.Reason]++
	}
	if want := map[string]int{"admin-required": 3, "key-restricted": 3, "wrong-key-kind": 3}; !maps.Equal(counts, want) {
		t.Errorf("refusals %v, want %v", counts, want)
	}
}

// TestAFloodOfRefusalsCannotFillTheFeed: however often one key is refused, also in parallel, the
// feed gets one event per minute for each operation and reason.
func TestAFloodOfRefusalsCannotFillTheFeed(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	_, restricted := a.newKey(acme.ID, team.NewKey{Kind: team.KindTeam, Name: "r", DataSourceIDs: []string{a.newCollection(acme.key, "wiki")}})
	before := a.feed(acme.key, "")
	const each = 200
	var clients sync.WaitGroup
	for n := range 10 {
		clients.Go(func() {
			for i := range each / 10 {
				id := numberedID(1000*n + i)
				a.do(call{"GET", "/security-events/" + id, restricted, nil, nil}).want(t, 403)
				a.do(call{"GET", "/security-events?after=" + id, restricted, nil, map[string]string{"User-Agent": id}}).want(t, 403)
				a.do(call{"DELETE", "/api-keys/" + id, restricted, nil, nil}).want(t, 403)
				a.do(call{"PATCH", "/team", restricted, map[string]string{"name": id}, nil}).want(t, 403)
			}
		})
	}
	clients.Wait()
	a.clock.Advance(audit.Grace) // a number lost to a racing refusal is closed
	page := a.feed(acme.key, "&after="+*before.NextCursor)
	if len(page.Events) != 4 || page.HasMore {
		t.Errorf("%d events of %d refusals: %+v", len(page.Events), 4*each, page.Events)
	}
	if len(a.feed(acme.key, "&outcome=failure").Events) != 4 {
		t.Error("the filter gives others")
	}
}

// TestTheListOfTypesIsTheCatalogue: clients can read about every type.
func TestTheListOfTypesIsTheCatalogue(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	var listed []struct {
		EventType, Category, Severity, Description string
		OCSF                                       map[string]int
	}
	a.do(call{"GET", "/security-events/types", acme.key, nil, nil}).want(t, 200).json(t, &listed)
	if len(listed) != len(audit.Catalogue) {
		t.Fatalf("%d types of %d", len(listed), len(audit.Catalogue))
	}
	for i, e := range audit.Catalogue {
		got := listed[i]
		if got.EventType != string(e.Type) || got.Category != e.Category || got.Severity != e.Severity || got.Description != e.Description ||
			got.OCSF["class_uid"] != e.Class || got.OCSF["activity_id"] != e.Activity {
			t.Errorf("listed %+v, of %+v", got, e)
		}
		a.do(call{"GET", "/security-events?eventType=" + got.EventType + "&category=" + got.Category, acme.key, nil, nil}).want(t, 200)
	}
}

func TestARevokedKeyIsRecorded(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	id, secret := a.newKey(acme.ID, team.NewKey{Kind: team.KindTeam, Name: "old"})
	if err := a.local.Teams.RevokeKey(t.Context(), acme.ID, id); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		a.do(call{"GET", "/collections", secret, nil, nil}).want(t, 401)
	}
	page := a.feed(acme.key, "&eventType=auth.key.rejected")
	if len(page.Events) != 1 || page.Events[0].Outcome.Reason != "revoked" || page.Events[0].Targets[0].ID != id {
		t.Errorf("%+v", page.Events)
	}
	a.clock.Advance(time.Minute)
	a.do(call{"GET", "/collections", secret, nil, nil}).want(t, 401)
	if page = a.feed(acme.key, "&eventType=auth.key.rejected"); len(page.Events) != 2 {
		t.Errorf("a minute later: %+v", page.Events)
	}
}

func TestSpentQuotasAreRecordedOnce(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	for range 1000 {
		a.do(call{"GET", "/usage/quotas", acme.pat, nil, nil}).want(t, 200)
	}
	for range 3 {
		a.do(call{"GET", "/usage/quotas", acme.pat, nil, nil}).wantCode(t, 429, "quota-exceeded")
	}
	page := a.feed(acme.key, "&category=activity")
	if len(page.Events) != 1 || page.Events[0].Targets[0].ID != "pat-day" || page.Events[0].Actor.ID != acme.admin.ID {
		t.Errorf("%+v", page.Events)
	}
}

func TestPollingAndBoundedPages(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		a.newCollection(acme.key, name)
	}
	var polled []string
	query := ""
	for {
		r := a.do(call{"GET", "/security-events?limit=3" + query, acme.key, nil, nil}).want(t, 200)
		var page feedPage
		r.json(t, &page)
		if page.NextCursor == nil || !strings.Contains(r.Header.Get("Link"), `rel="next"`) {
			t.Fatalf("a polling page without a cursor: %s", r.body)
		}
		for _, e := range page.Events {
			polled = append(polled, e.ID)
		}
		if query = "&after=" + *page.NextCursor; len(page.Events) == 0 {
			if r.Header.Get("Retry-After") != "30" {
				t.Errorf("Retry-After %q", r.Header.Get("Retry-After"))
			}
			break
		}
	}
	a.clock.Advance(time.Minute)
	var down []string
	query = "&until=9999-12-31T00:00:00Z&order=desc"
	for {
		var page feedPage
		r := a.do(call{"GET", "/security-events?limit=3" + query, acme.key, nil, nil}).want(t, 200)
		r.json(t, &page)
		for _, e := range page.Events {
			down = append(down, e.ID)
		}
		if (page.NextCursor != nil) != page.HasMore || (r.Header.Get("Link") != "") != page.HasMore {
			t.Fatalf("bounded: %s", r.body)
		}
		if !page.HasMore {
			break
		}
		query = "&order=desc&after=" + *page.NextCursor
	}
	slices.Reverse(down)
	if len(polled) != 10 || !slices.Equal(polled, down) { // a user, an admin, three keys, five collections
		t.Errorf("polled %v, downwards %v", polled, down)
	}
}
