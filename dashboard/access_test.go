package dashboard_test

import (
	"strings"
	"testing"

	"docent/testkit/browser"
)

// TestReadersOfADocument closes a document and opens it to a group that nobody is in. A dropped file
// that says itself who may read it is not put, because it would be open.
func TestReadersOfADocument(t *testing.T) {
	t.Parallel()
	checker := axe(t)
	b, _ := signedIn(t)
	open(b, "collections")
	_, collection, _ := strings.Cut(strings.TrimPrefix(browser.Value[string](b, `document.querySelector("a.card").hash`), "#/"), "/")
	open(b, "collections/"+collection)
	b.Drop(".drop", write(t, map[string]string{
		"kestrel.md": "# The kestrel\n\nA kestrel nests in the tower.\n",
		"secret.md":  "---\ntitle: x\naccess:\n  groups: [Board]\n---\n# Secret\n",
	}))
	b.Wait("1 document put")
	b.Wait("1 file was left out")
	b.Wait("The kestrel")
	b.Gone("Indexing")
	b.Click("Readers of The kestrel")
	b.Click("Only these")
	b.Fill("Groups", "Engineering")
	browser.Value[bool](b, checker+"; true")
	for _, v := range violations(t, b) {
		t.Errorf("dialog: %s", v)
	}
	b.Fill("May this person read it?", "nobody@acme.example")
	b.Click("Check person")
	b.Wait("may not read it")
	b.Click("Save readers")
	b.Wait("Nobody has these names yet: Engineering")
	b.Click("Close")
	b.Gone("The kestrel")
}

// TestReadersAreThoseOfNow: the dialog shows who reads a document now, also if the list does not know, and saves nothing before that.
func TestReadersAreThoseOfNow(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "files", "Files.")
	b.Drop(".drop", write(t, map[string]string{"kestrel.md": "# The kestrel"}))
	b.Wait("1 document put.")
	b.Wait("Ready")
	page := strings.TrimPrefix(browser.Value[string](b, `location.hash`), "#/")
	restrict := `fetch("../documents").then((r) => r.json()).then((all) => fetch("../documents/" + all.find((d) => d.title === "The kestrel").id, { method: "PATCH", headers: { "Content-Type": "application/merge-patch+json" }, body: '{"access":{"groups":[],"users":["demo@example.com"]}}' })).then((r) => r.ok)`
	if !browser.Value[bool](b, restrict) {
		t.Fatal("the document keeps its readers")
	}
	fails(b, `/documents\/[0-9a-f-]{36}$/.test(path)`)
	open(b, "ask")
	open(b, page)
	b.Wait("Not known")
	b.Click("Readers of The kestrel")
	b.Wait("The server cannot be reached.")
	if !browser.Value[bool](b, `[...document.querySelectorAll("dialog button")].find((e) => e.textContent === "Save readers").disabled`) {
		t.Error("readers that are not known can be saved")
	}
	fails(b, "")
	b.Click("Try again")
	b.Gone("The server cannot be reached.")
	if users := browser.Value[string](b, `[...document.querySelectorAll("dialog textarea")].at(-1).value`); users != "demo@example.com" {
		t.Errorf("the readers are %q", users)
	}
}
