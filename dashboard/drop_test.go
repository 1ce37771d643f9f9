package dashboard_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"docent/shared/app"
	"docent/shared/app/parts/identity"
	"docent/shared/extract"
	"docent/testkit/browser"
)

// TestAFolderThatCannotBeReadIsNamed, and the files next to it are put.
func TestAFolderThatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "files", "Files.")
	browser.Value[bool](b, `(() => {
		const reader = (pages) => ({ readEntries: (done, failed) => (pages.length > 0 ? done(pages.shift()) : failed(new DOMException("locked", "NotReadableError"))) });
		const file = { name: "a.md", isFile: true, file: (done) => done(new File(["# A"], "a.md")) };
		const locked = { name: "locked", createReader: () => reader([]) };
		DataTransferItem.prototype.webkitGetAsEntry = () => ({ name: "runbooks", createReader: () => reader([[locked, file], []]) });
		return true;
	})()`)
	b.Drop(".drop", write(t, map[string]string{"a.md": "# A"}))
	b.Wait("1 document put.")
	b.Click("1 file was left out")
	b.Wait("runbooks/locked: It cannot be read")
}

// TestEveryWordOfAnHTMLFile is put, whatever its elements are, and words stay apart.
func TestEveryWordOfAnHTMLFile(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	newCollection(b, "files", "Files.")
	intercept(b, `method === "PUT"`, `(window.body = JSON.parse(o.body).body, real(path, o))`, "")
	b.Drop(".drop", write(t, map[string]string{"news.html": "<title>News</title><article><h2>First</h2><p>One.</p></article><article><h2>Second</h2><dl><dt>Colour</dt><dd>green</dd></dl></article>"}))
	b.Wait("1 document put.")
	const want = "## First\n\nOne.\n\n## Second\n\nColour\n\ngreen"
	if body := browser.Value[string](b, `window.body`); body != want {
		t.Errorf("put: %q", body)
	}
}

// putBodies lets the page keep the title and the text of each put document by its address, and drops the files.
func putBodies(t *testing.T, files map[string]string) (b *browser.Tab, put func(name string) (title, body string)) {
	t.Helper()
	b, _ = signedIn(t)
	newCollection(b, "files", "Files.")
	intercept(b, `method === "PUT"`, `((d) => (puts[d.uri] = [d.title, d.body], real(path, o)))(JSON.parse(o.body))`, "window.puts = {};")
	b.Drop(".drop", write(t, files))
	return b, func(name string) (title, body string) {
		d := browser.Value[[]string](b, `puts["file:///runbooks/`+name+`"] ?? ["", ""]`)
		return d[0], d[1]
	}
}

// TestTextInOtherEncodings is put as it reads, or left out. It was stored with characters that nobody wrote.
func TestTextInOtherEncodings(t *testing.T) {
	t.Parallel()
	b, put := putBodies(t, map[string]string{
		"plain.md":  "\xef\xbb\xbf# Café",
		"little.md": "\xff\xfe#\x00 \x00C\x00a\x00f\x00\xe9\x00",
		"big.txt":   "\xfe\xff\x00C\x00a\x00f\x00\xe9",
		"old.html":  "<meta charset=windows-1252><p>Caf\xe9 \x96 open",
		"latin.md":  "# Caf\xe9",
		"latin.htm": "<p>Caf\xe9",
		"false.txt": "PK\x00\x01",
	})
	b.Wait("4 documents put.")
	for name, want := range map[string]string{"plain.md": "# Café", "little.md": "# Café", "big.txt": "Café", "old.html": "Café – open"} {
		if _, body := put(name); body != want {
			t.Errorf("%s is put as %q, want %q", name, body, want)
		}
	}
	b.Click("3 files were left out")
	b.Wait("runbooks/latin.md: It is not valid UTF-8.")
	b.Wait("runbooks/latin.htm: It is not valid UTF-8.")
	b.Wait("runbooks/false.txt: It is binary")
}

// TestATitleIsAHeading and no comment in code, and no line freezes the page while its title is read.
func TestATitleIsAHeading(t *testing.T) {
	t.Parallel()
	b, put := putBodies(t, map[string]string{
		"code.md":   "Intro.\n\n~~~bash\n# install it\n```\n# and that\n~~~~\n",
		"after.md":  "````\n```\n# no\n````\n\n#  After C#  ## \n",
		"empty.md":  "#\n\n# \n\ntext\n",
		"blanks.md": "# a" + strings.Repeat(" ", 60_000) + "b\n",
		"hashes.md": "# a " + strings.Repeat("#", 60_000) + "b\n",
	})
	b.Wait("5 documents put.")
	for name, want := range map[string]string{"code.md": "code", "after.md": "After C#", "empty.md": "empty"} {
		if title, _ := put(name); title != want {
			t.Errorf("%s has the title %q, want %q", name, title, want)
		}
	}
}

// withFiles is a tab with an open collection at a server that reads files of every media type, as their first words.
func withFiles(t *testing.T) *browser.Tab {
	t.Helper()
	b, _ := signedInAt(t, serveWith(t, app.Parts{SignOn: identity.Providers(), Extract: func(_ context.Context, mediaType string, file io.ReaderAt, size int64) (extract.Document, error) {
		first := make([]byte, 40)
		_, err := file.ReadAt(first, 0)
		return extract.Document{Pages: []extract.Page{{Number: 1, Markdown: fmt.Sprintf("%s of %d bytes: %s", extract.ExtensionsOf(mediaType)[0], size, strings.TrimRight(string(first), "x"))}}}, err
	}}))
	newCollection(b, "files", "Files.")
	return b
}

