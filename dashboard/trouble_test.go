package dashboard_test

import (
	"net/url"
	"strings"
	"testing"

	"docent/testkit/browser"
)

// fails lets the calls of the API for whose path and method the JavaScript expression is true end without a reply, as a
// lost connection does. An empty expression ends that.
func fails(b *browser.Tab, when string) {
	if when == "" {
		when = "false"
	}
	browser.Value[bool](b, `(() => {
		const real = (window.realFetch ??= window.fetch.bind(window));
		window.fetch = (path, o) => { const method = o?.method ?? "GET"; return (`+when+`) ? Promise.reject(new TypeError("no connection")) : real(path, o); };
		return true;
	})()`)
}

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

// TestSigningOutFailsAloud: whoever could not be signed out is told so.
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
