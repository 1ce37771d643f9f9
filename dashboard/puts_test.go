package dashboard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"docent/shared/scim/scimtest"
	"docent/testkit/browser"
)

// TestAPutWaitsForABusyServer, which answers one request, loses the next, and has time for the third.
func TestAPutWaitsForABusyServer(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "files", "Files.")
	intercept(b, `method === "PUT" && ++puts <= 2`,
		`puts === 1 ? new Response('{"status":429,"code":"rate-exceeded","detail":"Too fast."}', { status: 429, headers: { "Retry-After": "1" } }) : Promise.reject(new TypeError("no connection"))`,
		`let puts = 0;`)
	choose(b, `["a.md"]`)
	b.Wait("1 document put.")
}

// newCollection makes a collection and opens it.
func newCollection(b *browser.Tab, name, description string) {
	open(b, "collections")
	b.Click("Create collection")
	b.Fill("Name", name)
	b.Fill("Description", description)
	b.Click("Create collection")
	b.Wait("No documents yet")
}

// choose chooses files with the names in the field for files, each with a text of its own.
func choose(b *browser.Tab, names string) {
	browser.Value[bool](b, `(() => {
		const input = document.querySelector("input[accept]"), list = new DataTransfer();
		`+names+`.forEach((name, i) => list.items.add(new File(["# Text " + i + " of " + name], name)));
		input.files = list.files;
		input.dispatchEvent(new Event("change", { bubbles: true }));
		return true;
	})()`)
}

// TestFilesOfOneName: of files that would be one document only the first is put, and the page says so. The same file can be
// chosen again.
func TestFilesOfOneName(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "files", "Files.")
	choose(b, `["a.md", "a.md", "b.md"]`)
	b.Wait("2 documents put.")
	b.Click("1 file was left out")
	b.Wait("a.md: Another file here has the same name")
	b.Wait("Text 0 of a.md")
	if left := browser.Value[float64](b, `document.querySelector("input[accept]").files.length`); left != 0 {
		t.Errorf("%v files stay chosen, so that choosing them again does nothing", left)
	}
}

// TestAPutGoesOn: what is put and what is left out is shown also after another page was opened in between.
func TestAPutGoesOn(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "files", "Files.")
	page := strings.TrimPrefix(browser.Value[string](b, `location.hash`), "#/")
	intercept(b, `method === "PUT"`, held, "")
	choose(b, `["a.md", "b.png"]`)
	b.Wait("Putting 2 files")
	open(b, "search")
	if !browser.Value[bool](b, `!window.dispatchEvent(new Event("beforeunload", { cancelable: true }))`) {
		t.Error("leaving loses what is put, without a warning")
	}
	open(b, page)
	b.Wait("Putting 2 files")
	browser.Value[bool](b, `window.goOn() ?? true`)
	b.Wait("1 document put.")
	b.Wait("1 file was left out")
	b.Wait("Text 0 of a.md")
}

// TestDocumentsAreListedWhileOthersArePut: a put of many files takes long.
func TestDocumentsAreListedWhileOthersArePut(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "files", "Files.")
	intercept(b, `method === "PUT" && o.body.includes("last.md")`, held, "")
	choose(b, `["a.md", "last.md"]`)
	b.Wait("1 of 2 put")
	b.Wait("Text 0 of a.md")
	b.Wait("Putting 2 files")
	browser.Value[bool](b, `window.goOn() ?? true`)
	b.Wait("2 documents put.")
}

// TestAScreenReaderAnnouncesAPutInOneSentence: a screen reader reads how it went, and not the list of the files again with each of them.
func TestAScreenReaderAnnouncesAPutInOneSentence(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "files", "Files.")
	choose(b, `["a.md", "b.png"]`)
	b.Wait("1 document put.")
	if told := browser.Value[string](b, `document.querySelector("main [role=status]").textContent`); told != "1 document put. They can be found within a minute. 1 file was left out" {
		t.Errorf("told: %q", told)
	}
}

// TestAFileDroppedOutsideTheTarget: a file that is dropped outside the area for it does not replace the page.
func TestAFileDroppedOutsideTheTarget(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	const dropped = `["dragover", "drop"].every((kind) => {
		const files = new DataTransfer();
		files.items.add(new File(["x"], "a.md"));
		return !document.querySelector("h1").dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: files }));
	})`
	if !browser.Value[bool](b, dropped) {
		t.Error("the browser opens the file")
	}
}

// TestATextDroppedOnTheTarget is neither put nor opened.
func TestATextDroppedOnTheTarget(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "files", "Files.")
	b.Wait("Drop files or a folder here")
	const dropped = `(() => {
		const link = new DataTransfer();
		link.setData("text/uri-list", "https://acme.test/");
		return document.querySelector(".drop").dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: link }));
	})()`
	if browser.Value[bool](b, dropped) {
		t.Error("the browser opens the link")
	}
	b.Settled()
	b.Gone("The folder has no files.")
}

