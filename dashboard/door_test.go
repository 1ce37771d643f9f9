package dashboard_test

import (
	"strings"
	"testing"

	"docent/testkit/browser"
)

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
