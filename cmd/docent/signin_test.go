package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"docent/dashboard"
	"docent/shared/app"
)

// TestSignInWhileTheServerRuns makes links in the data folder that a server has open, and signs
// in with them.
func TestSignInWhileTheServerRuns(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	local, err := app.OpenLocal(t.Context(), dir, app.LocalOptions{NoSync: true, Parts: app.Parts{Pages: dashboard.Pages(true, "")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := local.Close(); err != nil {
			t.Error(err)
		}
	})
	acme, _, err := local.Teams.CreateTeam(t.Context(), "acme", "ada@acme.test")
	if err != nil {
		t.Fatal(err)
	}
	const base = "http://127.0.0.1:8080/v1"
	handler := local.Handler(base)
	signIn := func(link string) int {
		t.Helper()
		page, code, found := strings.Cut(strings.TrimSpace(link), "#/sign-in/")
		if !found || page != base+"/dashboard/" {
			t.Fatalf("the link is %q", link)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, base+"/sessions", strings.NewReader(`{"credential":"`+code+`"}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code
	}
	for _, args := range [][]string{{"signin", "--server", base}, {"signin", "--team", acme.ID, "--server", "http://127.0.0.1:8080"}} {
		status, out, errOut := docent(t, append(args, "--data", dir)...)
		if status != 0 || errOut != "" {
			t.Fatalf("%v: status %d, %s", args, status, errOut)
		}
		if first, again := signIn(out), signIn(out); first != 201 || again != 401 {
			t.Errorf("%v: signing in answers %d, and again %d", args, first, again)
		}
	}
	_, unknown, _ := docent(t, "signin", "--team", "nope", "--data", dir, "--server", base)
	_, code, _ := strings.Cut(strings.TrimSpace(unknown), "#/sign-in/")
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, base+"/sessions", strings.NewReader(`{"credential":"`+code+`"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	if handler.ServeHTTP(w, r); w.Code != 404 || !strings.Contains(w.Body.String(), "There is no such team. Make a link with docent signin --team ID.") {
		t.Errorf("a link for an unknown team answers %d %s", w.Code, w.Body)
	}
	var made struct{ URL string }
	_, out, _ := docent(t, "signin", "--json", "--data", dir, "--server", base)
	decodeJSON(t, out, &made)
	if got := signIn(made.URL); got != 201 {
		t.Errorf("signing in by the JSON's link answers %d", got)
	}
}

func TestSignInRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a folder that is missing": {[]string{"signin", "--data", filepath.Join(t.TempDir(), "typo")}, "there is no data folder"},
		"a server that is none":    {[]string{"signin", "--server", "docent.example"}, "is not an http or https URL"},
		"a user on this machine":   {[]string{"signin", "--user", "ada@acme.test"}, "--user requires --aws"},
		"a stack on this machine":  {[]string{"open", "--stack", "docent"}, "--stack requires --aws"},
	} {
		if status, _, errOut := docent(t, c.args...); status == 0 || !strings.Contains(errOut, c.want) {
			t.Errorf("%s: status %d, %q", name, status, errOut)
		}
	}
}

func TestOpenerOfEachSystem(t *testing.T) {
	t.Parallel()
	for system, want := range map[string]string{"linux": "xdg-open", "darwin": "open", "windows": "rundll32", "freebsd": "xdg-open"} {
		name, args := opener(system, "http://x.test/#/sign-in/c")
		if name != want || args[len(args)-1] != "http://x.test/#/sign-in/c" {
			t.Errorf("%s: %s %v", system, name, args)
		}
	}
}
