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

// becomes waits until the JavaScript expression is true.
func becomes(b *browser.Tab, expression string) {
	browser.Value[bool](b, `new Promise((done) => { const look = () => (`+expression+`) ? done(true) : setTimeout(look, 20); look(); })`)
}

// TestEventsBehindAnEmptyPage: of a large feed the API may find nothing that fits in one read, and say that there is more.
func TestEventsBehindAnEmptyPage(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	intercept(b, `path.includes("/security-events?") && path.includes("outcome=failure")`, `Response.json(events(Number((new URL(path).searchParams.get("after") ?? "c0").slice(1))))`, `
		window.reads = 0;
		const events = (n) => {
			window.reads++;
			const has = n === 2 || n === 25;
			return { events: has ? [{ id: "e" + n, eventType: "api_key.revoked", category: "configuration", severity: "low", description: "Event " + n + " of the feed", occurredAt: "2026-01-01T00:00:00Z", outcome: { result: "failure" }, actor: { type: "scim" } }] : [], nextCursor: "c" + (n + 1), hasMore: n < 25 };
		};`)
	open(b, "events")
	b.Select("Outcome", "failure")
	b.Wait("Event 2 of the feed")
	b.Click("Older events") // reads 20 pages, all of them empty
	becomes(b, `window.reads === 23 && [...document.querySelectorAll("button")].some((e) => e.innerText === "Older events" && !e.disabled)`)
	b.Click("Older events")
	b.Wait("Event 25 of the feed")
	b.Gone("Older events")
	open(b, "settings/single-sign-on")
	b.Wait("Event 2 of the feed")
}

// TestAQuestionOfAColleague that was not answered can be asked again. Its answer belongs to the colleague.
func TestAQuestionOfAColleague(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	const ask = `fetch("../api-keys", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ kind: "team", name: "Bot" }) }).then((r) => r.json())
		.then((key) => fetch("../answers/" + crypto.randomUUID(), { method: "PUT", credentials: "omit", headers: { "Content-Type": "application/json", Authorization: "Bearer " + key.secret }, body: JSON.stringify({ question: "Who feeds the zebra?" }) })
			.then((r) => fetch(r.url, { credentials: "omit", headers: { Authorization: "Bearer " + key.secret, Prefer: "wait=20" } }))).then((r) => r.json()).then((a) => a.state)`
	if state := browser.Value[string](b, ask); state != "complete" {
		t.Fatalf("the answer is %s", state)
	}
	open(b, "unanswered")
	b.Wait("Who feeds the zebra?")
	b.Click("Ask again: Who feeds the zebra?")
	b.Wait("Ask follow-up")
	b.Gone("This question is not here")
}
