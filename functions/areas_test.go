package functions_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"docent/shared/app"
	"docent/shared/deployed"
	"docent/shared/scim/scimtest"
	"docent/shared/search"
	"docent/shared/table"
	"docent/testkit/lambdarun"
)

// nowhere is the address of a provider that cannot be reached (RFC 6761 section 6.4).
const nowhere = "https://github.invalid/api/v3"

// TestAdministrationThroughTheBinaries covers keys, a data source whose secret only KMS can read, its content by
// import and by webhook, and what agents find of it.
func TestAdministrationThroughTheBinaries(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	admin := c.as(c.admin)
	c.want(c.do("GET", "/me", nil), 200, c.team)
	c.want(c.do("PATCH", "/team", map[string]any{"name": "x"}), 403, `"admin-required"`)
	c.want(admin.do("PATCH", "/team", map[string]any{"name": "Acme Corporation"}), 200, "Acme Corporation")
	made := c.want(admin.do("POST", "/api-keys", map[string]any{"kind": "team", "name": "bot"}), 201, `"secret"`)
	var key struct{ ID, Secret string }
	decode(t, made.body, &key)
	c.want(c.as(key.Secret).do("GET", "/collections", nil), 200, "[]")
	c.want(admin.do("DELETE", "/api-keys/"+key.ID, nil), 204)

	const token = "github-token-of-the-test"
	connected := c.want(admin.do("POST", "/data-sources", map[string]any{"provider": "github", "name": "Code",
		"settings": map[string]any{"repositories": []string{"acme/api"}, "accessToken": token, "baseUrl": nowhere}}), 201, "provider-failed")
	var source struct{ ID, WebhookSecret string }
	decode(t, connected.body, &source)
	for _, name := range table.Names {
		for _, item := range c.items(name) {
			if strings.Contains(item, token) || strings.Contains(item, source.WebhookSecret) {
				t.Errorf("a secret is stored in clear: %.300s", item)
			}
		}
	}
	c.want(admin.do("POST", "/data-sources/"+source.ID+"/items", `{"uri":"https://tracker.test/issues/1","title":"Login fails",`+
		`"body":"On Safari.","sourceType":"issue","state":"open"}`, "Content-Type", "application/x-ndjson"), 200, `"accepted":1`)
	const delivery = `{"action":"opened","repository":{"full_name":"acme/api"},"issue":{"html_url":"https://tracker.test/issues/2","number":2,` +
		`"title":"Login is slow","body":"Very.","state":"open","user":{"login":"ada"},"created_at":"2026-05-01T00:00:00Z","updated_at":"2026-05-01T00:00:00Z"}}`
	signed := hmac.New(sha256.New, []byte(source.WebhookSecret))
	signed.Write([]byte(delivery))
	sender := c.as("none")
	c.want(sender.do("POST", "/webhooks/github/"+source.ID, delivery, "X-Github-Event", "issues", "X-Github-Delivery", "1",
		"X-Hub-Signature-256", "sha256="+hex.EncodeToString(signed.Sum(nil))), 202)
	c.want(sender.do("POST", "/webhooks/github/"+source.ID, delivery, "X-Github-Event", "issues", "X-Github-Delivery", "2",
		"X-Hub-Signature-256", "sha256="+hex.EncodeToString(make([]byte, 32))), 401)
	c.drain()

	c.want(c.do("POST", "/context/search/issues", map[string]any{"query": "login"}), 200, "issues/1", "issues/2")
	call := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": "context_query_issues", "arguments": map[string]any{"query": "open issues about the login"}}}
	c.want(c.do("POST", "/mcp", call), 200, "issues/1", "issues/2")
	c.want(c.do("GET", "/nothing", nil), 404, `"not-found"`, `"requestId":"`)
	c.want(c.do("GET", "/documents/100%25", nil), 404, "no such document") // an unknown id, as docent serve says
	c.want(c.do("DELETE", "/documents/a%00b%3F", nil), 204)
	c.want(sender.do("GET", "/nothing", nil), 401, `"unauthorized"`)

	if log := c.log.String(); strings.Contains(log, token) || strings.Contains(log, source.WebhookSecret) || strings.Contains(log, key.Secret) {
		t.Error("a secret is logged")
	}
}

// TestProvisioningThroughTheBinaries covers an identity provider's user, and what the feed and the usage report
// show of it.
func TestProvisioningThroughTheBinaries(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	admin := c.as(c.admin)
	c.want(c.do("GET", "/scim/v2/Users", nil), 403, "SAML")
	c.want(admin.do("PUT", "/team/saml-metadata", scimtest.Metadata, "Content-Type", "application/samlmetadata+xml"), 200, "https://idp.test/")
	user := c.id(c.want(c.do("POST", "/scim/v2/Users", `{"userName":"grace@acme.test","active":true}`, "Content-Type", "application/scim+json"), 201))
	c.want(c.do("POST", "/scim/v2/Users", `{"userName":"GRACE@acme.test"}`, "Content-Type", "application/scim+json"), 409, "uniqueness")
	c.want(c.do("PATCH", "/scim/v2/Users/"+user, `{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],`+
		`"Operations":[{"op":"replace","value":{"active":false}}]}`, "Content-Type", "application/scim+json"), 200, `"active":false`)

	feed := c.want(c.do("GET", "/security-events", nil), 200, "saml_metadata.updated", "scim.user.created", "scim.user.deactivated")
	var page struct {
		Events     []struct{ ID string }
		NextCursor string
	}
	decode(t, feed.body, &page)
	c.want(c.do("GET", "/security-events/"+page.Events[0].ID, nil), 200, page.Events[0].ID)
	c.want(c.do("GET", "/security-events?after="+page.NextCursor, nil), 200, `"events":[]`, `"hasMore":false`)
	c.want(admin.do("GET", "/usage/quotas", nil), 200, `"limit":1000`)
	c.want(admin.do("GET", "/usage?start=2026-11-20", nil), 200, `"buckets"`)
}

