package dashboard_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"docent/testkit/browser"
	"docent/testkit/installed"
)

// pages are all pages of the dashboard.
var pages = []string{"ask", "search", "collections", "sources", "unanswered", "usage", "events", "reference", "settings/tokens",
	"settings/single-sign-on", "settings/team", "settings/sessions", "settings/agents", "settings/webhooks"}

// axe returns the accessibility checker, which make test installs.
func axe(t *testing.T) string {
	t.Helper()
	root, err := installed.Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, ".cache", "dashboard", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("axe-core is not installed: run make dashboard-modules")
	}
	return string(text)
}

// violations returns what axe finds, one line each.
func violations(t *testing.T, b *browser.Tab) []string {
	t.Helper()
	text := browser.Value[string](b, `axe.run(document, { resultTypes: ["violations"] }).then((r) => JSON.stringify(r.violations.map((v) => v.id + ": " + v.help + ": " + v.nodes.map((n) => n.target.join(" ") + " " + (n.any[0]?.message ?? "")).join("; "))))`)
	var found []string
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		t.Fatal(err)
	}
	return found
}

// TestEveryPage opens every page at both widths and in both themes: axe finds nothing, nothing
// is cut off. With DOCENT_SCREENSHOTS it writes what it sees.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	checker := axe(t)
	b, _ := signedIn(t)
	b.Click("How many questions may a team ask per day?")
	b.Wait("References")
	answer := strings.TrimPrefix(browser.Value[string](b, "location.hash"), "#/")
	open(b, "collections")
	collection := strings.TrimPrefix(browser.Value[string](b, `document.querySelector("a.card").hash`), "#/")
	browser.Value[bool](b, checker+"; true")
	for _, width := range []int64{1280, 360} {
		for _, scheme := range []string{"light", "dark"} {
			b.Look(width, 800, scheme)
			for _, page := range append([]string{answer, collection}, pages...) {
				open(b, page)
				name := fmt.Sprintf("%s at %d, %s", page, width, scheme)
				for _, v := range violations(t, b) {
					t.Errorf("%s: %s", name, v)
				}
				if over := browser.Value[string](b, `[...document.querySelectorAll("main *, .bar *")].filter((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1 && !e.closest(".table, pre, .hidden, .skip")).slice(0, 3).map((e) => e.outerHTML.slice(0, 100)).join("\n")`); over != "" {
					t.Errorf("%s: cut off: %s", name, over)
				}
				keep(t, b, page, width, scheme)
			}
		}
	}
}

// keep writes a screenshot to the folder DOCENT_SCREENSHOTS.
func keep(t *testing.T, b *browser.Tab, page string, width int64, scheme string) {
	t.Helper()
	folder := os.Getenv("DOCENT_SCREENSHOTS")
	if folder == "" {
		return
	}
	first, second, _ := strings.Cut(page, "/")
	switch first {
	case "ask", "collections":
		if second != "" {
			first = map[string]string{"ask": "answer", "collections": "collection"}[first]
		}
	case "settings":
		first += "-" + second
	}
	name := fmt.Sprintf("%s-%d-%s.png", first, width, scheme)
	if err := os.WriteFile(filepath.Join(folder, name), b.Screenshot(width > 360 && first != "reference"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDialogs lets axe look at every dialog and at the sign-in page, in both themes.
func TestDialogs(t *testing.T) {
	t.Parallel()
	checker := axe(t)
	b, _ := signedIn(t)
	browser.Value[bool](b, checker+"; true")
	look := func(what string) {
		t.Helper()
		for _, scheme := range []string{"light", "dark"} {
			b.Look(360, 800, scheme)
			for _, v := range violations(t, b) {
				t.Errorf("%s, %s: %s", what, scheme, v)
			}
		}
		b.Look(1280, 800, "light")
	}
	for _, d := range []struct{ page, button string }{{"collections", "Create collection"}, {"settings/tokens", "Create team key"}, {"settings/tokens", "Create personal key"},
		{"settings/tokens", "Rotate demo"}, {"settings/tokens", "Revoke demo"}, {"sources", "Connect data source"}, {"settings/single-sign-on", "Create SCIM key"}} {
		open(b, d.page)
		b.Click(d.button)
		b.Wait("Cancel")
		look(d.button)
		b.Press(browser.KeyEscape)
		b.Gone("Cancel")
	}
	b.Click("Sign out")
	b.Wait("Sign in to Docent")
	look("sign-in")
}
