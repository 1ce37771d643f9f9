package main

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"docent/shared/app"
	"docent/shared/team"
)

// TestIndexStatusAndRebuild plays the commands on a folder with a team.
func TestIndexStatusAndRebuild(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	if status, _, errOut := docent(t, "index", "status", "--data", dir); status != 1 || !strings.Contains(errOut, "there is no data folder") {
		t.Errorf("without data: %d, %q", status, errOut)
	}
	teamID := indexedData(t, dir)
	must := func(want string, args ...string) {
		t.Helper()
		status, out, errOut := docent(t, append(args, "--data", dir)...)
		if status != 0 || !strings.Contains(out, want) {
			t.Errorf("%v: status %d, %q, %q; want %q", args, status, out, errOut, want)
		}
	}
	must("Team "+teamID+"\n", "index", "status")
	must(" of analysis ", "index", "status", "--team", teamID)
	must("Team "+teamID+": 1 spaces of sources rebuilt\n", "index", "rebuild")
	must("Team "+teamID+": 1 spaces of sources rebuilt\n", "index", "rebuild", "--team", teamID)
	must("0 stale, 0 damaged, 0 missing", "index", "check")
	var teams []teamStatus
	_, out, _ := docent(t, "index", "status", "--json", "--data", dir)
	decodeJSON(t, out, &teams)
	if len(teams) != 1 || len(teams[0].Families) != 1 || teams[0].Families[0].Rebuild != nil || teams[0].Families[0].Segments == 0 {
		t.Errorf("status %s", out)
	}
	if status, _, errOut := docent(t, "index", "rebuild", "--team", "nowhere", "--data", dir); status != 1 || !strings.Contains(errOut, "There is no such team.") {
		t.Errorf("an unknown team: %d, %q", status, errOut)
	}
}

// indexedData creates a data folder with a team that has one indexed document.
func indexedData(t *testing.T, dir string) (teamID string) {
	t.Helper()
	local, err := app.OpenLocal(t.Context(), dir, app.LocalOptions{Log: slog.New(slog.DiscardHandler), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := local.Close(); err != nil {
			t.Error(err)
		}
	}()
	acme, _, err := local.Teams.CreateTeam(t.Context(), "acme", "ada")
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := local.Teams.CreateKey(t.Context(), acme.ID, team.NewKey{Kind: team.KindTeam, Name: "bot"})
	if err != nil {
		t.Fatal(err)
	}
	handler := local.Handler("http://127.0.0.1/v1")
	call := func(method, path, body string) string {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, "/v1"+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+key)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code >= 300 {
			t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
		return w.Body.String()
	}
	var made struct{ ID string }
	decodeJSON(t, call("POST", "/collections", `{"name":"wiki","description":"All"}`), &made)
	call("PUT", "/documents", fmt.Sprintf(`{"collectionId":%q,"title":"Zebra","body":"The zebra is small.","uri":"https://wiki.test/zebra"}`, made.ID))
	if err := local.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	return acme.ID
}