// TestAPutOutlivesItsSession: when the session ends, the files that are left are put by one click after the next sign-in. The
// rest is not sent before, and a file that cannot be put stays left out.
func TestAPutOutlivesItsSession(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "files", "Files.")
	key := personalKey(b)
	intercept(b, `method === "PUT"`, `++window.puts === 1
		? real(path, o).then((reply) => real("../sessions/current", { method: "DELETE" }).then(() => (window.gone = true)).then(() => reply))
		: new Promise((done) => { const look = () => (window.gone ? done() : setTimeout(look, 20)); look(); }).then(() => real(path, o))`,
		`window.puts = 0;`)
	choose(b, `["a.png", "b.md", "c.md", "d.md", "e.md", "f.md", "g.md", "h.md", "i.md", "j.md"]`)
	b.Wait("Your session has ended.")
	signInAgain(b, key)
	b.Wait("9 files were left out")
	if puts := browser.Value[float64](b, `window.puts`); puts > 1+4 { // four at a time
		t.Errorf("%v files are sent without a session", puts-1)
	}
	for _, v := range violations(t, withAxe(t, b)) {
		t.Error(v)
	}
	b.Click("Put 8 files again")
	b.Wait("9 documents put.")
	b.Wait("1 file was left out")
	b.Gone("files again")
	b.Click("1 file was left out")
	b.Wait("a.png: Only Markdown")
	b.Wait("Text 9 of j.md")
}

// TestAFileThatABusyServerRefusesIsPutAgain by one click.
func TestAFileThatABusyServerRefusesIsPutAgain(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "files", "Files.")
	intercept(b, `method === "PUT" && ++puts === 1`, `new Response('{"status":503,"code":"unavailable","detail":"Docent is busy."}', { status: 503, headers: { "Retry-After": "60" } })`,
		`let puts = 0;`)
	choose(b, `["a.md"]`)
	b.Wait("a.md: Docent is busy.")
	b.Click("Put 1 file again")
	b.Wait("1 document put.")
	b.Gone("left out")
}

// TestFilesAreNotPutBySomebodyElse, who signs in after the session has ended.
func TestFilesAreNotPutBySomebodyElse(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "files", "Files.")
	key := graceKey(t, b)
	page := strings.TrimPrefix(browser.Value[string](b, `location.hash`), "#/")
	intercept(b, `method === "PUT"`, `(gone ??= real("../sessions/current", { method: "DELETE" })).then(() => real(path, o))`, `let gone;`)
	choose(b, `["secret.md"]`)
	b.Wait("Your session has ended.")
	signInAgain(b, key)
	b.Wait("Grace")
	open(b, page)
	b.Wait("Drop files or a folder here")
	b.Gone("left out")
	b.Gone("file again")
}

// TestFilesAreNotPutInTheSessionOfSomebodyElse: a file that waits to be tried again is not sent for the next person, not even
// before the page knows who that is.
func TestFilesAreNotPutInTheSessionOfSomebodyElse(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "files", "Files.")
	key := graceKey(t, b)
	intercept(b, `true`, `
		method === "PUT" ? (++puts === 1 ? held.then(busy) : real(path, o).then((reply) => { window.replies.push(reply.status); return reply; })) :
		method === "POST" && path.endsWith("/sessions") ? real(path, o).then((reply) => { grace = true; refuse(); return reply; }) :
		grace && path.endsWith("/me") ? sentAgain().then(() => real(path, o)) : real(path, o)`, `
		let puts = 0, refuse;
		window.replies = [];
		const held = new Promise((done) => (refuse = done));
		const busy = () => new Response('{"status":503,"code":"unavailable","detail":"Docent is busy."}', { status: 503, headers: { "Retry-After": "1" } });
		const sentAgain = () => new Promise((done) => { const look = () => (window.replies.length > 0 ? done() : setTimeout(look, 20)); look(); });
		let grace = false;`)
	choose(b, `["secret.md"]`)
	b.Wait("Putting 1 file")
	if !browser.Value[bool](b, `window.realFetch("../sessions/current", { method: "DELETE" }).then((r) => r.ok)`) {
		t.Fatal("the session does not end")
	}
	browser.Value[string](b, `location.hash = "#/collections"`)
	b.Wait("Your session has ended.")
	signInAgain(b, key)
	b.Wait("Grace")
	if replies := browser.Value[[]int](b, `window.replies`); !slices.Equal(replies, []int{403}) {
		t.Errorf("the file is sent with the replies %d", replies)
	}
	if stored := browser.Value[bool](b, `fetch("../documents?limit=200").then((r) => r.json()).then((all) => all.some((d) => d.uri.endsWith("secret.md")))`); stored {
		t.Error("the file is stored for somebody else")
	}
}

// TestAPageIsOfOnePerson: after another person has signed in in another tab, the page sends nothing in their name, and is rendered again.
func TestAPageIsOfOnePerson(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	key := graceKey(t, b)
	open(b, "collections")
	b.Click("Create collection")
	b.Fill("Name", "plans of the admin")
	b.Fill("Description", "Text.")
	if !browser.Value[bool](b, `fetch("../sessions", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ credential: "`+key+`" }) }).then((r) => r.ok)`) {
		t.Fatal("the key is refused")
	}
	b.Click("Create collection")
	b.Wait("Grace")
	b.Settled()
	b.Gone("plans of the admin")
	if made := browser.Value[bool](b, `fetch("../collections").then((r) => r.json()).then((all) => all.some((c) => c.name.startsWith("plans")))`); made {
		t.Error("a collection is made by somebody else")
	}
}

