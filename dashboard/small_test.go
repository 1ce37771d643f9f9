package dashboard_test

import (
	"strings"
	"testing"

	"docent/testkit/browser"
)

// TestTheMenuKnowsTheNewName of the team at once.
func TestTheMenuKnowsTheNewName(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "settings/team")
	b.Fill("Name", "Acme, the team")
	b.Click("Save team")
	b.Wait("Acme, the team, admin")
}

// TestACollectionMayBeginWithAnEmoji, which takes two places in a string of JavaScript.
func TestACollectionMayBeginWithAnEmoji(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "🚀 Launches", "Text.")
	b.Wait("🚀 Launches")
	if mark := b.Text("main .icon"); mark != "🚀" {
		t.Errorf("its mark is %q", mark)
	}
}

// TestSourcesThatCannotBeReadAreNotDeleted: while they are not known, a key shows their ids.
func TestSourcesThatCannotBeReadAreNotDeleted(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "collections")
	_, id, _ := strings.Cut(strings.TrimPrefix(browser.Value[string](b, `document.querySelector("a.card").hash`), "#/"), "/")
	if !browser.Value[bool](b, `fetch("../api-keys", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ kind: "team", name: "Bot", dataSourceIds: ["`+id+`"] }) }).then((r) => r.ok)`) {
		t.Fatal("the key is refused")
	}
	fails(b, `path.includes("/collections") || path.includes("/data-sources")`)
	open(b, "settings/tokens")
	b.Wait(id)
	b.Gone("a deleted source")
	b.Click("Create team key")
	b.Click("Chosen sources")
	b.Wait("The server cannot be reached.")
	b.Gone("There are no sources yet.")
	fails(b, "")
	b.Click("Try again")
	b.Wait("About Docent collection")
}

// TestAKeyMayExpireToday, wherever today is.
func TestAKeyMayExpireToday(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	for _, zone := range []string{"Pacific/Kiritimati", "Pacific/Pago_Pago"} { // at any moment, one of them has another date than UTC
		b.TimeZone(zone)
		open(b, "ask")
		open(b, "settings/tokens")
		b.Click("Create team key")
		b.Select("Expires", "date")
		b.Wait("Last day")
		dates := browser.Value[[]string](b, `[document.querySelector("input[type=date]").min, new Date().toLocaleDateString("sv")]`)
		if dates[0] != dates[1] {
			t.Errorf("in %s on %s the first date is %s", zone, dates[1], dates[0])
		}
	}
}

// TestCopyingFailsAloud: where the browser forbids copying the button says so.
func TestCopyingFailsAloud(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "settings/agents")
	for _, clipboard := range []string{`undefined`, `{ writeText: () => Promise.reject(new Error("forbidden")) }`} {
		browser.Value[bool](b, `Object.defineProperty(navigator, "clipboard", { configurable: true, value: `+clipboard+` }) === navigator`)
		open(b, "settings/team")
		open(b, "settings/agents")
		b.Click("Copy the address for programs")
		b.Wait("Select and copy it yourself")
	}
}

// TestTwoSubmitsAreOne: a form that is sent twice at once makes one thing.
func TestTwoSubmitsAreOne(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "settings/tokens")
	b.Click("Create team key")
	b.Fill("Name", strings.Repeat("M", 100))
	browser.Value[bool](b, `(() => { const form = document.querySelector("dialog form"); form.requestSubmit(); form.requestSubmit(); return true; })()`)
	b.Wait("is ready")
	b.Click("I have copied it")
	b.Settled()
	if made := browser.Value[float64](b, `fetch("../api-keys").then((r) => r.json()).then((all) => all.filter((k) => k.name.startsWith("MMM")).length)`); made != 1 {
		t.Errorf("%v keys are made", made)
	}
	b.Look(400, 800, "light")
	b.Click("Revoke " + strings.Repeat("M", 100))
	b.Wait("Cancel")
	if browser.Value[bool](b, `(() => { const d = document.querySelector("dialog"); return d.scrollWidth > d.clientWidth; })()`) {
		t.Error("a long name widens the dialog")
	}
}

// TestAPageThatCannotBeLoadedSaysSo in plain words, as after an update of Docent.
func TestAPageThatCannotBeLoadedSaysSo(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	b.Block("*://*:*/*/part-*.js")
	open(b, "reference")
	b.Wait("This page could not be loaded")
	b.Wait("Docent cannot be reached, or was updated since you opened it.")
}

// TestAReplyThatBreaksOffSaysSo in the same words as a connection that was never made.
func TestAReplyThatBreaksOffSaysSo(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	intercept(b, `/\/(collections|agents)\b/.test(path)`, `new Response(new ReadableStream({ start: (c) => c.error(new TypeError("network error")) }))`, "")
	for _, page := range []string{"collections", "settings/agents"} {
		open(b, page)
		b.Wait("The server cannot be reached.")
		b.Gone("network error")
	}
}

// TestFormsSayWhatIsOptional, and call things as the rest of the dashboard does.
func TestFormsSayWhatIsOptional(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "sources")
	b.Click("Connect data source")
	b.Wait("Optional. The API of your own GitHub server")
	b.Wait("Repositories to read, up to 100.")
	b.Gone("Optional. Repositories")
	b.Press(browser.KeyEscape)
	open(b, "settings/single-sign-on")
	b.Click("Create SCIM key")
	b.Wait("such as “Okta”")
	if title := b.Text("dialog h2"); title != "Create SCIM key" {
		t.Errorf("the dialog is called %q", title)
	}
}

// TestAReplyOfSomethingElseSaysSo: the page of a network that wants a sign-in is explained in plain words.
func TestAReplyOfSomethingElseSaysSo(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	intercept(b, `path.includes("/collections")`, `new Response("<!doctype html><h1>Wireless LAN</h1>", { headers: { "Content-Type": "text/html" } })`, "")
	open(b, "collections")
	b.Wait("Something other than Docent has answered")
	b.Gone("JSON")
	fails(b, "")
	b.Click("Try again")
	b.Wait("About Docent")
}

// TestAFailedDownloadSavesNoFile: an error of the API is shown, and not saved as the CSV file.
func TestAFailedDownloadSavesNoFile(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "usage")
	intercept(b, `path.includes("/usage?")`, `new Response('{"status":503,"code":"unavailable","detail":"Docent is busy."}', { status: 503 })`,
		`HTMLAnchorElement.prototype.click = () => { window.saved = true; };`)
	b.Click("Download CSV")
	b.Wait("Docent is busy.")
	if browser.Value[bool](b, `window.saved === true`) {
		t.Error("the error is saved as a file")
	}
}
