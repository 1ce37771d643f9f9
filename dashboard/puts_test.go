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