// TestASyncThroughTheBinaries checks that a source that cannot be read says so, is tried again, and reveals its
// secret to no one. The deployed binary reaches public addresses only.
func TestASyncThroughTheBinaries(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	const token = "github-token-of-the-sync"
	c.want(c.as(c.admin).do("POST", "/data-sources", map[string]any{"provider": "github", "name": "Inside",
		"settings": map[string]any{"repositories": []string{"acme/api"}, "accessToken": token, "baseUrl": "https://127.0.0.1:9"}}), 400, "/settings/baseUrl")
	c.want(c.as(c.admin).do("POST", "/data-sources", map[string]any{"provider": "github", "name": "Code",
		"settings": map[string]any{"repositories": []string{"acme/api"}, "accessToken": token, "baseUrl": nowhere}}), 201)
	delivery, err := lambdarun.Deliver(t.Context(), c.syncs, c.functions["syncing"].Invoke, 1)
	if err != nil || delivery.Err != nil || delivery.Received != 1 || delivery.Failed != 0 {
		t.Fatalf("delivery %+v, %v", delivery, err)
	}
	c.want(c.do("GET", "/data-sources", nil), 200, `"state":"failed"`, `"provider-failed"`, `"next":"`)
	later := c.config
	later.Now = func() time.Time { return time.Now().Add(5 * time.Minute) }
	c.sweep(later)
	if batch, err := c.syncs.Receive(t.Context(), 1, 0); err != nil || len(batch) != 1 {
		t.Errorf("%d messages of the next sync, %v", len(batch), err)
	}
	if strings.Contains(c.log.String(), token) {
		t.Error("the secret is logged")
	}
}

// TestARebuildThroughTheBinaries starts a rebuild by an operator's command. The indexing function does it from its
// queue, and what was found before is found after it.
func TestARebuildThroughTheBinaries(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	wiki := c.id(c.want(c.do("POST", "/collections", map[string]any{"name": "wiki", "description": "All"}), 201))
	for _, page := range []string{"zebra", "lion", "gnu"} {
		c.want(c.do("PUT", "/documents", map[string]any{"collectionId": wiki, "uri": "https://wiki.test/" + page, "title": page, "body": "The " + page + " grazes."}), 200)
	}
	c.drain()
	rebuilds := app.RebuildsOnAWS(c.config, slog.New(slog.DiscardHandler))
	if n, err := rebuilds.Start(t.Context(), c.team); err != nil || n != 1 {
		t.Fatalf("started %d: %v", n, err)
	}
	status := func() search.FamilyStatus {
		t.Helper()
		families, err := rebuilds.Status(t.Context(), c.team)
		if err != nil || len(families) != 2 || families[0].Vectors || !families[1].Vectors {
			t.Fatalf("%+v, %v", families, err)
		}
		return families[0]
	}
	if s := status(); s.Rebuild == nil || s.Outdated["asked for"] != s.Segments {
		t.Errorf("started: %+v", s)
	}
	delivery, err := lambdarun.Deliver(t.Context(), c.rebuilds, c.functions["indexing"].Invoke, 1)
	if err != nil || delivery.Err != nil || delivery.Received != 1 || delivery.Failed != 0 {
		t.Fatalf("delivery %+v, %v", delivery, err)
	}
	if s := status(); s.Rebuild != nil || len(s.Outdated) > 0 || s.Documents != 3 || s.Segments != 1 {
		t.Errorf("finished: %+v", s)
	}
	c.want(c.do("POST", "/context/search", map[string]any{"query": "lion"}), 200, "https://wiki.test/lion")
}

// TestWithoutAKeyOfSecretsNoneIsTaken checks that an installation without a key refuses sources with secrets, says
// why, and accepts the others.
func TestWithoutAKeyOfSecretsNoneIsTaken(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	delete(c.env, deployed.SecretsKey)
	for _, f := range deployed.Functions {
		if f.CatchAll {
			c.serve(f)
		}
	}
	admin := c.as(c.admin)
	c.want(admin.do("POST", "/data-sources", map[string]any{"provider": "github", "name": "Code",
		"settings": map[string]any{"repositories": []string{"acme/api"}}}), 503, "no key to encrypt secrets with")
	c.want(admin.do("POST", "/data-sources", map[string]any{"provider": "jira", "name": "Tracker"}), 201)
	c.want(c.do("GET", "/data-sources", nil), 200, "Tracker")
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}
