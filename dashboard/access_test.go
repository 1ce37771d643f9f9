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
