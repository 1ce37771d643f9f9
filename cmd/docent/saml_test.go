package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"docent/shared/team"
)

// installation is a running Docent with a team, and the personal key of its admin.
func installation(t *testing.T) (server, key string) {
	t.Helper()
	local, made, admin := newTeam(t)
	web := httptest.NewServer(local.Handler("https://docent.example/v1"))
	t.Cleanup(web.Close)
	_, key, err := local.Teams.CreateKey(t.Context(), made.ID, team.NewKey{Kind: team.KindPersonal, Name: "ada", UserID: admin.ID})
	if err != nil {
		t.Fatal(err)
	}
	return web.URL, key
}

func TestSAMLAndSCIM(t *testing.T) {
	t.Parallel()
	server, key := installation(t)
	file := filepath.Join(t.TempDir(), "metadata.xml")
	if err := os.WriteFile(file, []byte(samlText), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(args ...string) []string { return append(args, "--server", server, "--key", key) }
	expect := func(status int, out, errOut string, args ...string) string {
		t.Helper()
		s, o, e := docent(t, args...)
		if s != status || !strings.Contains(o, out) || !strings.Contains(e, errOut) {
			t.Fatalf("%v: status %d, output %q, errors %q", args, s, o, e)
		}
		return o
	}
	expect(1, "", "no identity provider is set", at("team", "saml", "show")...)
	expect(1, "", "no identity provider is set", at("team", "saml", "remove")...)
	expect(2, "", "only https addresses are read", at("team", "saml", "set", "http://idp.test/metadata")...)
	expect(1, "", "This is not the metadata of a SAML identity provider (XML).", at("team", "saml", "set", filepath.Join("testdata", "..", "saml.go"))...)
	expect(1, "", "no such file", at("team", "saml", "set", file+"x")...)
	expect(1, "", "reads no metadata from the web", at("team", "saml", "set", "https://idp.test/metadata")...)
	expect(0, "docent_scim_", "docent team saml set FILE", at("scim", "setup")...)
	expect(0, "Identity provider https://idp.test/\nSign-on at https://idp.test/sso\nCertificate CN=idp.test, valid until 2036-", "", at("team", "saml", "set", file)...)
	expect(0, "valid until 2036-", "", at("team", "saml", "show")...)
	expect(0, `"singleSignOnUrl"`, "", at("team", "saml", "show", "--json")...)

	out := expect(0, server+"/v1/scim/v2?aadOptscim062020", "", at("scim", "setup", "--name", "Okta")...)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server+"/v1/scim/v2/Users", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+regexp.MustCompile(`docent_scim_\w+`).FindString(out))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if res.Body.Close(); res.StatusCode != http.StatusOK {
		t.Errorf("the printed key gives %d", res.StatusCode)
	}
	expect(0, "Removed.", "", at("team", "saml", "remove")...)
	expect(2, "", "no API key", "scim", "setup", "--server", server)
}
