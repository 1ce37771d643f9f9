package dashboard_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"docent/testkit/browser"
)

// signedIn opens the dashboard by the link that docent serve prints, and waits until it is there.
func signedIn(t *testing.T) (b *browser.Tab, base string) {
	t.Helper()
	return signedInAt(t, serve(t))
}

// signedInAt is signedIn with the link of a server.
func signedInAt(t *testing.T, link string) (b *browser.Tab, base string) {
	t.Helper()
	b = browser.Open(t)
	b.Look(1280, 800, "light")
	b.Go(link)
	b.Wait("Try one of these")
	base, _, _ = strings.Cut(link, "/dashboard/")
	return b, base
}

// open opens a page of the dashboard by its address.
func open(b *browser.Tab, page string) {
	browser.Value[string](b, `location.hash = "#/`+page+`"`)
	b.Settled()
}

// write makes a folder with the files.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "runbooks")
	for name, text := range files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// TestAskAndPut: the suggested question is answered with its references; then a folder is
// dropped and asked about.
func TestAskAndPut(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	b.Click("How many questions may a team ask per day?")
	b.Wait("A team may ask 1,000 questions per day.")
	b.Wait("Limits and quotas")
	if browser.Value[string](b, "location.href") == "" || strings.Contains(browser.Value[string](b, "document.cookie"), "docent") {
		t.Error("a script can read the session's cookie")
	}
	b.Click("Collections")
	b.Wait("About Docent")
	b.Click("Create collection")
	b.Fill("Name", "runbooks")
	b.Fill("Description", "What to do when something breaks.")
	b.Click("Create collection")
	b.Wait("No documents yet")
	b.Drop(".drop", write(t, map[string]string{
		"deploy/rollback.md": "# Rolling back\n\nTo roll back a release of the billing service, run `deployctl undo` within 24 hours.\n",
		"pager.html":         "<!doctype html><title>Pager duty</title><main><h1>Pager</h1><p>The person on call answers the pager within <b>five minutes</b>.</p><script>alert(1)</script></main>",
		"logo.png":           "no text",
		".git/config":        "hidden",
	}))
	b.Wait("2 documents put.")
	b.Wait("1 file was left out")
	b.Wait("Rolling back")
	b.Wait("Pager duty")
	b.Gone("Indexing")
	b.Click("Ask")
	b.Fill("Your question", "How do I roll back a release of the billing service?")
	b.Press(browser.KeyEnter)
	b.Wait("deployctl undo")
	b.Wait("file:///runbooks/deploy/rollback.md")
	b.Click("Ask another question")
	b.Wait("Asked before")
	b.Wait("How do I roll back a release of the billing service?")
}

var keyText = regexp.MustCompile(`docent_(?:pat|team)_[0-9A-Za-z]{16}_[0-9A-Za-z]{49}`)

// status returns the status of GET /me with a key.
func status(t *testing.T, base, key string) int {
	t.Helper()
	return statusOf(t, base+"/me", key)
}

// statusOf returns the status of a GET with a key.
func statusOf(t *testing.T, address, key string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	return reply.StatusCode
}

// TestTokens makes a personal and a limited team key, uses, rotates and revokes one.
func TestTokens(t *testing.T) {
	t.Parallel()
	b, base := signedIn(t)
	b.Click("Settings")
	b.Wait("Personal keys")
	b.Click("Create personal key")
	b.Fill("Name", "Laptop")
	b.Select("Expires", "7")
	b.Click("Create key")
	b.Wait("Laptop is ready")
	personal := keyText.FindString(b.Text("dialog"))
	if got := status(t, base, personal); got != 200 {
		t.Errorf("the key %q: %d", personal, got)
	}
	b.Click("I have copied it")
	b.Wait("Expires in 6 days")
	b.Wait("@example.com, who made it")
	if strings.Contains(b.Text("body"), personal) {
		t.Error("the key is shown again")
	}
	b.Click("Create team key")
	b.Wait("Everything, also for people") // the demo's key
	b.Fill("Name", "Support bot")
	b.Click("May act for people whom the header Docent-User names: it then reads what they may read")
	b.Click("Chosen scopes")
	b.Click("Ask Questions, answers, chat and feedback") // is chosen at first, as reading is
	b.Click("Chosen sources")
	b.Click("About Docent collection")
	b.Click("Create key")
	b.Wait("Support bot is ready")
	first := keyText.FindString(b.Text("dialog"))
	b.Press(browser.KeyEscape)
	b.Gone("Support bot is ready")
	b.Settled()
	b.Wait("About Docent")
	b.Wait("Read, also for people")
	b.Wait("Made by ")
	if read, ask, may := statusOf(t, base+"/documents", first), statusOf(t, base+"/answers", first), b.Text("[data-label=May]"); read != 200 || ask != 403 {
		t.Errorf("a key that may read: documents %d, answers %d, shown as %s", read, ask, may)
	}
	b.Click("Rotate Support bot")
	b.Select("The old key works for", "3600")
	b.Click("Rotate key")
	b.Wait("New secret of Support bot")
	second := keyText.FindString(b.Text("dialog"))
	if a, z := status(t, base, first), status(t, base, second); a != 200 || z != 200 || first == second {
		t.Errorf("within the overlap: the old key %d, the new one %d", a, z)
	}
	b.Click("I have copied it")
	b.Wait("Old key ends in 59 minutes")
	b.Click("Revoke Support bot")
	b.Fill("Type “Support bot” to confirm", "Support bot")
	b.Click("Revoke Support bot")
	b.Gone("Support bot")
	if a, z := status(t, base, first), status(t, base, second); a != 401 || z != 401 {
		t.Errorf("revoked: the old key %d, the new one %d", a, z)
	}
	open(b, "events")
	b.Wait("api_key.revoked")
	b.Wait("session.created")
}

