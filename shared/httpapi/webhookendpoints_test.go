package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"docent/shared/team"
	"docent/shared/webhook"
)

func (a *api) newWebhook(key, address string) (id, secret string) {
	a.t.Helper()
	r := a.do(call{"POST", "/webhook-endpoints", key, map[string]any{"url": address, "eventTypes": []string{"collection.created"}}, nil}).want(a.t, 201)
	return r.text(a.t, "id"), r.text(a.t, "secret")
}

func TestWebhookEndpointsRefuseWhatTheyCannotPostTo(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	good := map[string]any{"url": "https://hooks.test/", "eventTypes": []string{"document.indexed"}}
	with := func(name string, value any) map[string]any {
		out := map[string]any{"url": good["url"], "eventTypes": good["eventTypes"]}
		out[name] = value
		return out
	}
	for _, url := range []string{"http://hooks.test/", "https://127.0.0.1/", "http://127.0.0.1:8080/", "https://localhost/", "https://[::1]/", "https://10.0.0.1/",
		"https://169.254.169.254/latest", "https://metadata.google.internal/", "https://intranet/", "https://u:p@hooks.test/", "ftp://hooks.test/", "hooks.test", "https://",
		"https://hooks.test:99999/", "https://hooks.test/#x", "https://0x7f.1/", "https://hooks.test/" + strings.Repeat("a", 2048)} {
		a.refused(call{"POST", "/webhook-endpoints", acme.pat, with("url", url), nil}, 400, "invalid-request")
	}
	for _, url := range []string{"%zz", "https://x y/", "https://hooks.test:port/"} {
		if r := a.refused(call{"POST", "/webhook-endpoints", acme.pat, with("url", url), nil}, 400, "invalid-request"); !strings.Contains(string(r.body), `{"pointer":"/url","detail":"must be a`) ||
			strings.Contains(string(r.body), "%!") {
			t.Errorf("%s: %s", url, r.body)
		}
	}
	for name, types := range map[string][]string{"none": {}, "unknown": {"document.read"}, "twice": {"answer.failed", "answer.failed"}, "test": {"webhook.test"}} {
		if r := a.refused(call{"POST", "/webhook-endpoints", acme.pat, with("eventTypes", types), nil}, 400, "invalid-request"); !strings.Contains(string(r.body), "/eventTypes") {
			t.Errorf("%s: %s", name, r.body)
		}
	}
	id, _ := a.newWebhook(acme.pat, "https://hooks.test/")
	a.refused(call{"PATCH", "/webhook-endpoints/" + id, acme.pat, map[string]any{"url": "https://10.0.0.1/"}, nil}, 400, "invalid-request")
	if got := a.members(call{"GET", "/webhook-endpoints", acme.pat, nil, nil}, "url"); fmt.Sprint(got) != "[https://hooks.test/]" {
		t.Errorf("urls %v", got)
	}
	a.refused(call{"GET", "/webhook-endpoints", acme.key, nil, nil}, 403, "admin-required")
}

// TestSecurityEventsGoOnlyWhereTheScopeAuditSendsThem: a key that may not read the feed does not have it delivered to
// itself. It still changes the rest of such an endpoint, and removes it.
func TestSecurityEventsGoOnlyWhereTheScopeAuditSendsThem(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	key := func(scopes ...team.Scope) string {
		_, key := a.newKey(acme.ID, team.NewKey{Kind: team.KindPersonal, Name: "limited", UserID: acme.admin.ID, Scopes: scopes})
		return key
	}
	manages, audits := key(team.ScopeManage), key(team.ScopeManage, team.ScopeAudit)
	own, security := []string{"answer.completed", "source.failed"}, []string{"answer.completed", "api_key.created"}
	const here, there = "https://hooks.test/", "https://evil.test/"
	for name, c := range map[string]struct {
		types   []string // of an endpoint here; nil: it is created
		change  map[string]any
		refused bool
	}{
		"a new one":                  {nil, map[string]any{"url": here, "eventTypes": security}, true},
		"a new disabled one":         {nil, map[string]any{"url": here, "eventTypes": security, "disabled": true}, true},
		"a new one without them":     {nil, map[string]any{"url": here, "eventTypes": own}, false},
		"a type":                     {own, map[string]any{"eventTypes": security}, true},
		"another type":               {security, map[string]any{"eventTypes": []string{"api_key.created", "api_key.revoked"}}, true},
		"another address":            {security, map[string]any{"url": there}, true},
		"another address, and types": {own, map[string]any{"url": there, "eventTypes": security}, true},
		"another address, none left": {security, map[string]any{"url": there, "eventTypes": own}, false},
		"another address for own":    {own, map[string]any{"url": there}, false},
		"the same address":           {security, map[string]any{"url": here}, false},
		"disabled":                   {security, map[string]any{"disabled": true}, false},
		"a description":              {security, map[string]any{"description": "For the SIEM"}, false},
		"the same types, turned":     {security, map[string]any{"eventTypes": []string{"api_key.created", "answer.completed"}}, false},
		"fewer types":                {security, map[string]any{"eventTypes": []string{"api_key.created"}}, false},
		"a type that does not exist": {own, map[string]any{"eventTypes": []string{"api_key.unknown"}}, false},
		"nothing":                    {security, map[string]any{}, false},
	} {
		method, path := "POST", "/webhook-endpoints"
		if c.types != nil {
			method = "PATCH"
			path += "/" + a.do(call{"POST", path, acme.pat, map[string]any{"url": here, "eventTypes": c.types}, nil}).want(t, 201).text(t, "id")
		}
		got := a.do(call{method, path, manages, c.change, nil})
		if refused := got.StatusCode == 403 && got.text(t, "code") == "missing-scope" && strings.Contains(got.text(t, "detail"), "lacks the scope audit"); refused != c.refused {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
		}
		if c.refused && c.types != nil {
			kept := a.do(call{"GET", path, acme.pat, nil, nil}).want(t, 200)
			if kept.text(t, "url") != here || fmt.Sprint(kept.any(t, "eventTypes")) != fmt.Sprint(c.types) {
				t.Errorf("%s: refused, and stored as %s", name, kept.body)
			}
		}
		if c.refused {
			got = a.do(call{method, path, audits, c.change, nil})
			if got.StatusCode > 201 {
				t.Errorf("%s with audit: %d %s", name, got.StatusCode, got.body)
			}
		}
		for _, id := range a.members(call{"GET", "/webhook-endpoints", acme.pat, nil, nil}, "id") {
			a.do(call{"DELETE", "/webhook-endpoints/" + id, manages, nil, nil}).want(t, 204)
		}
	}
}

