package dashboard_test

import (
	"net/url"
	"strings"
	"testing"

	"docent/testkit/browser"
)

// TestAnAddressLeadsToNoOtherPath: a link whose id is a path of the API does not make the page call it, least of all delete it.
func TestAnAddressLeadsToNoOtherPath(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "collections")
	_, collection, _ := strings.Cut(strings.TrimPrefix(browser.Value[string](b, `document.querySelector("a.card").hash`), "#/"), "/")
	for _, address := range []string{"ask/" + url.PathEscape("../collections/"+collection), "collections/" + url.PathEscape("../collections/"+collection), "collections/" + url.PathEscape(collection+"?x")} {
		open(b, address)
		b.Wait("Page not found")
		if text := b.Text("main"); strings.Contains(text, "Delete") {
			t.Errorf("%s offers %q", address, text)
		}
	}
}

// TestAPageThatFailsLeavesTheOthers: a reply that a page cannot show does not take the menu and the other pages with it.
func TestAPageThatFailsLeavesTheOthers(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	intercept(b, `path.includes("/collections")`, `Response.json([null])`, "")
	open(b, "collections")
	b.Wait("This page failed")
	b.Click("Try again")
	b.Wait("This page failed")
	open(b, "search")
	b.Gone("This page failed")
	open(b, "collections")
	b.Wait("This page failed")
	fails(b, "")
	open(b, "search")
	open(b, "collections")
	b.Wait("Create collection")
	b.Gone("This page failed")
	for _, fault := range b.Faults() {
		if !strings.Contains(fault, "TypeError") {
			t.Errorf("in the console: %s", fault)
		}
	}
}

// TestSigningOutFailsAloud: a person who could not be signed out sees an error.
func TestSigningOutFailsAloud(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	fails(b, `method === "DELETE"`)
	b.Click("Sign out")
	b.Wait("The server cannot be reached.")
	if text := b.Text("main"); !strings.Contains(text, "Asked before") {
		t.Errorf("still signed in, the page is %q", text)
	}
	fails(b, "")
	b.Click("Sign out")
	b.Wait("Sign in to Docent")
}

// TestAFormOutlivesItsSession: when the session ends while somebody types, what was typed is there after the next sign-in.
func TestAFormOutlivesItsSession(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "settings/tokens")
	b.Click("Create personal key")
	b.Fill("Name", "Laptop")
	b.Click("Create key")
	b.Wait("Laptop is ready")
	key := keyText.FindString(b.Text("dialog"))
	b.Click("I have copied it")
	open(b, "collections")
	b.Click("Create collection")
	b.Fill("Name", "runbooks")
	b.Fill("Description", "A text that took long to write.")
	if !browser.Value[bool](b, `fetch("../sessions/current", { method: "DELETE" }).then((r) => r.ok)`) {
		t.Fatal("the session does not end")
	}
	b.Click("Create collection")
	b.Wait("Your session has ended.")
	b.Press(browser.KeyEscape, browser.KeyEscape)
	if name := browser.Value[string](b, `[...document.querySelectorAll("dialog:modal")].at(-1).ariaLabel`); name != "Sign in" {
		t.Errorf("Escape leads from the sign-in to %q", name)
	}
	for _, v := range violations(t, withAxe(t, b)) {
		t.Errorf("sign-in: %s", v)
	}
	browser.Value[bool](b, `document.querySelector("dialog.ended input").focus() ?? true`)
	b.Press(strings.Split(key, "")...)
	b.Press(browser.KeyEnter)
	b.Gone("Your session has ended.")
	becomes(b, `document.activeElement.textContent === "Create collection"`)
	b.Fill("Name", "runbooks 2")
	b.Click("Create collection")
	b.Wait("A text that took long to write.")
	b.Wait("No documents yet")
}

// withAxe adds the accessibility checker to the page.
func withAxe(t *testing.T, b *browser.Tab) *browser.Tab {
	t.Helper()
	browser.Value[bool](b, axe(t)+"; true")
	return b
}

// TestTheFocusReturns: a dialog that ends in any way gives the focus back to the button that opened it.
func TestTheFocusReturns(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "settings/tokens")
	for name, end := range map[string]func(){
		"Cancel": func() { b.Click("Cancel") },
		"Escape": func() { b.Press(browser.KeyEscape) },
		"another dialog": func() {
			b.Fill("Name", "Laptop")
			b.Click("Create key")
			b.Wait("Laptop is ready")
			b.Click("I have copied it")
		},
	} {
		b.Click("Create team key")
		b.Wait("Cancel")
		end()
		b.Gone("Cancel")
		b.Settled()
		if at := browser.Value[string](b, `document.activeElement.innerText`); at != "Create team key" {
			t.Errorf("after %s the focus is at %.40q", name, at)
		}
	}
}

