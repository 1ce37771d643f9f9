package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/app/parts/identity"
	"docent/shared/team"
	"docent/shared/team/teamtest"
)

func TestMe(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	me := a.do(call{"GET", "/me", x.pat, nil, nil}).want(t, 200)
	if me.text(t, "team.name") != "acme" || me.text(t, "user.role") != "admin" || me.text(t, "key.kind") != "personal" || me.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s", me.body)
	}
	for _, key := range []string{x.key, x.scim} {
		me := a.do(call{"GET", "/me", key, nil, nil}).want(t, 200)
		if strings.Contains(string(me.body), `"user":`) || !strings.Contains(string(me.body), `"userId":null`) {
			t.Errorf("%s", me.body)
		}
	}
}

func TestTeam(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	for _, key := range []string{x.pat, x.key, x.scim} {
		if got := a.do(call{"GET", "/team", key, nil, nil}).want(t, 200); got.text(t, "createdAt") != "2026-11-21T12:00:00.000Z" || !strings.Contains(string(got.body), `"samlConfigured":false`) {
			t.Errorf("%s", got.body)
		}
	}
	changed := a.do(call{"PATCH", "/team", x.pat, map[string]any{"name": "Acme Ltd", "webFetch": true}, nil}).want(t, 200)
	if changed.text(t, "name") != "Acme Ltd" || !strings.Contains(string(changed.body), `"webFetch":true`) {
		t.Errorf("%s", changed.body)
	}
	if got := a.do(call{"PATCH", "/team", x.pat, map[string]any{}, nil}).want(t, 200); string(got.body) != string(changed.body) {
		t.Errorf("an empty change gave %s", got.body)
	}
	for _, body := range []any{map[string]any{"name": ""}, map[string]any{"name": strings.Repeat("é", 101)}, map[string]any{"webFetch": "yes"}, "[]", "{"} {
		a.do(call{"PATCH", "/team", x.pat, body, nil}).wantCode(t, 400, "invalid-request")
	}
	a.do(call{"PATCH", "/team", x.pat, map[string]any{"name": strings.Repeat("é", 100)}, nil}).want(t, 200)
}

// TestMeOfARevokedKeyIs401: another process revoked it, and this one has it in memory for some seconds. 404 would say that the
// server has no such operation.
func TestMeOfARevokedKeyIs401(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	id, key := a.newKey(x.ID, team.NewKey{Kind: team.KindTeam, Name: "short"})
	me := call{"GET", "/me", key, nil, nil}
	a.do(me).want(t, 200)
	elsewhere := &team.Service{Table: a.local.Teams.Table, Now: a.clock.Now, NewID: uuid.NewString}
	if err := elsewhere.RevokeKey(t.Context(), x.ID, id); err != nil {
		t.Fatal(err)
	}
	a.do(call{"GET", "/collections", key, nil, nil}).want(t, 200)
	if got := a.do(me).wantCode(t, 401, "unauthorized"); got.Header.Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("%v", got.Header)
	}
}

// TestOnlyAdminsAdminister walks over every operation of the area.
func TestOnlyAdminsAdminister(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	member, err := teamtest.CreateUser(t.Context(), a.local.Teams, x.ID, "member", team.RoleMember)
	if err != nil {
		t.Fatal(err)
	}
	_, memberKey := a.newKey(x.ID, team.NewKey{Kind: team.KindPersonal, Name: "m", UserID: member.ID})
	collection := a.do(call{"POST", "/collections", x.key, map[string]string{"name": "n", "description": "d"}, nil}).want(t, 201).text(t, "id")
	_, restricted := a.newKey(x.ID, team.NewKey{Kind: team.KindPersonal, Name: "r", UserID: x.admin.ID, DataSourceIDs: []string{collection}})
	xml := map[string]string{"Content-Type": "application/xml"}
	for _, c := range []call{
		{"PATCH", "/team", "", map[string]any{}, nil},
		{"GET", "/team/saml-metadata", "", nil, nil},
		{"PUT", "/team/saml-metadata", "", samlText, xml},
		{"PUT", "/team/saml-metadata/url", "", map[string]any{"url": samlAddress}, nil},
		{"DELETE", "/team/saml-metadata", "", nil, nil},
		{"GET", "/api-keys", "", nil, nil},
		{"POST", "/api-keys", "", map[string]any{"kind": "scim", "name": "n"}, nil},
		{"POST", "/api-keys/" + x.keyID + "/rotate", "", nil, nil},
		{"DELETE", "/api-keys/" + x.keyID, "", nil, nil},
	} {
		for key, code := range map[string]string{memberKey: "admin-required", x.key: "admin-required", x.scim: "wrong-key-kind", restricted: "key-restricted"} {
			c.key = key
			a.do(c).wantCode(t, 403, code)
		}
		c.key = ""
		if got := a.do(c).wantCode(t, 401, "unauthorized").Header.Get("WWW-Authenticate"); got != "Bearer" {
			t.Errorf("%s %s: WWW-Authenticate %q", c.method, c.path, got)
		}
	}
	for _, path := range []string{"/me", "/team"} {
		a.do(call{"GET", path, "", nil, nil}).wantCode(t, 401, "unauthorized")
		a.do(call{"GET", path, restricted, nil, nil}).want(t, 200)
	}
}

