package dashboard_test

import (
	"fmt"
	"strings"
	"testing"

	"docent/testkit/browser"
)

// TestTheWayBackLeadsToTheSearch: its words and its tab are in the address.
func TestTheWayBackLeadsToTheSearch(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "search")
	b.Fill("Search for", "collection/100 %")
	b.Click("Documentation")
	b.Wait("Collections and documents")
	open(b, "usage")
	browser.Value[bool](b, `history.back() ?? true`)
	b.Wait("Collections and documents")
	if shown := browser.Value[string](b, `document.querySelector("[aria-label='Search for']").value + ", " + document.querySelector("[aria-label=Where] [aria-pressed=true]").innerText`); shown != "collection/100 %, Documentation" {
		t.Errorf("the search is %s", shown)
	}
}

// TestPassagesAreReadInTheirDirection: the exclamation mark of a Hebrew passage is at its left.
func TestPassagesAreReadInTheirDirection(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	intercept(b, `path.endsWith("/context/search")`, `new Response('{"sources":[{"title":"T","url":"https://x.test/","content":"שלום, עולם!","provider":"custom","sourceType":"documentation"}]}')`, "")
	open(b, "search/world")
	b.Wait("עולם")
	const left = `(() => { const text = document.querySelector("article p").firstChild, range = document.createRange(); const at = (i) => { range.setStart(text, i); range.setEnd(text, i + 1); return range.getBoundingClientRect().left; }; return at(text.length - 1) < at(0); })()`
	if !browser.Value[bool](b, left) {
		t.Error("a passage from right to left is shown from left to right")
	}
}

// TestPassagesKeepTheirLines: a list, a table or code in one line cannot be read, and a heading is there once.
func TestPassagesKeepTheirLines(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	intercept(b, `path.endsWith("/context/search")`, `new Response(JSON.stringify({ sources: [
		{ title: "Rolling back", url: "https://x.test/", content: "Steps\n\n## Steps\n\n1. Undo.\n2. Check.", provider: "custom", sourceType: "documentation" },
		{ title: "undo.go", url: "https://y.test/", content: "func undo() {\n\tcheck()\n}", provider: "github", sourceType: "code" }] }))`, "")
	open(b, "search/undo")
	b.Wait("Check.")
	if shown := b.Text("article .lines"); shown != "## Steps\n\n1. Undo.\n2. Check." {
		t.Errorf("the passage is shown as %q", shown)
	}
	if shown := b.Text("article .lines.mono"); shown != "func undo() {\n\tcheck()\n}" {
		t.Errorf("the code is shown as %q", shown)
	}
}

// TestSearchWithFilters puts two documents with metadata and searches by it with the form.
func TestSearchWithFilters(t *testing.T) {
	t.Parallel()
	checker := axe(t)
	b, base := signedIn(t)
	open(b, "collections")
	_, collection, _ := strings.Cut(strings.TrimPrefix(browser.Value[string](b, `document.querySelector("a.card").hash`), "#/"), "/")
	for n, product := range map[int]string{2: "api", 3: "web"} {
		status := browser.Value[int](b, fmt.Sprintf(`fetch(%q, { method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify({
			collectionId: %q, uri: "https://wiki.example/%s", title: "The kingfisher of %s", body: "A kingfisher nests at the %s.",
			metadata: { product: %q, version: %d, labels: ["draft", "new"] } }) }).then((r) => r.status)`,
			base+"/documents", collection, product, product, product, product, n))
		if status != 200 {
			t.Fatalf("put: status %d", status)
		}
	}
	open(b, "collections/"+collection)
	b.Gone("Indexing")
	b.Wait("draft, new")
	open(b, "search")
	b.Fill("Search for", "kingfisher")
	b.Click("Search")
	b.Wait("2 results")
	b.Click("Add a filter")
	if at := browser.Value[string](b, `document.activeElement.getAttribute("aria-label") ?? ""`); at != "Name in filter 1" {
		t.Errorf("after a filter is added the focus is on %q", at)
	}
	b.Fill("Name in filter 1", "version")
	b.Select("Comparison in filter 1", "gte")
	b.Fill("Value in filter 1", "3")
	b.Press(browser.KeyEnter)
	b.Wait("1 result")
	b.Wait("The kingfisher of web")
	b.Gone("The kingfisher of api")
	b.Click("Add a filter")
	b.Fill("Name in filter 2", "product")
	b.Fill("Value in filter 2", "api")
	b.Press(browser.KeyEnter)
	b.Wait("Nothing matches")
	browser.Value[bool](b, checker+"; true")
	for _, scheme := range []string{"light", "dark"} {
		b.Look(360, 800, scheme)
		for _, v := range violations(t, b) {
			t.Errorf("%s: %s", scheme, v)
		}
	}
	b.Look(1280, 800, "light")
	b.Click("Remove filter 1")
	b.Select("Comparison in filter 1", "in")
	b.Fill("Value in filter 1", "api, none")
	b.Press(browser.KeyEnter)
	b.Wait("The kingfisher of api")
	b.Select("Comparison in filter 1", "missing")
	b.Click("Search")
	b.Wait("Nothing matches")
}
