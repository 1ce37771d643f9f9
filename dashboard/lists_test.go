package dashboard_test

import (
	"strings"
	"testing"

	"docent/testkit/browser"
)

// TestMoreDocumentsThanAPage: each can be found, and when the last one of a page is deleted the page before is shown, and
// not that nothing is there.
func TestMoreDocumentsThanAPage(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "runbooks", "Text.")
	const put = `(() => { const collectionId = location.hash.split("/").at(-1); return Array.from({ length: 26 }, (_, i) => i).reduce((before, i) => before.then(() => fetch("../documents", { method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ collectionId, uri: "https://x.test/" + i, title: "Page " + i, body: "Text." }) })), Promise.resolve()).then((r) => r.ok); })()`
	if !browser.Value[bool](b, put) {
		t.Fatal("a document is refused")
	}
	page := strings.TrimPrefix(browser.Value[string](b, "location.hash"), "#/")
	open(b, "collections")
	open(b, page)
	b.Fill("Find documents", "x.test/7")
	b.Press(browser.KeyEnter)
	b.Wait("Page 7")
	b.Gone("Page 25")
	b.Fill("Find documents", "the moon")
	b.Click("Find")
	b.Wait("No document has “the moon”")
	b.Fill("Find documents", "")
	b.Click("Show all")
	b.Click("Older")
	b.Wait("Page 0")
	b.Gone("Page 25")
	b.Click("Delete Page 0")
	b.Click("Delete document")
	b.Wait("Page 25")
	b.Gone("No documents yet")
}

// TestAStateThatCannotBeReadIsNotReady: a document whose state is not known may have failed.
func TestAStateThatCannotBeReadIsNotReady(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "collections")
	page := strings.TrimPrefix(browser.Value[string](b, `document.querySelector("a.card").hash`), "#/")
	fails(b, `/documents\/[0-9a-f-]{36}$/.test(path)`)
	open(b, page)
	b.Wait("Not known")
	b.Gone("Ready")
}
