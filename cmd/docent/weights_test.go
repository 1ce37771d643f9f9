package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"docent/testkit/weights"
)

func TestModelFetchThatFails(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // without weights to copy
	s := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	folder := t.TempDir()
	status, out, errOut := docent(t, "model", "fetch", "--to", folder, "--repository", s.URL)
	if status != 1 || out != "" || !strings.Contains(errOut, "by words alone: download from 127.0.0.1") || strings.Count(errOut, "\n") != 1 {
		t.Errorf("status %d, %q, %q", status, out, errOut)
	}
	var shown modelShown
	status, out, errOut = docent(t, "model", "show", "--in", folder, "--json")
	decodeJSON(t, out, &shown)
	if status != 1 || errOut != "" || !strings.Contains(shown.Problem, "missing") || shown.Folder != folder {
		t.Errorf("status %d, %q, %q", status, out, errOut)
	}
}

func TestModelShow(t *testing.T) {
	t.Parallel()
	folder := weights.Folder(t)
	status, out, errOut := docent(t, "model", "show")
	if status != 0 || !strings.Contains(out, folder) || !strings.Contains(out, "23.7 MB, whole") {
		t.Errorf("status %d, %q, %q", status, out, errOut)
	}
	// Nothing is downloaded again, so no repository is needed.
	status, out, errOut = docent(t, "model", "fetch", "--repository", "http://127.0.0.1:1")
	if status != 0 || !strings.Contains(out, "are in "+folder) {
		t.Errorf("status %d, %q, %q", status, out, errOut)
	}
}
