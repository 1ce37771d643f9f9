package functions_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/scim/scimtest"
	"docent/shared/team"
)

// TestProvidersThroughTheBinary replays the requests of identity providers against the deployed binary.
func TestProvidersThroughTheBinary(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	teams := &team.Service{Table: c.store, Now: time.Now, NewID: uuid.NewString}
	if _, err := teams.SetSAML(t.Context(), c.team, team.SAMLProvider{EntityID: "https://idp.test/"}, []byte(scimtest.Metadata)); err != nil {
		t.Fatal(err)
	}
	_, key, err := teams.CreateKey(t.Context(), c.team, team.NewKey{Kind: team.KindSCIM, Name: "idp"})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(c.gateway)
	t.Cleanup(web.Close)
	scimtest.Run(t, http.DefaultClient, web.URL+"/v1/scim/v2", key)
	if n := len(c.functions["scim"].Starts()); n != 1 {
		t.Errorf("the function was started %d times", n)
	}
}