func TestAPIKeys(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x, rival := a.newTenant("acme"), a.newTenant("rival")
	expires := a.clock.Now().Add(time.Hour).Format(time.RFC3339)
	made := a.do(call{"POST", "/api-keys", x.pat, map[string]any{"kind": "team", "name": "CI", "expiresAt": expires}, nil}).want(t, 201)
	id, secret := made.text(t, "id"), made.text(t, "secret")
	if made.text(t, "expiresAt") != "2026-11-21T13:00:00.000Z" || made.Header.Get("Cache-Control") != "no-store" ||
		!strings.Contains(string(made.body), `"dataSourceIds":null`) || !strings.Contains(string(made.body), `"lastUsedAt":null`) {
		t.Errorf("%s", made.body)
	}
	if made.text(t, "hint") != secret[len(secret)-4:] || made.text(t, "createdBy") != x.admin.ID {
		t.Errorf("hint and creator of %s: %s", secret, made.body)
	}
	if operators := a.do(call{"GET", "/me", x.key, nil, nil}).want(t, 200); !strings.Contains(string(operators.body), `"createdBy":null`) {
		t.Errorf("a key of the operator: %s", operators.body)
	}
	a.do(call{"GET", "/collections", secret, nil, nil}).want(t, 200)
	list := a.do(call{"GET", "/api-keys", x.pat, nil, nil}).want(t, 200)
	if strings.Contains(string(list.body), secret[len(secret)-20:]) || !strings.Contains(string(list.body), `"lastUsedAt":"2026-11-21T12:00:00.000Z"`) {
		t.Errorf("%s", list.body)
	}

	rotated := a.do(call{"POST", "/api-keys/" + id + "/rotate", x.pat, nil, nil}).want(t, 200)
	if rotated.text(t, "id") != id || rotated.text(t, "previousSecretExpiresAt") != "2026-11-22T12:00:00.000Z" {
		t.Errorf("%s", rotated.body)
	}
	second := rotated.text(t, "secret")
	if rotated.text(t, "hint") != second[len(second)-4:] || rotated.text(t, "createdBy") != x.admin.ID {
		t.Errorf("hint and creator after a rotation: %s", rotated.body)
	}
	third := a.do(call{"POST", "/api-keys/" + id + "/rotate", x.pat, map[string]any{"overlapSeconds": 60}, nil}).want(t, 200).text(t, "secret")
	a.clock.Advance(10 * time.Second)
	for key, status := range map[string]int{secret: 401, second: 200, third: 200} {
		a.do(call{"GET", "/collections", key, nil, nil}).want(t, status)
	}
	a.clock.Advance(time.Minute)
	a.do(call{"GET", "/collections", second, nil, nil}).want(t, 401)

	for _, other := range []string{rival.keyID, "0000000000000000", "x", "a%2Fb"} {
		a.do(call{"DELETE", "/api-keys/" + other, x.pat, nil, nil}).wantCode(t, 404, "not-found")
		a.do(call{"POST", "/api-keys/" + other + "/rotate", x.pat, nil, nil}).wantCode(t, 404, "not-found")
	}
	a.do(call{"DELETE", "/api-keys/" + id, x.pat, nil, nil}).want(t, 204)
	a.do(call{"DELETE", "/api-keys/" + id, x.pat, nil, nil}).wantCode(t, 404, "not-found")
	a.clock.Advance(10 * time.Second)
	a.do(call{"GET", "/collections", third, nil, nil}).want(t, 401)

	for _, body := range []any{
		map[string]any{}, map[string]any{"kind": "team"}, map[string]any{"kind": "root", "name": "n"}, map[string]any{"kind": "team", "name": ""},
		map[string]any{"kind": "team", "name": strings.Repeat("n", 101)}, map[string]any{"kind": "personal", "name": "n"},
		map[string]any{"kind": "team", "name": "n", "userId": x.admin.ID}, map[string]any{"kind": "personal", "name": "n", "userId": rival.admin.ID},
		map[string]any{"kind": "scim", "name": "n", "dataSourceIds": []string{unknownID}}, map[string]any{"kind": "team", "name": "n", "dataSourceIds": []string{}},
		map[string]any{"kind": "team", "name": "n", "dataSourceIds": []string{unknownID}}, map[string]any{"kind": "team", "name": "n", "expiresAt": "2026-11-21T12:00:00Z"},
		map[string]any{"kind": "team", "name": "n", "expiresAt": "tomorrow"}, "", "null", "[1]",
	} {
		a.do(call{"POST", "/api-keys", x.pat, body, nil}).wantCode(t, 400, "invalid-request")
	}
	for _, body := range []any{map[string]any{"overlapSeconds": -1}, map[string]any{"overlapSeconds": 604801}, map[string]any{"overlapSeconds": "1"}} {
		a.do(call{"POST", "/api-keys/" + x.keyID + "/rotate", x.pat, body, nil}).wantCode(t, 400, "invalid-request")
	}
	for _, query := range []string{"limit=0", "limit=201", "after=x", "before=!"} {
		if got := a.do(call{"GET", "/api-keys?" + query, x.pat, nil, nil}); got.StatusCode != 400 {
			t.Errorf("%s: %d", query, got.StatusCode)
		}
	}
}

