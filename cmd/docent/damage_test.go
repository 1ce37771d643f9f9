package main

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"docent/shared/app"
)

// flip changes each byte of text in the database of dir, and fails the test unless it is there.
func flip(t *testing.T, dir, text string) {
	t.Helper()
	file := filepath.Join(dir, "docent.db")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, []byte(text)) {
		t.Fatalf("%q is not in the file", text)
	}
	other := bytes.Map(func(r rune) rune { return r ^ 1 }, []byte(text))
	if err := os.WriteFile(file, bytes.ReplaceAll(data, []byte(text), other), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestAPutOfTheSameTextMendsADocument whose body is damaged: docent index check lists it until then.
func TestAPutOfTheSameTextMendsADocument(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	teamID := indexedData(t, dir)
	var log bytes.Buffer
	open := func() *app.Local {
		t.Helper()
		local, err := app.OpenLocal(t.Context(), dir, app.LocalOptions{Log: slog.New(slog.NewTextHandler(&log, nil)), NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		return local
	}
	local := open()
	call := calls(t, local, teamID)
	var made, d struct{ ID string }
	decodeJSON(t, call("POST", "/collections", `{"name":"notes","description":"All"}`), &made)
	put := fmt.Sprintf(`{"collectionId":%q,"title":"Long","body":%q,"uri":"https://wiki.test/long"}`, made.ID, strings.Repeat("The okapi is long.\n\n", 1000))
	decodeJSON(t, call("PUT", "/documents", put), &d)
	if err := errors.Join(local.Drain(t.Context()), local.Close()); err != nil {
		t.Fatal(err)
	}
	flip(t, dir, "okapi")
	if status, out, _ := docent(t, "index", "check", "--data", dir); status != 1 || !strings.Contains(out, d.ID) {
		t.Errorf("check: %d, %q", status, out)
	}
	local = open()
	defer func() {
		if err := local.Close(); err != nil {
			t.Error(err)
		}
	}()
	call = calls(t, local, teamID)
	if read := call("GET", "/documents/"+d.ID, ""); !strings.Contains(read, "document-damaged") {
		t.Fatalf("read: %.200s", read)
	}
	call("PUT", "/documents", put)
	if err := local.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if read := call("GET", "/documents/"+d.ID, ""); !strings.Contains(read, "The okapi is long.") {
		t.Errorf("read after the put: %.200s", read)
	}
	if report, err := local.CheckIndex(t.Context(), teamID); err != nil || !report.Clean() {
		t.Errorf("after the put: %+v, %v", report, err)
	}
}
