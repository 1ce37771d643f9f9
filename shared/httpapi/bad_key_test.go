package httpapi_test

import (
	"strings"
	"testing"
	"time"

	"docent/shared/team"
)

// operations has a call of each operation of the API that needs no data.
var operations = []call{
	{"GET", "/collections", "", nil, nil},
	{"POST", "/collections", "", map[string]string{"name": "n", "description": "d"}, nil},
	{"GET", "/collections/" + unknownID, "", nil, nil},
	{"PATCH", "/collections/" + unknownID, "", map[string]string{"name": "n"}, nil},
	{"DELETE", "/collections/" + unknownID, "", nil, nil},
	{"GET", "/documents", "", nil, nil},
	{"PUT", "/documents", "", map[string]string{"collectionId": unknownID, "title": "t", "body": "b", "uri": "https://x.test/"}, nil},
	{"GET", "/documents/" + unknownID, "", nil, nil},
	{"DELETE", "/documents/" + unknownID, "", nil, nil},
	{"GET", "/answers", "", nil, nil},
	{"PUT", "/answers/" + unknownID, "", map[string]string{"question": "q"}, nil},
	{"GET", "/answers/" + unknownID, "", nil, nil},
	{"DELETE", "/answers/" + unknownID, "", nil, nil},
	contextCall("search"),
	contextCall("search/prs"),
	contextCall("research"),
	contextCall("query/issues"),
	{"POST", "/context/get", "", map[string]any{"urls": []string{"https://x.test/"}}, nil},
	{"GET", "/data-sources", "", nil, nil},
	newDataSource,
	{"DELETE", "/data-sources/" + unknownID, "", nil, nil},
}

// as returns c with another key.
func (c call) as(key string) call {
	c.key = key
	return c
}

func TestKeysThatAreNone(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	revokedID, revoked := a.newKey(acme.ID, team.NewKey{Kind: team.KindTeam, Name: "revoked"})
	if err := a.local.Teams.RevokeKey(t.Context(), acme.ID, revokedID); err != nil {
		t.Fatal(err)
	}
	soon := a.clock.Now().Add(time.Minute)
	_, expired := a.newKey(acme.ID, team.NewKey{Kind: team.KindTeam, Name: "expired", ExpiresAt: &soon})
	a.do(operations[0].as(expired)).want(t, 200)
	a.clock.Advance(time.Minute)
	unknown := a.foreignKey(team.NewKey{Kind: team.KindTeam, Name: "unknown"})
	flipped := []byte(acme.key)
	flipped[40] ^= 1
	for name, header := range map[string]string{
		"nothing": "", "no scheme": acme.key, "another scheme": "Basic " + acme.key, "no key": "Bearer", "spaces": "Bearer   ",
		"text": "Bearer " + marker, "cut off": "Bearer " + acme.key[:len(acme.key)-1], "longer": "Bearer " + acme.key + "x",
		"flipped": "Bearer " + string(flipped), "two keys": "Bearer " + acme.key + " " + acme.key, "in quotes": `Bearer "` + acme.key + `"`,
		"wrong kind": "Bearer " + strings.Replace(acme.key, "docent_team_", "docent_pat_", 1), "in capitals": "Bearer " + strings.ToUpper(acme.key),
		"long": "Bearer " + strings.Repeat("x", 100_000), "NUL": "Bearer docent_team_\x00", "revoked": "Bearer " + revoked,
		"expired": "Bearer " + expired, "unknown": "Bearer " + unknown,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, c := range operations {
				c.header = map[string]string{"Authorization": header}
				reply := a.in(t).refused(c, 401, "unauthorized")
				if got := reply.Header.Get("WWW-Authenticate"); got != "Bearer" {
					t.Errorf("WWW-Authenticate %q", got)
				}
			}
		})
	}
	for _, scheme := range []string{"bearer", "BEARER", "Bearer  "} {
		c := operations[0]
		c.header = map[string]string{"Authorization": scheme + " " + acme.key}
		a.do(c).want(t, 200)
	}
}

// foreignKey returns a well-formed key of another installation.
func (a *api) foreignKey(k team.NewKey) string {
	a.t.Helper()
	other := newAPI(a.t)
	_, text := other.newKey(other.newTenant("other").ID, k)
	return text
}

func TestSCIMKeysHaveNoContent(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	for _, c := range operations {
		a.refused(c.as(acme.scim), 403, "wrong-key-kind")
		if c.body != nil { // what is wrong with the body is not said
			c.body = `{"` + marker
			a.refused(c.as(acme.scim), 403, "wrong-key-kind")
		}
	}
	if got := a.feed(acme.key, "&eventType=scim.request_failed"); len(got.Events) > 0 {
		t.Errorf("recorded as requests of SCIM: %+v", got.Events)
	}
	a.do(call{"GET", "/me", acme.scim, nil, nil}).want(t, 200)
	a.do(call{"GET", "/team", acme.scim, nil, nil}).want(t, 200)
	a.do(call{"OPTIONS", "/answers", acme.scim, nil, nil}).want(t, 204)
}