func TestKeysAreListedInPages(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	for i := range 5 {
		a.clock.Advance(time.Second)
		a.newKey(x.ID, team.NewKey{Kind: team.KindTeam, Name: fmt.Sprint(i)})
	}
	seen := map[string]bool{}
	path := "/api-keys?limit=3"
	for path != "" {
		page := a.do(call{"GET", path, x.pat, nil, nil}).want(t, 200)
		var keys []struct{ ID string }
		page.json(t, &keys)
		for _, k := range keys {
			if seen[k.ID] {
				t.Errorf("%s twice", k.ID)
			}
			seen[k.ID] = true
		}
		path = ""
		for link := range strings.SplitSeq(page.Header.Get("Link"), ", ") {
			if strings.HasSuffix(link, `rel="next"`) {
				path = strings.TrimPrefix(link[1:strings.Index(link, ">")], baseURL)
			}
		}
	}
	if len(seen) != 8 { // three of the tenant, five of this test
		t.Errorf("%d keys", len(seen))
	}
}

func TestSAMLMetadata(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	put := func(contentType, text string) response {
		t.Helper()
		return a.do(call{"PUT", "/team/saml-metadata", x.pat, text, map[string]string{"Content-Type": contentType}})
	}
	get := func(accept string) response {
		t.Helper()
		return a.do(call{"GET", "/team/saml-metadata", x.pat, nil, map[string]string{"Accept": accept}})
	}
	get("").wantCode(t, 404, "not-found")
	a.do(call{"DELETE", "/team/saml-metadata", x.pat, nil, nil}).wantCode(t, 404, "not-found")
	for _, media := range []string{"application/samlmetadata+xml", "application/xml", "text/xml; charset=utf-8"} {
		stored := put(media, samlText).want(t, 200)
		if stored.text(t, "entityId") != "https://idp.test/" || stored.text(t, "singleSignOnUrl") != "https://idp.test/sso" || !strings.Contains(string(stored.body), `"notAfter":"2036-`) {
			t.Errorf("%s", stored.body)
		}
		if got := get("application/json").want(t, 200); string(got.body) != string(stored.body)+"\n" && string(got.body) != string(stored.body) {
			t.Errorf("%s, want %s", got.body, stored.body)
		}
	}
	if got := get("application/samlmetadata+xml").want(t, 200); string(got.body) != samlText || got.Header.Get("Content-Type") != "application/samlmetadata+xml" {
		t.Errorf("%s: %s", got.Header.Get("Content-Type"), got.body)
	}
	if got := a.do(call{"GET", "/team", x.key, nil, nil}); !strings.Contains(string(got.body), `"samlConfigured":true`) {
		t.Errorf("%s", got.body)
	}
	put("application/json", `{}`).wantCode(t, 415, "unsupported-media-type")
	put("application/xml", "<x/>").wantCode(t, 400, "invalid-request")
	put("application/xml", samlText+strings.Repeat(" ", 1<<20)).wantCode(t, 413, "request-too-large")
	large := strings.Replace(samlText, "<IDPSSO", "<!--"+strings.Repeat("x", 900<<10)+"--><IDPSSO", 1)
	put("application/xml", large).want(t, 200)
	if got := get("application/samlmetadata+xml").want(t, 200); string(got.body) != large {
		t.Error("large metadata comes back changed")
	}
	a.do(call{"DELETE", "/team/saml-metadata", x.pat, nil, nil}).want(t, 204)
	get("").wantCode(t, 404, "not-found")
}

