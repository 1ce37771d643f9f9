package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"docent/shared/scim/scimtest"
)

// TestProvidersAgainstServe replays the requests of identity providers against docent serve as it is built, and
// runs a checker that knows only the RFCs.
func TestProvidersAgainstServe(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	var scim, admin struct{ Secret string }
	c.cli(&scim, "key", "create", "--data", c.data(), "--team", c.team.String(), "--kind", "scim", "--name", "idp", "--json")
	c.cli(&admin, "key", "create", "--data", c.data(), "--team", c.team.String(), "--kind", "personal", "--user", "ada@crash.example", "--name", "ada", "--json")
	c.start()
	t.Cleanup(c.kill)
	file := filepath.Join(c.dir, "metadata.xml")
	if err := os.WriteFile(file, []byte(scimtest.Metadata), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, c.dir, c.binary, "team", "saml", "set", file, "--server", "http://"+c.address, "--key", admin.Secret)
	base := "http://" + c.address + "/v1/scim/v2"
	t.Run("fixtures", func(t *testing.T) { scimtest.Run(t, http.DefaultClient, base, scim.Secret) })
	t.Run("scim2-tester", func(t *testing.T) { scimtest.Tester(t, base, scim.Secret) })
}