func TestRestrictedKeysSeeTheirSourcesOnly(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme, rival := a.newTenant("acme"), a.newTenant("rival")
	mine, other := a.newCollection(acme.key, "mine"), a.newCollection(acme.key, "other")
	foreign := a.newCollection(rival.key, "foreign")
	_, key := a.newKey(acme.ID, team.NewKey{Kind: team.KindTeam, Name: "restricted", DataSourceIDs: []string{mine}})
	inMine := a.putDocument(acme.key, mine, "https://x.test/mine", "Mine", "m")
	inOther := a.putDocument(acme.key, other, "https://x.test/other", "Other", "o")
	document := func(collection, uri string) map[string]string {
		return map[string]string{"collectionId": collection, "title": "t", "body": "b", "uri": uri}
	}
	rename := map[string]string{"name": "n"}
	for _, tt := range []struct {
		name   string
		call   call
		status int
		code   string // of an error
	}{
		{"create a collection", call{"POST", "/collections", key, map[string]string{"name": "n", "description": "d"}, nil}, 403, "key-restricted"},
		{"get", call{"GET", "/collections/" + mine, key, nil, nil}, 200, ""},
		{"get another", call{"GET", "/collections/" + other, key, nil, nil}, 403, "source-not-allowed"},
		{"get a foreign", call{"GET", "/collections/" + foreign, key, nil, nil}, 404, "not-found"},
		{"change", call{"PATCH", "/collections/" + mine, key, rename, nil}, 200, ""},
		{"change another", call{"PATCH", "/collections/" + other, key, rename, nil}, 403, "source-not-allowed"},
		{"change a foreign", call{"PATCH", "/collections/" + foreign, key, rename, nil}, 404, "not-found"},
		{"delete another", call{"DELETE", "/collections/" + other, key, nil, nil}, 403, "source-not-allowed"},
		{"delete a foreign", call{"DELETE", "/collections/" + foreign, key, nil, nil}, 204, ""},
		{"list documents of", call{"GET", "/documents?collectionId=" + mine, key, nil, nil}, 200, ""},
		{"list documents of another", call{"GET", "/documents?collectionId=" + other, key, nil, nil}, 403, "source-not-allowed"},
		{"list documents of a foreign", call{"GET", "/documents?collectionId=" + foreign, key, nil, nil}, 200, ""},
		{"list documents of an unknown", call{"GET", "/documents?collectionId=" + unknownID, key, nil, nil}, 200, ""},
		{"put", call{"PUT", "/documents", key, document(mine, "https://x.test/new"), nil}, 200, ""},
		{"put into another", call{"PUT", "/documents", key, document(other, "https://x.test/new"), nil}, 403, "source-not-allowed"},
		{"put into a foreign", call{"PUT", "/documents", key, document(foreign, "https://x.test/new"), nil}, 404, "not-found"},
		{"move out of another", call{"PUT", "/documents", key, document(mine, "https://x.test/other"), nil}, 403, "source-not-allowed"},
		{"get document", call{"GET", "/documents/" + inMine, key, nil, nil}, 200, ""},
		{"get document of another", call{"GET", "/documents/" + inOther, key, nil, nil}, 403, "source-not-allowed"},
		{"delete document of another", call{"DELETE", "/documents/" + inOther, key, nil, nil}, 403, "source-not-allowed"},
		{"delete unknown document", call{"DELETE", "/documents/" + unknownID, key, nil, nil}, 204, ""},
	} {
		t.Log(tt.name) // one after the other, so that the last failure is the last name
		if tt.code != "" {
			a.refused(tt.call, tt.status, tt.code)
			continue
		}
		a.do(tt.call).want(t, tt.status)
	}
	if names := a.members(call{"GET", "/collections", key, nil, nil}, "id"); len(names) != 1 || names[0] != mine {
		t.Errorf("lists collections %v", names)
	}
	if titles := a.members(call{"GET", "/documents", key, nil, nil}, "title"); len(titles) != 2 || titles[0] != "t" && titles[1] != "t" {
		t.Errorf("lists documents %v", titles)
	}
	if ids := a.members(call{"GET", "/documents", acme.key, nil, nil}, "id"); len(ids) != 3 {
		t.Errorf("the team has %d documents, want 3", len(ids))
	}
}