// TestDeletingAsks: what cannot be undone is not done by one click.
func TestDeletingAsks(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "runbooks", "Text.")
	b.Drop(".drop", write(t, map[string]string{"kestrel.md": "# The kestrel\n\nA kestrel nests in the tower.\n"}))
	b.Wait("1 document put")
	b.Gone("Indexing")
	b.Click("Delete The kestrel")
	b.Click("Cancel")
	b.Wait("The kestrel")
	b.Click("Delete The kestrel")
	b.Click("Delete document")
	b.Wait("No documents yet")
	open(b, "ask")
	b.Click("How many questions may a team ask per day?")
	b.Wait("References")
	b.Click("Delete answer")
	b.Wait("This cannot be undone.")
	b.Press(browser.KeyEscape)
	b.Gone("This cannot be undone.")
	b.Click("Delete answer")
	b.Wait("This cannot be undone.")
	b.Click("Delete answer")
	b.Wait("Nothing yet.")
	open(b, "settings/sessions")
	b.Click("Sign out everywhere")
	b.Wait("this one too")
	b.Click("Sign out everywhere")
	b.Wait("Sign in to Docent")
}

// TestASCIMKeyIsRevoked where it was made.
func TestASCIMKeyIsRevoked(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "settings/single-sign-on")
	b.Click("Create SCIM key")
	b.Fill("Name", "Okta")
	b.Click("Create key")
	b.Click("I have copied it")
	b.Click("Revoke Okta")
	b.Fill("Type “Okta” to confirm", "Okta")
	b.Press(browser.KeyEnter)
	b.Wait("None yet. The provider sends this key")
}

// TestSearchIsOfTheTabThatIsShown: a search that takes long does not keep the one of another tab away.
func TestSearchIsOfTheTabThatIsShown(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "search")
	intercept(b, `path.endsWith("/search/messages")`, held, "")
	b.Fill("Search for", "collection")
	b.Click("Messages")
	b.Click("Documentation")
	b.Wait("Collections and documents")
	browser.Value[bool](b, `window.goOn() ?? true`)
	b.Settled()
	b.Wait("Collections and documents")
}

// TestWhatFailsToLoadSaysSo: no page waits for ever.
func TestWhatFailsToLoadSaysSo(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "search")
	fails(b, `path.includes("/collections")`)
	open(b, "ask")
	b.Wait("The server cannot be reached.")
	fails(b, "")
	b.Click("Try again")
	b.Wait("When should a client retry?")
	const more = `Promise.all(Array.from({ length: 40 }, (_, i) => fetch("../api-keys", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ kind: "team", name: "key " + i }) }))).then((all) => all.every((r) => r.ok))`
	if !browser.Value[bool](b, more) {
		t.Fatal("no keys are made")
	}
	open(b, "events")
	fails(b, `path.includes("/security-events")`)
	b.Click("Older events")
	b.Wait("The server cannot be reached.")
	fails(b, "")
	b.Click("Older events")
	b.Gone("The server cannot be reached.")
	b.Gone("Older events")
	rows := browser.Value[float64](b, `document.querySelectorAll("tbody tr").length`)
	if ids := browser.Value[float64](b, `new Set([...document.querySelectorAll("tbody tr")].map((e) => e.innerText)).size`); rows <= 50 || ids < 50 {
		t.Errorf("%v events, %v of them different", rows, ids)
	}
}

// TestAReferenceWithoutAConnection: neither loading it nor trying an operation fails in the browser's words.
func TestAReferenceWithoutAConnection(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	fails(b, `path.endsWith("reference.json") || path.endsWith("/me")`)
	open(b, "reference")
	b.Wait("The server cannot be reached.")
	fails(b, `path.endsWith("/me")`)
	b.Click("Try again")
	b.Fill("Filter operations", "who the key is")
	b.Click("GET /me Who the key is")
	b.Click("Send GET")
	b.Wait("The server cannot be reached.")
}

