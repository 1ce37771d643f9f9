package dashboard_test

import (
	"strings"
	"testing"

	"docent/testkit/browser"
)

// endSession ends the session of the tab, as time does.
func endSession(t *testing.T, b *browser.Tab) {
	t.Helper()
	if !browser.Value[bool](b, `fetch("../sessions/current", { method: "DELETE" }).then((r) => r.ok)`) {
		t.Fatal("the session does not end")
	}
}

// TestTheListOfSessionsAsksToSignIn, as every page does, when the session has ended.
func TestTheListOfSessionsAsksToSignIn(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	endSession(t, b)
	open(b, "settings/sessions")
	b.Wait("Your session has ended.")
}

// TestTheWayBackLeadsPastTheDoor: the sign-in page does not stay in the history, and whoever comes from it with a session is in.
func TestTheWayBackLeadsPastTheDoor(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	if at := browser.Value[string](b, `navigation.entries().map((e) => e.url).join(" ")`); strings.Contains(at, "sign-in") {
		t.Errorf("the history has %s", at)
	}
	open(b, "sign-in")
	b.Wait("Sign in to Docent")
	browser.Value[bool](b, `history.back() ?? true`)
	b.Wait("Try one of these")
	b.Gone("Sign in to Docent")
}

// TestAnyReasonOfAFailedSignIn: the code in the address may be anything.
func TestAnyReasonOfAFailedSignIn(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "sign-in-failed/constructor")
	b.Wait("The sign-in failed.")
}
