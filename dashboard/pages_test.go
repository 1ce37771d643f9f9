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
	b.Fill("Your question", "How many questions may a team ask per day?") // by the keyboard: the mouse would lie on something in the pictures
	b.Press(browser.KeyEnter)
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

// TestWordsStayWhole: no word breaks in the tables of keys and of documents with metadata, and no page scrolls sideways.
func TestWordsStayWhole(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "collections")
	collection := strings.TrimPrefix(browser.Value[string](b, `document.querySelector("a.card").hash`), "#/")
	_, id, _ := strings.Cut(collection, "/")
	const post = `fetch(new URL("..", document.baseURI) + %q, { method: %q, headers: { "Content-Type": "application/json" }, body: JSON.stringify(%s) }).then((r) => r.ok)`
	for _, r := range [][3]string{
		{"api-keys", "POST", `{ kind: "team", name: "Support bot", scopes: ["read", "ask", "write"] }`},
		{"api-keys", "POST", `{ kind: "team", name: "Handbook", dataSourceIds: ["` + id + `"] }`},
		{"api-keys", "POST", `{ kind: "team", name: "The assistant of the engineering department", dataSourceIds: ["` + id + `"], scopes: ["read", "ask", "write"], expiresAt: new Date(Date.now() + 5e8).toISOString() }`},
		{"documents", "PUT", `{ collectionId: "` + id + `", title: "The plan of the year", uri: "https://plan.test/" + "a".repeat(200), body: "# The plan", metadata: { description: "What the sponsors of the programme have agreed to in the spring", sponsors: ["Engineering", "Operations"], audience: "everybody" } }`},
	} {
		if !browser.Value[bool](b, fmt.Sprintf(post, r[0], r[1], r[2])) {
			t.Fatalf("%s %s is refused", r[1], r[0])
		}
	}
	const rotated = `fetch("../api-keys").then((r) => r.json()).then((all) => Promise.all(all.map((k) => fetch("../api-keys/" + k.id + "/rotate", { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"overlapSeconds":86400}' })))).then((all) => all.every((r) => r.ok))`
	if !browser.Value[bool](b, rotated) {
		t.Fatal("a key is not rotated")
	}
	for _, width := range []int64{1280, 1180, 1080, 1000, 768, 720, 400} {
		b.Look(width, 800, "light")
		for page, has := range map[string]string{"settings/tokens": "Old key ends", collection: "sponsors"} {
			open(b, page)
			b.Wait(has)
			if cut := browser.Value[[]string](b, brokenWords); len(cut) > 0 {
				t.Errorf("%s at %d breaks %q", page, width, cut)
			}
			if browser.Value[bool](b, `[document.documentElement, ...document.querySelectorAll(".table")].some((e) => e.scrollWidth > e.clientWidth)`) {
				t.Errorf("%s at %d scrolls sideways", page, width)
			}
		}
	}
}

// brokenWords are the words of tables that stand on more than one line. Addresses and ids may.
const brokenWords = `(() => {
	const cut = [];
	const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
	for (let node; (node = texts.nextNode()); ) {
		if (!node.parentElement.closest("table") || node.parentElement.closest("a, code, .hidden")) continue;
		for (const word of node.data.matchAll(/\p{L}+/gu)) {
			const range = document.createRange();
			range.setStart(node, word.index);
			range.setEnd(node, word.index + word[0].length);
			if (new Set([...range.getClientRects()].map((r) => r.top)).size > 1) cut.push(word[0]);
		}
	}
	return cut;
})()`

// TestDialogs lets axe look at every dialog and at the sign-in page, in both themes.
func TestDialogs(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	withAxe(t, b)
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
	withAxe(t, b)
	look("sign-in")
}
