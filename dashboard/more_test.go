package dashboard_test

import (
	"fmt"
	"slices"
	"testing"

	"docent/shared/scim/scimtest"
	"docent/testkit/browser"
)

// longLists answers for lists that are longer than a page shows: 2,345 users, as many keys and 2,100 documents, of which 30
// and the oldest one are of a plan, and 30 deliveries of a webhook endpoint.
func longLists(b *browser.Tab) {
	intercept(b, `true`, `listed(new URL(path, document.baseURI)) ?? real(path, o)`, `
		const pages = (url, size, item) => {
			const from = Number(url.searchParams.get("after") ?? 0), to = Math.min(from + Number(url.searchParams.get("limit")), size);
			const next = new URL(url);
			next.searchParams.set("after", to);
			return Response.json(Array.from({ length: to - from }, (_, i) => item(from + i)), { headers: to < size ? { Link: "<" + next.href + '>; rel="next"' } : {} });
		};
		const at = "2026-01-01T00:00:00Z";
		window.reads = [];
		const listed = (url) => {
			window.reads.push(url.pathname.slice(url.pathname.indexOf("/v1/") + 3) + " " + (url.searchParams.get("startIndex") ?? url.searchParams.get("after") ?? 0));
			if (url.pathname.includes("/scim/v2/Users")) {
				const from = Number(url.searchParams.get("startIndex")), to = Math.min(2345, from + 199);
				return Response.json({ totalResults: 2345, Resources: Array.from({ length: to - from + 1 }, (_, i) => ({ id: "u" + (from + i), userName: "person" + (from + i) + "@acme.test" })) });
			}
			if (url.pathname.endsWith("/api-keys")) return pages(url, 2345, (i) => ({ id: "k" + i, kind: i === 2344 ? "scim" : "team", name: "Key " + i, scopes: null, dataSourceIds: null, createdBy: null, createdAt: at, lastUsedAt: at, expiresAt: null }));
			if (url.pathname.endsWith("/documents")) return pages(url, 2100, (i) => ({ id: "d" + i, title: (i < 30 || i === 2099 ? "Plan " : "Page ") + i, uri: "https://x.test/" + i, updatedAt: at }));
			if (/\/documents\/d\d+$/.test(url.pathname)) return Response.json({ indexing: { state: "indexed" } });
			if (url.pathname.endsWith("/webhook-endpoints")) return Response.json([{ id: "e", url: "https://hooks.test/", eventTypes: [], createdAt: at }]);
			if (url.pathname.endsWith("/e/deliveries")) return pages(url, 30, (i) => ({ id: "m" + i, type: "delivery." + i, timestamp: at, status: "delivered", attempts: 1 }));
		};`)
}

// TestLongListsGoOn: where a list ends before its last item, the page says so and shows more.
func TestLongListsGoOn(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	set := fmt.Sprintf(`fetch("../team/saml-metadata", { method: "PUT", headers: { "Content-Type": "application/samlmetadata+xml" }, body: %q }).then((r) => r.ok)`, scimtest.Metadata)
	if !browser.Value[bool](b, set) {
		t.Fatal("the metadata is refused")
	}
	longLists(b)
	open(b, "settings/team")
	b.Wait("The first 2,000 of 2,345 are shown.")
	b.Click("Show more users")
	b.Wait("person2345@acme.test")
	b.Gone("are shown.")
	readOnce(t, b, "/scim/v2/Users", 12)
	open(b, "settings/single-sign-on")
	b.Wait("None of the keys looked at so far.")
	b.Click("Show more keys")
	b.Wait("Key 2344")
	open(b, "settings/tokens")
	b.Wait("The first 2,000 are shown.")
	browser.Value[bool](b, `window.reads = []; true`)
	b.Click("Show more keys")
	b.Wait("Key 2343")
	b.Gone("are shown.")
	readOnce(t, b, "/api-keys", 2)
	b.Click("Create personal key")
	b.Wait("The first 2,001 are shown.")
	b.Click("Show more users")
	b.Gone("are shown.")
	b.Select("User", "u2345")
	open(b, "settings/webhooks")
	b.Click("Open https://hooks.test/")
	b.Wait("The first 20 are shown.")
	b.Click("Show more deliveries")
	b.Wait("delivery.29")
}

// readOnce fails the test unless the page has read a list in the given number of parts, each once.
func readOnce(t *testing.T, b *browser.Tab, list string, parts int) {
	t.Helper()
	all := browser.Value[[]string](b, `window.reads.filter((r) => r.startsWith("`+list+` "))`)
	once := slices.Compact(slices.Sorted(slices.Values(all)))
	if len(all) != parts || len(once) != parts {
		t.Errorf("%s is read from %q, want %d parts", list, all, parts)
	}
}

// TestFindingDocumentsGoesOn, past the first ones that are found and past those that were looked at.
func TestFindingDocumentsGoesOn(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "plans", "Text.")
	longLists(b)
	b.Fill("Find documents", "plan")
	b.Press(browser.KeyEnter)
	b.Wait("The newest 25 that have the text are shown.")
	b.Gone("Plan 25")
	browser.Value[bool](b, `window.reads = []; true`)
	b.Click("Show more documents")
	b.Wait("Plan 29")
	b.Wait("Plan 2099")
	b.Gone("Show more documents")
	readOnce(t, b, "/documents", 10)
	b.Fill("Find documents", "x.test/2099")
	b.Click("Find")
	b.Wait("No document has")
	b.Wait("The newest 2,000 documents were looked at.")
	b.Click("Look at older documents")
	b.Wait("Plan 2099")
	b.Gone("looked at")
}

// TestASearchSaysThatThereIsMore, and shows as many results as the API has.
func TestASearchSaysThatThereIsMore(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	intercept(b, `path.endsWith("/context/search")`, `Response.json({ sources: Array.from({ length: JSON.parse(o.body).query === "plan" ? JSON.parse(o.body).limit : 7 }, (_, i) => ({ title: "Plan " + i, url: "https://x.test/" + i, content: "Text.", provider: "custom", sourceType: "documentation" })) })`, "")
	open(b, "search/plan")
	b.Wait("The best 20 results are shown.")
	b.Click("Show more results")
	b.Wait("Plan 49")
	b.Wait("The best 50 results are shown. Search with more words")
	b.Gone("Show more results")
	b.Fill("Search for", "moon")
	b.Press(browser.KeyEnter)
	b.Wait("7 results")
	b.Gone("Show more results")
}
