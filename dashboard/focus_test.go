package dashboard_test

import (
	"strings"
	"testing"

	"docent/testkit/browser"
)

// hidden returns what the bar or the menu hides although it has the focus, and reached how many elements had it.
const hidden = `[...document.querySelectorAll("main :is(a, button, input, select, textarea, summary)")].filter((e) => e.checkVisibility() && !e.closest(".hidden") && !e.disabled).reverse().map((e) => {
	e.focus();
	const r = e.getBoundingClientRect();
	return document.activeElement === e && document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)?.closest(".bar, .side") ? e.outerHTML.slice(0, 80) : "";
}).filter(Boolean).join("\n")`

// TestAButtonKeepsTheFocus although it is disabled while what it does is done: the keyboard continues from there, and a screen
// reader stays there.
func TestAButtonKeepsTheFocus(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	b.Click("When should a client retry?")
	b.Wait("Helpful")
	for range 60 {
		if b.Text(":focus") == "Helpful" {
			break
		}
		b.Press(browser.KeyTab)
	}
	b.Press(browser.KeyEnter)
	b.Wait("Thank you.")
	if at := b.Text(":focus"); at != "Helpful" {
		t.Errorf("the focus is on %q", at)
	}
}

// TestNothingHidesTheFocus on a narrow screen: neither the bar, when the keyboard goes up a page, nor the open menu.
func TestNothingHidesTheFocus(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	b.Look(360, 640, "light")
	for _, page := range []string{"reference", "settings/single-sign-on"} {
		open(b, page)
		browser.Value[bool](b, `(scrollTo(0, document.body.scrollHeight), true)`)
		if text := browser.Value[string](b, hidden); text != "" {
			t.Errorf("%s: the bar hides\n%s", page, text)
		}
	}
	open(b, "search")
	b.Click("Menu")
	b.Wait("Security events")
	for range 30 {
		b.Press(browser.KeyTab)
		if browser.Value[bool](b, `document.activeElement.closest("main") !== null`) {
			break
		}
	}
	b.Gone("Security events")
	if at := browser.Value[string](b, `document.activeElement.ariaLabel`); at != "Search for" {
		t.Errorf("after the menu the focus is on %q", at)
	}
}

// TestTheFocusStaysInThePageThatChanges: after a row was deleted, its button is gone that had the focus.
func TestTheFocusStaysInThePageThatChanges(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "collections")
	page := strings.TrimPrefix(browser.Value[string](b, `document.querySelector("a.card").hash`), "#/")
	open(b, page)
	b.Wait("Ready")
	title := browser.Value[string](b, `document.querySelector("tbody button:last-of-type").textContent`)
	b.Click(title)
	b.Click("Delete document")
	b.Gone(title)
	becomes(b, `document.activeElement === document.querySelector("main")`)
}