// TestALargeFileThatIsLostOnTheWay is sent again, unless it has changed on the disk, which the browser refuses in the same words.
func TestALargeFileThatIsLostOnTheWay(t *testing.T) {
	t.Parallel()
	b := withFiles(t)
	folder := write(t, map[string]string{"large.pdf": "%PDF-1.7 large file" + strings.Repeat("x", 5_000_000)})
	browser.Value[bool](b, `(() => {
		const real = XMLHttpRequest.prototype.send;
		XMLHttpRequest.prototype.send = function () {
			XMLHttpRequest.prototype.send = real;
			this.onerror();
		};
		return true;
	})()`)
	b.Drop(".drop", folder)
	b.Wait("1 document put.")
	browser.Value[bool](b, `(() => {
		XMLHttpRequest.prototype.send = function () { this.onerror(); };
		File.prototype.slice = () => ({ arrayBuffer: () => Promise.reject(new DOMException("changed", "NotReadableError")) });
		return true;
	})()`)
	b.Drop(".drop", folder)
	b.Wait("large.pdf: It has changed since you chose it.")
}

// TestALargeFileIsSentOnce: a put that the server has no time for is made again with the file that was sent, and a file that never
// arrives, although the server is there, is not sent for ever. Each time takes one of the few uploads that a team may have.
func TestALargeFileIsSentOnce(t *testing.T) {
	t.Parallel()
	b := withFiles(t)
	folder := write(t, map[string]string{"large.pdf": "%PDF-1.7 large file" + strings.Repeat("x", 5_000_000)})
	intercept(b, `(path.endsWith("/uploads") && window.uploads++, method === "PUT" && ++puts <= 2)`,
		`new Response('{"status":429,"code":"rate-exceeded","detail":"Too fast."}', { status: 429, headers: { "Retry-After": "1" } })`, `window.uploads = 0; let puts = 0;`)
	b.Drop(".drop", folder)
	b.Wait("1 document put.")
	if n := browser.Value[int](b, `window.uploads`); n != 1 {
		t.Errorf("the file is sent %d times", n)
	}
	browser.Value[bool](b, `XMLHttpRequest.prototype.send = function () { this.onerror(); }; window.uploads = 0; true`)
	b.Drop(".drop", folder)
	b.Wait("large.pdf: The server cannot be reached.")
	if n := browser.Value[int](b, `window.uploads`); n != 2 {
		t.Errorf("the file that does not arrive is sent %d times", n)
	}
}

// TestTheReferenceShowsNoFile: a file of many megabytes as text would stop the page.
func TestTheReferenceShowsNoFile(t *testing.T) {
	t.Parallel()
	b := withFiles(t)
	b.Drop(".drop", write(t, map[string]string{"small.pdf": "%PDF-1.7 small file"}))
	b.Wait("1 document put.")
	id := browser.Value[string](b, `fetch("../documents?limit=1").then((r) => r.json()).then((all) => all[0].id)`)
	open(b, "reference")
	b.Fill("Filter operations", "original file")
	b.Click("GET /documents/{documentId}/original Download the original file of a document")
	b.Fill("documentId", id)
	b.Click("Send GET")
	b.Wait("A file of the type application/pdf")
	b.Gone("%PDF")
}

// TestDropFiles drops a small file, which goes with the request, a large one, which goes to an address of its own, and
// one that is too large.
func TestDropFiles(t *testing.T) {
	t.Parallel()
	b := withFiles(t)
	b.Drop(".drop", write(t, map[string]string{
		"small.docx": "PK small file" + strings.Repeat("x", 100),
		"large.pdf":  "%PDF-1.7 large file" + strings.Repeat("x", 12_000_000),
		"guide.rst":  "Guide\n~~~~~\n" + strings.Repeat("x", 100),
		"false.xlsx": strings.Repeat("x", 5_000_000),
		"huge.rst":   strings.Repeat("x", 4<<20+1),
		"logo.png":   "no text",
	}))
	b.Wait("3 documents put.")
	b.Wait("3 files were left out")
	b.Click("3 files were left out")
	b.Wait("must have a file of the media type")
	b.Wait("at most 4.2 MB can be put")
	b.Wait("large")
	b.Wait("guide")
	b.Wait("small")
	b.Gone("Reading")
	b.Gone("Failed")
	if got := browser.Value[string](b, `fetch("../documents").then((r) => r.json()).then((all) => all.map((d) => d.title + " " + d.size).sort().join())`); !strings.Contains(got, "large 12000019") || !strings.Contains(got, "small 113") || !strings.Contains(got, "guide 112") {
		t.Errorf("stored %q", got)
	}
	b.Click("Readers of small")
	b.Click("Only these")
	b.Fill("Groups", "Engineering")
	b.Click("Save readers")
	b.Wait("Nobody has these names yet: Engineering")
	b.Fill("May this person read it?", "nobody@acme.example")
	b.Click("Check person")
	b.Wait("may not read it")
	b.Click("Close")
	if got := browser.Value[string](b, `fetch("../documents").then((r) => r.json()).then((all) => all.map((d) => d.title + " " + d.size).sort().join())`); strings.Contains(got, "small") || !strings.Contains(got, "large 12000019") {
		t.Errorf("ada reads %q", got)
	}
}