// TestSlowSAMLAddressesHoldUpNothingElse: more requests than places wait for a provider's server, and another of the team is answered.
func TestSlowSAMLAddressesHoldUpNothingElse(t *testing.T) {
	t.Parallel()
	reached, answer := make(chan bool), make(chan bool)
	parts := partsWith(identity.Providers())
	parts.FetchSAML = func(ctx context.Context, _ string) (team.SAMLProvider, []byte, error) {
		reached <- true
		<-answer
		return fetchSAML(ctx, samlAddress)
	}
	a := newAPIOf(t, parts)
	x := a.newTenant("acme")
	var all sync.WaitGroup
	refused := make(chan response)
	waiting := max(runtime.NumCPU(), 2) + 1
	for range waiting {
		all.Go(func() {
			got := a.do(call{"PUT", "/team/saml-metadata/url", x.pat, map[string]any{"url": samlAddress}, nil})
			if got.StatusCode == http.StatusServiceUnavailable {
				refused <- got
			}
		})
	}
	for range waiting {
		select {
		case <-reached:
		case got := <-refused:
			t.Errorf("%s", got.body)
		}
	}
	a.do(call{"GET", "/team", x.pat, nil, nil}).want(t, 200)
	close(answer)
	all.Wait()
}

// TestSAMLMetadataByAddress: the provider's address is kept until metadata is sent; a refused
// address changes nothing.
func TestSAMLMetadataByAddress(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	put := func(address string) response {
		t.Helper()
		return a.do(call{"PUT", "/team/saml-metadata/url", x.pat, map[string]any{"url": address}, nil})
	}
	for range 2 {
		if got := put(samlAddress).want(t, 200); got.text(t, "metadataUrl") != samlAddress || got.text(t, "entityId") != "https://idp.test/" {
			t.Errorf("%s", got.body)
		}
	}
	if feed := a.feed(x.key, "&eventType=saml_metadata.updated"); len(feed.Events) != 1 {
		t.Errorf("%d events of one change", len(feed.Events))
	}
	for address, reason := range map[string]string{
		"http://idp.example/metadata": "https address", "https://127.0.0.1/metadata": "not public", "https://[::1]/": "not public", "https://169.254.169.254/latest": "not public",
	} {
		if got := put(address).wantCode(t, 400, "invalid-request"); !strings.Contains(string(got.body), reason) || !strings.Contains(string(got.body), `"/url"`) {
			t.Errorf("%s: %s", address, got.body)
		}
	}
	xml := map[string]string{"Content-Type": "application/xml"}
	if got := a.do(call{"GET", "/team/saml-metadata", x.pat, nil, nil}).want(t, 200); got.text(t, "metadataUrl") != samlAddress {
		t.Errorf("after refused addresses: %s", got.body)
	}
	if got := a.do(call{"PUT", "/team/saml-metadata", x.pat, samlText, xml}).want(t, 200); strings.Contains(string(got.body), "metadataUrl") {
		t.Errorf("the same text, sent: %s", got.body)
	}
}
