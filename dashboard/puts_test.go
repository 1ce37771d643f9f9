package dashboard_test

import (
	"strings"
	"testing"

	"docent/testkit/browser"
)

// TestAPutWaitsForABusyServer, which answers one request, loses the next, and has time for the third.
func TestAPutWaitsForABusyServer(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "files", "Files.")
	browser.Value[bool](b, `(() => {
		const real = window.fetch.bind(window);
		let puts = 0;
		window.fetch = (path, o) => {
			if (o?.method !== "PUT" || ++puts > 2) return real(path, o);
			return puts === 1 ? Promise.resolve(new Response('{"status":429,"code":"rate-exceeded","detail":"Too fast."}', { status: 429, headers: { "Retry-After": "1" } })) : Promise.reject(new TypeError("no connection"));
		};
		return true;
	})()`)
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

// TestAPutGoesOn: what is put and what is left out is told also to whoever has opened another page in between.
func TestAPutGoesOn(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "files", "Files.")
	page := strings.TrimPrefix(browser.Value[string](b, `location.hash`), "#/")
	browser.Value[bool](b, `(() => {
		const real = window.fetch.bind(window);
		window.fetch = (path, o) => o?.method === "PUT" ? new Promise((done) => (window.goOn = done)).then(() => real(path, o)) : real(path, o);
		return true;
	})()`)
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

// TestAFileDroppedBeside: a file that is dropped beside the place for it does not replace the page.
func TestAFileDroppedBeside(t *testing.T) {
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

// TestAPutOutlivesItsSession: when the session ends, the files that are left are put by one click after the next sign-in. The
// rest is not sent before, and a file that cannot be put stays left out.
func TestAPutOutlivesItsSession(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "files", "Files.")
	key := personalKey(b)
	browser.Value[bool](b, `(() => {
		const real = window.fetch.bind(window);
		window.puts = 0;
		window.fetch = (path, o) => {
			if (o?.method !== "PUT") return real(path, o);
			if (++window.puts === 1) return real(path, o).then((reply) => real("../sessions/current", { method: "DELETE" }).then(() => (window.gone = true)).then(() => reply));
			return new Promise((done) => { const look = () => (window.gone ? done() : setTimeout(look, 20)); look(); }).then(() => real(path, o));
		};
		return true;
	})()`)
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
	browser.Value[bool](b, `(() => {
		const real = window.fetch.bind(window);
		let puts = 0;
		window.fetch = (path, o) => o?.method === "PUT" && ++puts === 1 ? Promise.resolve(new Response('{"status":503,"code":"unavailable","detail":"Docent is busy."}', { status: 503, headers: { "Retry-After": "60" } })) : real(path, o);
		return true;
	})()`)
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
	key := personalKey(b)
	browser.Value[bool](b, `(() => {
		const real = window.fetch.bind(window);
		let gone;
		window.fetch = (path, o) => {
			if (o?.method === "PUT") return (gone ??= real("../sessions/current", { method: "DELETE" })).then(() => real(path, o));
			if (!path.endsWith("/me")) return real(path, o);
			return real(path, o).then(async (reply) => (reply.ok ? Response.json({ ...(me => ({ ...me, user: { ...me.user, id: crypto.randomUUID() } }))(await reply.json()) }) : reply));
		};
		return true;
	})()`)
	choose(b, `["secret.md"]`)
	b.Wait("Your session has ended.")
	signInAgain(b, key)
	b.Wait("Drop files or a folder here")
	b.Settled()
	b.Gone("left out")
	b.Gone("file again")
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