// TestALostConnectionIsWaitedForOnce, not by each file, and the page says so.
func TestALostConnectionIsWaitedForOnce(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "files", "Files.")
	lose(b)
	choose(b, twelve)
	b.Wait("The server cannot be reached. The rest is put when it can be reached again.")
	becomes(b, `window.asked > 1`)
	if puts := browser.Value[int](b, `window.lostPuts`); puts > 4 { // four at a time
		t.Errorf("%d files are sent to a server that cannot be reached", puts)
	}
	for _, v := range violations(t, withAxe(t, b)) {
		t.Error(v)
	}
	browser.Value[bool](b, `window.lost = false; true`)
	b.Wait("12 documents put.")
	b.Gone("left out")
}

// TestAPutIsStopped while it waits for the server. One click puts the rest.
func TestAPutIsStopped(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "files", "Files.")
	lose(b)
	choose(b, twelve)
	b.Wait("The server cannot be reached.")
	b.Click("Stop putting files")
	b.Wait("12 files were left out")
	b.Wait("You stopped the put")
	b.Gone("The rest is put")
	browser.Value[bool](b, `window.lost = false; true`)
	b.Click("Put 12 files again")
	b.Wait("12 documents put.")
}

// twelve are names of files for choose.
const twelve = `Array.from({ length: 12 }, (_, i) => i + ".md")`

// lose lets the server be out of reach while window.lost is true. It counts the files that are sent nevertheless, and the
// times that somebody asks for it.
func lose(b *browser.Tab) {
	intercept(b, `window.lost`, `(method === "PUT" ? window.lostPuts++ : window.asked++, Promise.reject(new TypeError("no connection")))`,
		`window.lost = true; window.lostPuts = 0; window.asked = 0;`)
}

// graceKey provisions Grace, a member of the team, and returns a personal key of hers.
func graceKey(t *testing.T, b *browser.Tab) string {
	t.Helper()
	const made = `(async () => {
		const send = (path, body, headers, method = "POST") => fetch("../" + path, { method, body, headers });
		const json = (body) => [JSON.stringify(body), { "Content-Type": "application/json" }];
		await send("team/saml-metadata", %q, { "Content-Type": "application/samlmetadata+xml" }, "PUT");
		const scim = await (await send("api-keys", ...json({ kind: "scim", name: "Okta" }))).json();
		const user = await (await fetch("../scim/v2/Users", { method: "POST", credentials: "omit", headers: { "Content-Type": "application/scim+json", Authorization: "Bearer " + scim.secret },
			body: JSON.stringify({ schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"], userName: "grace@acme.test", displayName: "Grace" }) })).json();
		return (await (await send("api-keys", ...json({ kind: "personal", name: "Laptop", userId: user.id }))).json()).secret;
	})()`
	return browser.Value[string](b, fmt.Sprintf(made, scimtest.Metadata))
}

// personalKey makes a personal key of whoever is signed in.
func personalKey(b *browser.Tab) string {
	return browser.Value[string](b, `fetch("../me").then((r) => r.json()).then((me) => fetch("../api-keys", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ kind: "personal", name: "Laptop", userId: me.user.id }) })).then((r) => r.json()).then((key) => key.secret)`)
}

// signInAgain signs in with a key over a page whose session has ended.
func signInAgain(b *browser.Tab, key string) {
	browser.Value[bool](b, `document.querySelector("dialog.ended input").focus() ?? true`)
	b.Press(strings.Split(key, "")...)
	b.Press(browser.KeyEnter)
	b.Gone("Your session has ended.")
}

// TestAFolderIsDroppedOnce: until the names in a large folder are read, the page says so and takes no other one, of which the
// put would hide that of the first.
func TestAFolderIsDroppedOnce(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "files", "Files.")
	browser.Value[bool](b, `(() => {
		const file = (name) => ({ name, isFile: true, file: (done) => done(new File(["# " + name], name)) });
		const reader = (pages) => ({ readEntries: (done) => (pages.length > 1 ? done(pages.shift()) : (window.goOn = () => done(pages.shift() ?? []))) });
		window.drops = 0;
		DataTransferItem.prototype.webkitGetAsEntry = () => (drops++, { name: "runbooks", createReader: () => reader([[file("a.md"), file("b.md")], []]) });
		return true;
	})()`)
	folder := write(t, map[string]string{"a.md": "# A"})
	b.Drop(".drop", folder)
	b.Wait("Reading the names of the files")
	b.Drop(".drop", folder)
	if n := browser.Value[int](b, "drops"); n != 1 {
		t.Errorf("%d folders are read", n)
	}
	browser.Value[bool](b, "goOn() ?? true")
	b.Wait("2 documents put.")
	b.Gone("Reading the names of the files")
}
