package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/shared/scim/scimtest"
	"docent/shared/team"
	"docent/shared/team/teamtest"
)

// provisioned is a tenant with SAML metadata.
func (a *api) provisioned(name string) tenant {
	a.t.Helper()
	x := a.newTenant(name)
	if _, err := a.local.Teams.SetSAML(a.t.Context(), x.ID, team.SAMLProvider{EntityID: "https://idp.test/"}, []byte(samlText)); err != nil {
		a.t.Fatal(err)
	}
	return x
}

// raw makes a request without the checks for REST.
func (a *api) raw(c call) response {
	a.t.Helper()
	text, _ := c.body.(string)
	r := httptest.NewRequestWithContext(a.t.Context(), c.method, "/v1"+c.path, strings.NewReader(text))
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	for name, value := range c.header {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	a.handler.ServeHTTP(w, r)
	if route, _, err := router().FindRoute(r); err == nil && route.Operation.Responses.Status(w.Code) == nil {
		a.t.Errorf("%s %s: the OpenAPI document has no %d: %s", c.method, c.path, w.Code, w.Body)
	}
	return response{w.Result(), w.Body.Bytes()}
}

func TestProvidersThroughTheWholeSurface(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.provisioned("acme")
	web := httptest.NewServer(a.handler)
	t.Cleanup(web.Close)
	for _, key := range []string{x.scim, x.key} {
		scimtest.Run(t, web.Client(), web.URL+"/v1/scim/v2", key)
	}
}

func TestErrorFacesOfSCIM(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x, bare := a.provisioned("acme"), a.newTenant("bare")
	a.raw(call{"POST", "/scim/v2/Users", x.scim, `{"userName":"taken"}`, nil}).want(t, 201)
	requests := map[int]call{
		401: {"POST", "/scim/v2/Users", "", `{"userName":"x"}`, nil},
		403: {"POST", "/scim/v2/Users", bare.scim, `{"userName":"x"}`, nil},
		400: {"POST", "/scim/v2/Users", x.scim, `{"userName":""}`, nil},
		404: {"PUT", "/scim/v2/Nope", x.scim, `{"userName":"x"}`, nil},
		405: {"PUT", "/scim/v2/Users", x.scim, `{"userName":"x"}`, nil},
		409: {"POST", "/scim/v2/Users", x.scim, `{"userName":"TAKEN"}`, nil},
	}
	for _, face := range []struct {
		accept, contentType string
		object              bool
	}{
		{"application/scim+json", "", true},
		{"application/json", "", true},
		{"application/*", "", true},
		{"*/*", "", true},
		{"*/*", "application/json", true},
		{"text/plain", "application/json", false},
		{"text/*", "application/scim+json", false},
		{"text/plain, application/json", "", true},
		{"text/plain, application/json;q=0.5", "application/json", false},
		{"text/plain;q=0.5, application/scim+json", "", true},
		{"application/json;q=0, */*;q=0.1", "application/json", true},
		{"", "application/scim+json", true},
		{"", "application/json; charset=utf-8", true},
		{"", "", false},
		{"text/html", "application/json", true},
		{"text/html", "", false},
	} {
		for status, c := range requests {
			c.header = map[string]string{}
			if face.accept != "" {
				c.header["Accept"] = face.accept
			}
			if face.contentType != "" {
				c.header["Content-Type"] = face.contentType
			}
			reply := a.raw(c).want(t, status)
			var body struct {
				Schemas        []string
				Status, Detail string
			}
			media := reply.Header.Get("Content-Type")
			if face.object {
				if err := json.Unmarshal(reply.body, &body); err != nil || body.Status != http.StatusText(status) && body.Status == "" || body.Detail == "" || len(body.Schemas) != 1 || !strings.HasSuffix(media, "json") {
					t.Errorf("Accept %q, Content-Type %q: %d %s %s", face.accept, face.contentType, status, media, reply.body)
				}
			} else if media != "text/plain; charset=utf-8" || strings.Contains(string(reply.body), "{") || len(reply.body) < 5 {
				t.Errorf("Accept %q, Content-Type %q: %d %s %s", face.accept, face.contentType, status, media, reply.body)
			}
			if reply.Header.Get("X-Request-Id") == "" || (status == 401) != (reply.Header.Get("WWW-Authenticate") == "Bearer") || (status == 405) != (reply.Header.Get("Allow") != "") {
				t.Errorf("%d: headers %v", status, reply.Header)
			}
		}
	}
}

func TestWhoMayProvision(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x, bare := a.provisioned("acme"), a.newTenant("bare")
	member, err := teamtest.CreateUser(t.Context(), a.local.Teams, x.ID, "member", team.RoleMember)
	if err != nil {
		t.Fatal(err)
	}
	collection, err := teamtest.CreateUser(t.Context(), a.local.Teams, x.ID, "second", team.RoleAdmin)
	if err != nil {
		t.Fatal(err)
	}
	_, memberKey := a.newKey(x.ID, team.NewKey{Kind: team.KindPersonal, Name: "m", UserID: member.ID})
	_, secondKey := a.newKey(x.ID, team.NewKey{Kind: team.KindPersonal, Name: "s", UserID: collection.ID})
	for name, c := range map[string]struct {
		key    string
		status int
		detail string
	}{
		"scim key":                   {x.scim, 200, ""},
		"team key":                   {x.key, 200, ""},
		"personal key of an admin":   {x.pat, 200, ""},
		"of another admin":           {secondKey, 200, ""},
		"personal key of a member":   {memberKey, 403, "admin"},
		"a team without SAML":        {bare.scim, 403, "SAML"},
		"an admin of it":             {bare.pat, 403, "SAML"},
		"no key":                     {"", 401, "API key"},
		"a key that is none":         {"x", 401, "API key"},
		"a scim key with a bad end":  {x.scim[:len(x.scim)-1] + "!", 401, "API key"},
		"a key for another audience": {strings.Replace(x.scim, "docent_scim_", "docent_team_", 1), 401, "API key"},
	} {
		for _, path := range []string{"/scim/v2/Users", "/scim/v2", "/scim/v2/", "/scim/v2/ServiceProviderConfig", "/scim/v2/Schemas"} {
			reply := a.raw(call{"GET", path, c.key, nil, map[string]string{"Accept": "*/*"}})
			if reply.StatusCode != c.status || !strings.Contains(string(reply.body), c.detail) {
				t.Errorf("%s, %s: %d %s", name, path, reply.StatusCode, reply.body)
			}
		}
	}
	if err := a.local.Teams.RemoveSAML(t.Context(), x.ID); err != nil {
		t.Fatal(err)
	}
	a.raw(call{"GET", "/scim/v2/Users", x.scim, nil, nil}).want(t, 403)
}

// TestDeactivationKillsPersonalKeys: within 10 seconds, and permanently.
func TestDeactivationKillsPersonalKeys(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.provisioned("acme")
	made := a.raw(call{"POST", "/scim/v2/Users", x.pat, `{"userName":"grace","roles":[{"value":"Admin"}]}`, nil}).want(t, 201)
	id := made.text(t, "id")
	_, key := a.newKey(x.ID, team.NewKey{Kind: team.KindPersonal, Name: "g", UserID: id})
	a.do(call{"GET", "/api-keys", key, nil, nil}).want(t, 200) // an admin by role
	change := func(active string) {
		t.Helper()
		a.raw(call{"PATCH", "/scim/v2/Users/" + id, x.scim,
			`{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[{"op":"replace","value":{"active":` + active + `}}]}`, nil}).want(t, 200)
	}
	change("false")
	a.clock.Advance(10 * time.Second)
	a.do(call{"GET", "/me", key, nil, nil}).wantCode(t, 401, "unauthorized")
	change(`"True"`)
	a.clock.Advance(10 * time.Second)
	a.do(call{"GET", "/me", key, nil, nil}).wantCode(t, 401, "unauthorized")
	_, key = a.newKey(x.ID, team.NewKey{Kind: team.KindPersonal, Name: "g", UserID: id})
	a.do(call{"GET", "/me", key, nil, nil}).want(t, 200)
	a.raw(call{"DELETE", "/scim/v2/Users/" + id, x.scim, nil, nil}).want(t, 204)
	a.clock.Advance(10 * time.Second)
	a.do(call{"GET", "/me", key, nil, nil}).wantCode(t, 401, "unauthorized")
}

func TestSCIMRoutesInTheLog(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.provisioned("acme")
	a.raw(call{"GET", "/scim/v2/Users/" + unknownID, x.scim, nil, nil}).want(t, 404)
	if !strings.Contains(a.log.String(), `"route":"GET /scim/v2/Users/{id}"`) || strings.Contains(a.log.String(), unknownID) {
		t.Error(a.log.String())
	}
	a.raw(call{"OPTIONS", "/scim/v2/Users", x.scim, nil, nil}).want(t, 204)
}

// TestDailyLimitThroughSCIM: the calls of a personal key are counted here too, and a used-up quota
// is reported as a SCIM error, in both faces.
func TestDailyLimitThroughSCIM(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.provisioned("acme")
	for range 1000 {
		if _, err := a.local.Teams.Authenticate(t.Context(), x.pat); err != nil {
			t.Fatal(err)
		}
	}
	for accept, want := range map[string]string{
		"application/scim+json": `{"detail":"`, "text/plain": "",
	} {
		r := a.raw(call{"GET", "/scim/v2/Users", x.pat, nil, map[string]string{"Accept": accept}}).want(t, 429)
		if !strings.HasPrefix(string(r.body), want) || want != "" && !strings.Contains(string(r.body), `"status":"429"`) || want == "" && strings.Contains(string(r.body), "{") ||
			r.Header.Get("Retry-After") != "72000" || r.Header.Get("X-RateLimit-Remaining") != "0" {
			t.Errorf("%s: %s %v", accept, r.body, r.Header)
		}
	}
	a.raw(call{"POST", "/scim/v2/Users", x.pat, `{"userName":"x"}`, nil}).want(t, 429)
	a.raw(call{"GET", "/scim/v2/Users", x.scim, nil, nil}).want(t, 200)
	a.clock.Advance(20 * time.Hour)
	a.raw(call{"GET", "/scim/v2/Users", x.pat, nil, nil}).want(t, 200)
}

func TestRestrictedKeysMayNotProvision(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.provisioned("acme")
	made := a.do(call{"POST", "/collections", x.key, map[string]string{"name": "c", "description": "d"}, nil}).want(t, 201)
	_, key := a.newKey(x.ID, team.NewKey{Kind: team.KindTeam, Name: "r", DataSourceIDs: []string{made.text(t, "id")}})
	for method, body := range map[string]any{"GET": nil, "POST": `{"userName":"x"}`} {
		r := a.raw(call{method, "/scim/v2/Users", key, body, map[string]string{"Accept": "application/scim+json"}}).want(t, 403)
		if !strings.Contains(string(r.body), `"status":"403"`) {
			t.Errorf("%s", r.body)
		}
	}
}

// TestLastAdminByAnyKey: no key can remove the last active admin.
func TestLastAdminByAnyKey(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.provisioned("acme")
	found := a.raw(call{"GET", "/scim/v2/Users", x.scim, nil, nil}).want(t, 200)
	var list struct {
		Resources []struct{ ID, UserName string }
	}
	if err := json.Unmarshal(found.body, &list); err != nil || len(list.Resources) != 1 {
		t.Fatalf("%s, %v", found.body, err)
	}
	path := "/scim/v2/Users/" + list.Resources[0].ID
	patch := `{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[{"op":"replace","value":{"active":false}}]}`
	for _, key := range []string{x.scim, x.key, x.pat} {
		for _, c := range []call{
			{"DELETE", path, key, nil, nil}, {"PATCH", path, key, patch, nil}, {"PUT", path, key, `{"userName":"` + list.Resources[0].UserName + `","active":false}`, nil},
		} {
			c.header = map[string]string{"Accept": "application/scim+json"}
			if r := a.raw(c).want(t, 409); !strings.Contains(string(r.body), "last active admin") {
				t.Errorf("%s: %s", c.method, r.body)
			}
		}
	}
	a.do(call{"GET", "/me", x.pat, nil, nil}).want(t, 200)
}

// TestChangesOfOneGroupAtOnceAllSucceed adds members to a group side by side, as identity providers do. Each waits for its turn without
// keeping the one before it, and other requests, from a place.
func TestChangesOfOneGroupAtOnceAllSucceed(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.provisioned("acme")
	var group struct{ ID string }
	a.raw(call{"POST", "/scim/v2/Groups", x.scim, `{"displayName":"Engineering"}`, nil}).want(t, 201).json(t, &group)
	const members = 24
	ids := make([]string, members)
	for n := range ids {
		var user struct{ ID string }
		a.raw(call{"POST", "/scim/v2/Users", x.scim, fmt.Sprintf(`{"userName":"user%d@acme.test"}`, n), nil}).want(t, 201).json(t, &user)
		ids[n] = user.ID
	}
	var all sync.WaitGroup
	for _, id := range ids {
		all.Go(func() {
			body := fmt.Sprintf(`{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[{"op":"Add","path":"members","value":[{"value":%q}]}]}`, id)
			if reply := a.raw(call{"PATCH", "/scim/v2/Groups/" + group.ID, x.scim, body, nil}); reply.StatusCode >= 300 {
				t.Errorf("%d: %s", reply.StatusCode, reply.body)
			}
			if reply := a.do(call{"GET", "/team", x.key, nil, nil}); reply.StatusCode != 200 {
				t.Errorf("another request of the team: %d: %s", reply.StatusCode, reply.body)
			}
		})
	}
	all.Wait()
	var got struct{ Members []struct{ Value string } }
	a.raw(call{"GET", "/scim/v2/Groups/" + group.ID, x.scim, "", nil}).want(t, 200).json(t, &got)
	if len(got.Members) != members {
		t.Errorf("%d members", len(got.Members))
	}
}

// TestOneResourceOfSCIMMayBeABadRequest: raw looks for the 400 in the OpenAPI document.
func TestOneResourceOfSCIMMayBeABadRequest(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.provisioned("acme")
	for _, path := range []string{"/scim/v2/Users/x", "/scim/v2/Groups/x"} {
		a.raw(call{"GET", path + "?attributes=%zz", acme.scim, nil, nil}).want(t, 400)
	}
}