// TestProblemsNameTheirRequest: what fails says why, and by which request.
func TestProblemsNameTheirRequest(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "settings/single-sign-on")
	b.Fill("Address of the metadata", "https://127.0.0.1/metadata")
	b.Click("Read metadata")
	b.Wait("it leads to an address that is not public")
	b.Click("As text or a file")
	b.Fill("The provider’s metadata", "<html>not metadata</html>")
	b.Click("Save metadata")
	b.Wait("EntityDescriptor")
	b.Wait("Request ")
	b.Wait("Refused until a provider is set")
	open(b, "collections/01a20435-7fa4-77c2-a4b7-58247592fc1b")
	b.Wait("There is no such collection")
}

// TestReferenceTriesWithTheSession reads the reference and tries an operation.
func TestReferenceTriesWithTheSession(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "reference")
	b.Fill("Filter operations", "who the key is")
	b.Click("GET /me Who the key is")
	b.Wait("Try it")
	b.Click("Send GET")
	b.Wait(`"kind": "session"`)
	b.Wait("curl -sS")
	b.Fill("Filter operations", "import items")
	b.Click("POST /data-sources/{dataSourceId}/items Import items as JSON Lines")
	b.Wait("-H 'Content-Type: application/x-ndjson'")
	for language, has := range map[string]string{"TypeScript": `"Content-Type": "application/x-ndjson",`, "Python": `data=b"BODY",`, "Go": `Header.Set("Content-Type", "application/x-ndjson")`} {
		b.Click(language)
		b.Wait(has)
	}
}

// TestSignInAndOut signs out, cannot use the link again, and signs in with a key.
func TestSignInAndOut(t *testing.T) {
	t.Parallel()
	link := serve(t)
	b := browser.Open(t)
	b.Go(link)
	b.Wait("Try one of these")
	if at := browser.Value[string](b, "location.href"); strings.Contains(at, link[strings.LastIndex(link, "/")+1:]) {
		t.Errorf("the code stays in the address %s", at)
	}
	open(b, "settings/sessions")
	b.Wait("a one-time link")
	b.Wait("This one")
	open(b, "settings/tokens")
	b.Click("Create personal key")
	b.Fill("Name", "Laptop")
	b.Click("Create key")
	b.Wait("Laptop is ready")
	key := keyText.FindString(b.Text("dialog"))
	b.Click("I have copied it")
	b.Click("Sign out")
	b.Wait("Sign in to Docent")
	b.Go("about:blank")
	b.Go(link)
	b.Wait("This sign-in link was used already, or has expired.")
	b.Fill("Personal key or one-time code", key)
	b.Press(browser.KeyEnter)
	b.Wait("Try one of these")
}

// TestKeyboardAlone asks a question without the mouse, and sees where the focus is.
func TestKeyboardAlone(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	seen := map[string]bool{}
	for range 40 {
		b.Press(browser.KeyTab)
		at := browser.Value[struct {
			ID, Text string
			Visible  bool
		}](b, `(() => { const e = document.activeElement; const s = getComputedStyle(e); return { ID: e.id, Text: e.innerText?.trim() ?? "", Visible: s.outlineStyle !== "none" || e.id === "question" }; })()`)
		if !at.Visible {
			t.Errorf("the focus on %+v is not visible", at)
		}
		seen[at.Text] = true
		if at.ID == "question" {
			break
		}
	}
	for _, want := range []string{"Skip to the content", "Collections", "Settings", "Sign out"} {
		if !seen[want] {
			t.Errorf("the keyboard does not reach %q", want)
		}
	}
	b.Press("W", "h", "e", "n", " ", "s", "h", "o", "u", "l", "d", " ", "a", " ", "c", "l", "i", "e", "n", "t", " ", "r", "e", "t", "r", "y", "?", browser.KeyEnter)
	b.Wait("References")
}
