package main

import (
	"log/slog"
	"testing"

	"docent/shared/app"
	"docent/shared/app/parts/saml"
	"docent/shared/team"
)

// newTeam opens a Docent in its own folder, with a team and its admin.
func newTeam(t *testing.T) (*app.Local, team.Team, team.User) {
	t.Helper()
	local, err := app.OpenLocal(t.Context(), t.TempDir(), app.LocalOptions{Parts: app.Parts{ParseSAML: saml.Parse}, Log: slog.New(slog.DiscardHandler), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := local.Close(); err != nil {
			t.Error(err)
		}
	})
	acme, admin, err := local.Teams.CreateTeam(t.Context(), "acme", "ada@acme.test")
	if err != nil {
		t.Fatal(err)
	}
	return local, acme, admin
}
