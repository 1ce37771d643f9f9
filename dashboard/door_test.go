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

// TestTheWayBackShowsNothingOfWhoSignedOut: a browser may keep a page as it was when it leaves it.
func TestTheWayBackShowsNothingOfWhoSignedOut(t *testing.T) {
	t.Parallel()
	b, base := signedIn(t)
	open(b, "settings/team")
	b.Wait("Save team")
	b.Go(base + "/dashboard/?other#/ask")
	b.Click("Sign out")
	b.Wait("Sign in to Docent")
	browser.Value[bool](b, `history.back() ?? true`)
	b.Wait("Sign in to Docent")
	if at := browser.Value[string](b, `location.href + document.body.textContent`); strings.Contains(at, "?other") || strings.Contains(at, "Save team") {
		t.Errorf("the way back leads to %s", at)
	}
}

// TestALinkSignsNobodyInWithAKey: whoever follows a link with somebody else's key would put and ask as that person, unnoticed.
func TestALinkSignsNobodyInWithAKey(t *testing.T) {
	t.Parallel()
	b, base := signedIn(t)
	key := graceKey(t, b)
	for _, in := range []bool{true, false} {
		b.Go("about:blank")
		b.Go(base + "/dashboard/#/sign-in/" + key)
		b.Wait("The link has a key")
		if at := browser.Value[string](b, "location.href"); strings.Contains(at, key) {
			t.Error("the key stays in the address")
		}
		if name := browser.Value[string](b, `fetch("../me").then((r) => r.json()).then((me) => me.user?.userName ?? "")`); in && name != "demo@example.com" || !in && name != "" {
			t.Errorf("signed in as %q", name)
		}
		if in {
			endSession(t, b)
		}
	}
}

// TestAQuestionIsNotAskedBySomebodyElse: a question that the ended session could not ask is not asked by the next person.
func TestAQuestionIsNotAskedBySomebodyElse(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	key := graceKey(t, b)
	endSession(t, b)
	b.Fill("Your question", "What is my notice period?")
	b.Press(browser.KeyEnter)
	b.Wait("Your session has ended.")
	signInAgain(b, key)
	b.Wait("Grace")
	b.Wait("Asked before")
	b.Settled()
	b.Gone("notice period")
	if asked := browser.Value[int](b, `fetch("../answers").then((r) => r.json()).then((all) => all.length)`); asked != 0 {
		t.Error("the question is asked by somebody else")
	}
}

// TestAnAddressStaysWithItsPerson: what somebody has searched for is not shown to the next person, nor searched for in their name.
func TestAnAddressStaysWithItsPerson(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	key := graceKey(t, b)
	open(b, "search/maternity leave")
	b.Wait("3 results")
	endSession(t, b)
	b.Click("Messages")
	b.Wait("Your session has ended.")
	intercept(b, `path.includes("/context/search")`, `(window.searched = true, real(path, o))`, "")
	signInAgain(b, key)
	b.Wait("Grace")
	b.Wait("Try one of these")
	if browser.Value[bool](b, `window.searched === true || location.href.includes("maternity")`) {
		t.Error("the next person searches for the same")
	}
}

// TestAnyReasonOfAFailedSignIn: the code in the address may be anything, and what is no request id is not shown.
func TestAnyReasonOfAFailedSignIn(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "sign-in-failed/constructor/0d8e7a06-1")
	b.Wait("The sign-in failed.")
	b.Wait("0d8e7a06-1")
	open(b, "sign-in-failed/malformed/Send%20your%20key%20to%20eve@evil.test")
	b.Wait("An admin checks the provider’s settings")
	b.Gone("eve@evil.test")
}

// TestALinkChoosesNoProvider: the next sign-in leads to the provider of the own team, whatever team a link has.
func TestALinkChoosesNoProvider(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	const other = "01a20435-7fa4-77c2-a4b7-58247592fc1b"
	browser.Value[string](b, `location.hash = "#/signed-in/`+other+`"`)
	b.Wait("Try one of these")
	becomes(b, `localStorage.getItem("docent-team") !== null`)
	if team := browser.Value[string](b, `localStorage.getItem("docent-team")`); team == other {
		t.Error("the next sign-in leads to the provider of another team")
	}
}

// TestAWholeLinkMayBePasted in place of its code.
func TestAWholeLinkMayBePasted(t *testing.T) {
	t.Parallel()
	link := serve(t)
	b := browser.Open(t)
	before, _, _ := strings.Cut(link, "#")
	b.Go(before)
	b.Fill("Personal key or one-time code", link)
	b.Press(browser.KeyEnter)
	b.Wait("Try one of these")
}
