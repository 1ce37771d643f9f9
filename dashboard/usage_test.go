package dashboard_test

import (
	"testing"

	"docent/testkit/browser"
)

// reports lets the page of usage show many users, and days with very many requests.
func reports(b *browser.Tab) {
	intercept(b, `/\/usage(\/users)?\?/.test(path)`, `Response.json(path.includes("/users") ? users(new URL(path).searchParams) : { buckets, nextCursor: null, hasMore: false })`, `
		const day = (ago) => new Date(Date.now() - ago * 86400_000).toISOString();
		const buckets = [0, 1].map((ago) => ({ start: day(ago), end: day(ago), results: [{ feature: "search", metrics: { requests: 12_345_678 - ago, accepted: 45_678 } }] }));
		const users = (query) => {
			const from = Number(query.get("after") ?? 0), to = Math.min(from + Number(query.get("limit") ?? 100), 401);
			const users = Array.from({ length: to - from }, (_, i) => ({ userId: "u" + (from + i), userName: "person" + (from + i) + "@acme.test", questions: 1, contextCalls: 1, activeDays: 1, lastActiveAt: day(1) }));
			return { users, nextCursor: to < 401 ? String(to) : null, hasMore: to < 401 };
		};`)
}

// TestUsageOfALargeTeam: every user is listed, large numbers are not cut off, and who cannot see the chart reads its figures.
func TestUsageOfALargeTeam(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	reports(b)
	for _, width := range []int64{1280, 360} {
		b.Look(width, 800, "light")
		open(b, "ask")
		open(b, "usage")
		b.Wait("person400@acme.test")
		const cut = `[...document.querySelectorAll(".chart text")].filter((e) => e.getBoundingClientRect().left < e.closest("svg").getBoundingClientRect().left).map((e) => e.textContent).join(" ")`
		if text := browser.Value[string](b, cut); text != "" {
			t.Errorf("at %d the numbers %s are cut off", width, text)
		}
		b.Click("Figures by day")
		b.Wait("12,300,000") // other requests
		b.Wait("12,299,999")
	}
	for _, v := range violations(t, withAxe(t, b)) {
		t.Error(v)
	}
}

// TestEveryTableHasOneKindOfHead: the names of columns with numbers are on the right, as the numbers, and those of the
// buttons of a row are hidden.
func TestEveryTableHasOneKindOfHead(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	reports(b)
	for _, page := range []string{"usage", "events"} {
		open(b, page)
		if page == "usage" {
			b.Wait("Figures by day")
			b.Click("Figures by day")
		}
		const wrong = `(() => { const right = (e) => getComputedStyle(e).textAlign === "right"; return [...document.querySelectorAll("main table")].flatMap((table) => [...table.querySelectorAll("th")].filter((th, i) => {
			const cell = table.querySelector("tbody tr").children[i];
			return th.scope !== "col" || right(th) !== right(cell) || (cell.querySelector("button") && th.textContent !== "Actions");
		})).map((th) => th.textContent).join(); })()`
		if heads := browser.Value[string](b, wrong); heads != "" {
			t.Errorf("%s: the heads %q", page, heads)
		}
	}
}