// TestWaitingTakesFewCalls: while a document is indexed, which may take hours, the page looks less and less often. The calls
// of a session's day would not last half an hour otherwise.
func TestWaitingTakesFewCalls(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "collections")
	page := strings.TrimPrefix(browser.Value[string](b, `document.querySelector("a.card").hash`), "#/")
	intercept(b, `/\/documents\/[0-9a-f-]{36}$/.test(path)`, `new Response('{"indexing":{"state":"pending"}}')`, `
		const wait = window.setTimeout.bind(window);
		window.longest = 0;
		window.setTimeout = (f, ms = 0) => {
			window.longest = Math.max(window.longest, ms);
			return wait(f, ms / 100);
		};`)
	open(b, page)
	b.Wait("Indexing")
	const wait = `new Promise((done) => { const look = () => window.longest >= 30_000 ? done(window.longest) : setTimeout(look, 1000); look(); })`
	if longest := browser.Value[float64](b, wait); longest != 30_000 {
		t.Errorf("the longest wait has %v ms", longest)
	}
}

// TestTheMenuCloses after a choice, also of the page that is open, and by the keyboard.
func TestTheMenuCloses(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	b.Look(400, 800, "light")
	for name, end := range map[string]func(){
		"the same page": func() { b.Click("Ask") },
		"Escape":        func() { b.Press(browser.KeyTab, browser.KeyTab, browser.KeyEscape) },
	} {
		b.Click("Menu")
		b.Wait("Collections")
		end()
		b.Gone("Security events")
		if name == "Escape" && b.Text(":focus") != "Menu" {
			t.Errorf("after Escape the focus is at %q", b.Text(":focus"))
		}
	}
}

// TestANameIsTypedAsItIsSeen: its spaces and the form of its accents are not.
func TestANameIsTypedAsItIsSeen(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "Cafe\u0301  menus", "Text.")
	b.Click("Delete")
	b.Fill("Type “Cafe\u0301  menus” to confirm", "Café menu")
	if !browser.Value[bool](b, `document.querySelector("dialog .danger").disabled`) {
		t.Error("half of the name is enough")
	}
	b.Fill("Type “Cafe\u0301  menus” to confirm", "Café menus")
	b.Press(browser.KeyEnter)
	b.Gone("Text.")
	b.Wait("About Docent")
}

// TestNamesOfAnyKind: a name that is long, or written from right to left, and an icon that may not be loaded break no page.
func TestNamesOfAnyKind(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "שלום, <b>עולם</b>!", strings.Repeat("L", 600))
	page := strings.TrimPrefix(browser.Value[string](b, `location.hash`), "#/")
	if !browser.Value[bool](b, `fetch("../`+page+`", { method: "PATCH", headers: { "Content-Type": "application/json" }, body: '{"iconUrl":"http://icons.test/x.png"}' }).then((r) => r.ok)`) {
		t.Fatal("the icon is refused")
	}
	for _, width := range []int64{1280, 400} {
		b.Look(width, 800, "light")
		for _, at := range []string{"collections", page} {
			open(b, at)
			b.Wait("עולם")
			if browser.Value[bool](b, `document.documentElement.scrollWidth > document.documentElement.clientWidth`) {
				t.Errorf("%s at %d scrolls sideways", at, width)
			}
		}
	}
	// The exclamation mark of a Hebrew name is at its left.
	const left = `(() => { const text = document.querySelector("h1").firstChild, range = document.createRange(); const at = (i) => { range.setStart(text, i); range.setEnd(text, i + 1); return range.getBoundingClientRect().left; }; return at(text.length - 1) < at(0); })()`
	if !browser.Value[bool](b, left) {
		t.Error("a name from right to left is shown from left to right")
	}
}

// TestLongNamesLeaveTheColumnsInSight: those of programs, which anybody may choose, and of users.
func TestLongNamesLeaveTheColumnsInSight(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	intercept(b, `path.endsWith("/agents") || path.includes("/usage/users") || path.includes("/scim/v2/Users") || method === "GET" && path.endsWith("/team")`, `
		path.endsWith("/agents") ? Response.json([{ id: "a", name, host: "eve.test", scopes: [], createdAt: at, refreshedAt: at }]) :
		path.includes("/scim/") ? Response.json({ totalResults: 1, Resources: [{ id: "u", userName: name, displayName: name }] }) :
		path.endsWith("/team") ? real(path, o).then((r) => r.json()).then((team) => Response.json({ ...team, samlConfigured: true })) :
		Response.json({ users: [{ userId: "u", userName: name, questions: 1, contextCalls: 1, activeDays: 1, lastActiveAt: at }], nextCursor: null })`,
		`const name = "W".repeat(300), at = "2026-01-01T00:00:00Z";`)
	for page, has := range map[string]string{"settings/agents": "eve.test", "settings/team": "Member", "usage": "Last active"} {
		open(b, page)
		b.Wait(has)
		if over := browser.Value[bool](b, `[document.documentElement, ...document.querySelectorAll(".table")].some((e) => e.scrollWidth > e.clientWidth)`); over {
			t.Errorf("%s scrolls sideways", page)
		}
	}
}