func TestATeamHasALimitOfWebhookEndpoints(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	var id string
	for i := range webhook.MaxPerTeam {
		id, _ = a.newWebhook(acme.pat, fmt.Sprintf("https://hooks.test/%d", i))
	}
	a.refused(newWebhookEndpoint.as(acme.pat), 409, "webhook-endpoint-limit")
	a.do(call{"DELETE", "/webhook-endpoints/" + id, acme.pat, nil, nil}).want(t, 204)
	a.newWebhook(acme.pat, "https://hooks.test/again")
	if page := a.members(call{"GET", "/webhook-endpoints?limit=3", acme.pat, nil, nil}, "url"); len(page) != 3 || page[0] != "https://hooks.test/0" {
		t.Errorf("the first page %v", page)
	}
}

func TestAnotherTeamsWebhooksAreAbsent(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme, rival := a.newTenant("acme"), a.newTenant("rival")
	id, _ := a.newWebhook(acme.pat, "https://hooks.test/")
	delivery := a.do(call{"POST", "/webhook-endpoints/" + id + "/test", acme.pat, nil, nil}).want(t, 202).text(t, "id")
	for _, c := range []call{
		{"GET", "", "", nil, nil}, {"PATCH", "", "", map[string]any{"disabled": true}, nil}, {"DELETE", "", "", nil, nil}, {"POST", "/rotate", "", nil, nil},
		{"POST", "/test", "", nil, nil}, {"GET", "/deliveries", "", nil, nil}, {"POST", "/deliveries/" + delivery + "/replay", "", nil, nil},
	} {
		c.path = "/webhook-endpoints/" + id + c.path
		a.refused(c.as(rival.pat), 404, "not-found")
	}
	a.do(call{"GET", "/webhook-endpoints/" + id, acme.pat, nil, nil}).want(t, 200)
	a.refused(call{"POST", "/webhook-endpoints/" + id + "/deliveries/msg_unknown/replay", acme.pat, nil, nil}, 404, "not-found")
	a.do(call{"PATCH", "/webhook-endpoints/" + id, acme.pat, map[string]any{"disabled": true}, nil}).want(t, 200)
	a.refused(call{"POST", "/webhook-endpoints/" + id + "/test", acme.pat, nil, nil}, 409, "webhook-endpoint-disabled")
}

func TestWebhookSecretsAreShownOnce(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	id, secret := a.newWebhook(acme.pat, "https://hooks.test/path-of-its-own")
	rotated := a.do(call{"POST", "/webhook-endpoints/" + id + "/rotate", acme.pat, nil, nil}).want(t, 200).text(t, "secret")
	if !strings.HasPrefix(secret, "whsec_") || !strings.HasPrefix(rotated, "whsec_") || secret == rotated {
		t.Errorf("secrets %q, %q", secret, rotated)
	}
	seen := string(a.do(call{"GET", "/webhook-endpoints/" + id, acme.pat, nil, nil}).want(t, 200).body) +
		string(a.do(call{"GET", "/security-events", acme.key, nil, nil}).want(t, 200).body) + a.log.String()
	for _, text := range []string{secret, rotated, strings.TrimPrefix(secret, "whsec_")} {
		if strings.Contains(seen, text) {
			t.Errorf("a secret is shown again")
		}
	}
}
