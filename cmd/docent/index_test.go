package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"docent/shared/app"
	"docent/shared/document"
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

// TestATeamThatFailsStopsNoOther, but an interruption does.
func TestATeamThatFailsStopsNoOther(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	var done []string
	err := forEachTeam(ctx, []string{"a", "b", "c", "d"}, func(id string) error {
		if done = append(done, id); id == "c" {
			interrupt()
		}
		if id == "b" {
			return nil
		}
		return errors.New("broken")
	})
	if want := "team a: broken\nteam c: broken"; err == nil || err.Error() != want || !slices.Equal(done, []string{"a", "b", "c"}) {
		t.Errorf("%q: %v", done, err)
	}
}

// TestATeamThatCannotBeCheckedHidesNoOther: what was found of the others is printed before the error.
func TestATeamThatCannotBeCheckedHidesNoOther(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := new(indexCheckCmd).check(t.Context(), &console{out: &out}, []string{"a", "b", "c"}, func(_ context.Context, id string) (app.IndexReport, error) {
		if id == "b" {
			return app.IndexReport{}, errors.New("broken")
		}
		return app.IndexReport{Missing: []string{"of " + id}}, nil
	})
	if err == nil || err.Error() != "team b: broken" || errors.Is(err, errReported) {
		t.Errorf("error %v", err)
	}
	if text := out.String(); !strings.Contains(text, "Team a:") || !strings.Contains(text, "  of a\n") || !strings.Contains(text, "  of c\n") || strings.Contains(text, "Team b") {
		t.Errorf("printed %q", text)
	}
}

// TestPausedSourcesAreNotSaidToBeReadWhenTheServerRuns names them.
func TestPausedSourcesAreNotSaidToBeReadWhenTheServerRuns(t *testing.T) {
	t.Parallel()
	for paused, want := range map[int]string{0: "docent serve runs", 1: "; 1 of them are paused, and are read again when they are resumed"} {
		if got := readAgain(2, paused); !strings.HasPrefix(got, "2 data sources") || !strings.HasSuffix(got, want) {
			t.Errorf("%d paused: %q", paused, got)
		}
	}
}

// indexedData creates a data folder with a team that has one indexed document of each animal, of "zebra" if there are none.
func indexedData(t *testing.T, dir string, animals ...string) (teamID string) {
	t.Helper()
	if animals == nil {
		animals = []string{"zebra"}
	}
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
	call := calls(t, local, acme.ID)
	var made struct{ ID string }
	decodeJSON(t, call("POST", "/collections", `{"name":"wiki","description":"All"}`), &made)
	for _, animal := range animals {
		call("PUT", "/documents", fmt.Sprintf(`{"collectionId":%q,"title":%[2]q,"body":"The %[2]s is small.","uri":"https://wiki.test/%[2]s"}`, made.ID, animal))
	}
	if err := local.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	return acme.ID
}

// calls returns what calls the API of local with a key of the team. A reply of an error that is not a server's fails the test.
func calls(t *testing.T, local *app.Local, teamID string) func(method, path, body string) string {
	t.Helper()
	_, key, err := local.Teams.CreateKey(t.Context(), teamID, team.NewKey{Kind: team.KindTeam, Name: "bot"})
	if err != nil {
		t.Fatal(err)
	}
	handler := local.Handler("http://127.0.0.1/v1")
	return func(method, path, body string) string {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, "/v1"+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+key)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code >= 300 && w.Code < 500 {
			t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
		return w.Body.String()
	}
}

// TestAFlippedBitInADocumentIsNoticed: the document is in no search and no list, a read and docent index check say why, and the log
// names it without its text. Everything else is found.
func TestAFlippedBitInADocumentIsNoticed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	teamID := indexedData(t, dir, "zebra", "lion")
	file := filepath.Join(dir, "docent.db")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	body := []byte("The zebra is small.")
	flipped := slices.Clone(body)
	flipped[len(flipped)-2] ^= 1 // "smalm"
	if !bytes.Contains(data, body) {
		t.Fatal("the body is not in the file")
	}
	if err := os.WriteFile(file, bytes.ReplaceAll(data, body, flipped), 0o600); err != nil {
		t.Fatal(err)
	}
	id, err := document.ID(teamID, "https://wiki.test/zebra")
	if err != nil {
		t.Fatal(err)
	}
	status, out, _ := docent(t, "index", "check", "--data", dir)
	if status != 1 || !strings.Contains(out, "1 damaged documents\n  "+id+"\n") {
		t.Errorf("check: %d, %q", status, out)
	}
	var log bytes.Buffer
	local, err := app.OpenLocal(t.Context(), dir, app.LocalOptions{Log: slog.New(slog.NewTextHandler(&log, nil)), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := local.Close(); err != nil {
			t.Error(err)
		}
	}()
	call := calls(t, local, teamID)
	log.Reset()
	found := call("POST", "/context/search", `{"query":"which animal is small"}`)
	if !strings.Contains(found, "The lion") || strings.Contains(found, "zebra") {
		t.Errorf("search: %s", found)
	}
	if lines := log.String(); strings.Count(lines, "level=WARN") != 1 || !strings.Contains(lines, id) || strings.Contains(lines, "smalm") || strings.Contains(lines, "ERROR") {
		t.Errorf("log: %s", lines)
	}
	if read := call("GET", "/documents/"+id, ""); !strings.Contains(read, `"status":500`) || !strings.Contains(read, `"code":"document-damaged"`) || !strings.Contains(read, "Put it again") {
		t.Errorf("read: %s", read)
	}
	call("DELETE", "/documents/"+id, "")
	if err := local.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if report, err := local.CheckIndex(t.Context(), teamID); err != nil || !report.Clean() {
		t.Errorf("after the deletion: %+v, %v", report, err)
	}
}