// TestTitlesOfAnyKind: a blank title has the address in its place, one that reverses letters shows them in their order, and a
// long one leaves the buttons of a dialog in sight.
func TestTitlesOfAnyKind(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "titles", "Text.")
	page := strings.TrimPrefix(browser.Value[string](b, `location.hash`), "#/")
	const put = `(async () => {
		const collectionId = location.hash.split("/").at(-1), titles = ["  ", "Invoice \u202egnp.exe", "T".repeat(1024)];
		const replies = await Promise.all(titles.map((title, i) => fetch("../documents", { method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ collectionId, uri: "https://x.test/" + i, title, body: "# Heron\n\nThe heron \u202efishes in the lake." }) })));
		return replies.every((r) => r.ok);
	})()`
	if !browser.Value[bool](b, put) {
		t.Fatal("a document is refused")
	}
	open(b, "collections")
	open(b, page)
	b.Gone("Indexing")
	b.Wait("Invoice \ufffdgnp.exe")
	b.Look(360, 600, "light")
	b.Click("Readers of https://x.test/0")
	b.Wait("Who may read “https://x.test/0”")
	b.Press(browser.KeyEscape)
	b.Gone("Who may read")
	b.Click("Delete " + strings.Repeat("T", 1024))
	b.Wait("It is gone from answers at once.")
	if !browser.Value[bool](b, `[...document.querySelectorAll("dialog button")].every((e) => e.getBoundingClientRect().bottom <= innerHeight)`) {
		t.Error("a long title hides the buttons")
	}
	b.Press(browser.KeyEscape)
	open(b, "search/heron")
	b.Wait("The heron \ufffdfishes")
	b.Wait("https://x.test/0")
	open(b, "ask")
	b.Fill("Your question", "Where does the heron fish?")
	b.Press(browser.KeyEnter)
	b.Wait("The heron \ufffdfishes in the lake.")
	if title := browser.Value[string](b, `document.title`); title != "Where does the heron fish? · Docent" {
		t.Errorf("the window is called %q", title)
	}
	if texts := browser.Value[string](b, `document.body.innerText`); strings.ContainsRune(texts, '\u202e') {
		t.Error("a text reverses its letters")
	}
}

// TestEveryQuestionStaysInReach: of more questions than a page holds the older ones are a click away, and a long one breaks
// no page.
func TestEveryQuestionStaysInReach(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	const ask = `Array.from({ length: 12 }, (_, i) => i).reduce((before, i) => before.then(() => fetch("../answers/" + crypto.randomUUID(), { method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ question: "Question " + i + "? " + "x ".repeat(3000) }) })), Promise.resolve()).then((r) => r.ok)`
	open(b, "search")
	if !browser.Value[bool](b, ask) {
		t.Fatal("the questions are refused")
	}
	b.Look(400, 800, "light")
	open(b, "ask")
	b.Wait("Question 11?")
	if browser.Value[bool](b, `document.documentElement.scrollWidth > document.documentElement.clientWidth`) {
		t.Error("a long question widens the page")
	}
	if tall := browser.Value[float64](b, `document.querySelector(".list li").getBoundingClientRect().height`); tall > 100 {
		t.Errorf("a long question is %v pixels tall in the list", tall)
	}
	b.Click("Older")
	b.Wait("Question 0?")
	b.Gone("Question 11?")
	browser.Value[bool](b, `(document.querySelector(".list a[href^='#/ask/']").click(), true)`)
	b.Wait("Ask another question")
	browser.Value[bool](b, `history.back() ?? true`)
	b.Wait("Question 0?") // the same page of the list
	b.Gone("Question 11?")
	const deleted = `fetch("../answers?limit=200").then((r) => r.json()).then((all) => Promise.all(all.filter((a) => /^Question [01]\?/.test(a.question)).map((a) => fetch("../answers/" + a.questionId, { method: "DELETE" })))).then((all) => all.length)`
	if n := browser.Value[int](b, deleted); n != 2 {
		t.Fatalf("%d questions are deleted", n)
	}
	open(b, "search")
	browser.Value[bool](b, `history.back() ?? true`) // to a page that is empty now
	b.Gone("Question 0?")
	b.Click("Newer")
	b.Wait("Question 11?")
}
