package httpapi_test

import (
	"strings"
	"testing"

	"docent/shared/team"
)

// A key that acts for several people may use one Idempotency-Key for each of them: neither gets the other's answer, nor
// learns that the other asked.
func TestAnIdempotencyKeyOfAChatIsOfOnePerson(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.provisioned("acme")
	ada, eve := a.newColleague(x, "ada@acme.test"), a.newColleague(x, "eve@acme.test")
	_, bot := a.newKey(x.ID, team.NewKey{Kind: team.KindTeam, Name: "bot", ActFor: true})
	wiki := a.newCollection(x.key, "wiki")
	a.putWith(x.key, wiki, "https://wiki.test/a", only(ada.name)).want(t, 200)
	a.drain()
	ask := func(who colleague) string {
		t.Helper()
		return a.do(call{"POST", "/chat/completions", bot, map[string]any{"model": "docent",
			"messages": []any{map[string]any{"role": "user", "content": "Where is the kirschkern kept?"}}},
			map[string]string{"Docent-User": who.name, "Idempotency-Key": "k"}}).want(t, 200).text(t, "id")
	}
	first, second := ask(ada), ask(eve)
	if first == second || ask(ada) != first || ask(eve) != second {
		t.Errorf("the questions are %s and %s", first, second)
	}
}

// Whoever follows a response must be able to read it; one of another person is like none.
func TestAResponseFollowsOnlyWhatItsReaderMayRead(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.provisioned("acme")
	ada, eve := a.newColleague(x, "ada@acme.test"), a.newColleague(x, "eve@acme.test")
	_, bot := a.newKey(x.ID, team.NewKey{Kind: team.KindTeam, Name: "bot", ActFor: true})
	wiki := a.newCollection(x.key, "wiki")
	a.putWith(x.key, wiki, "https://wiki.test/a", only(ada.name)).want(t, 200)
	a.drain()
	ask := func(who colleague, previous string) call {
		return call{"POST", "/responses", bot, map[string]any{"model": "docent", "input": "Where is the kirschkern kept?", "previous_response_id": previous},
			map[string]string{"Docent-User": who.name}}
	}
	of := a.do(ask(ada, "")).want(t, 200)
	if !strings.Contains(string(of.body), "https://wiki.test/a") {
		t.Errorf("ada reads %s", of.body)
	}
	if other := a.do(ask(eve, "")).want(t, 200); strings.Contains(string(other.body), "https://wiki.test/a") {
		t.Errorf("eve reads %s", other.body)
	}
	a.do(ask(ada, of.text(t, "id"))).want(t, 200)
	absent, theirs := a.do(ask(eve, unknownID)).want(t, 400), a.do(ask(eve, of.text(t, "id"))).want(t, 400)
	if absent.text(t, "detail") != theirs.text(t, "detail") {
		t.Errorf("%s, but %s", absent.body, theirs.body)
	}
}

// The same question means another thing after other questions.
func TestAnIdempotencyKeyOfAChatIsOfOneConversation(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	chat := func(before string) call {
		return call{"POST", "/chat/completions", x.key, map[string]any{"model": "docent", "messages": []any{
			map[string]any{"role": "user", "content": before}, map[string]any{"role": "assistant", "content": "Yes."},
			map[string]any{"role": "user", "content": "Where is it kept?"}}}, map[string]string{"Idempotency-Key": "k"}}
	}
	first := a.do(chat("Is there a kirschkern?")).want(t, 200).text(t, "id")
	if again := a.do(chat("Is there a kirschkern?")).want(t, 200).text(t, "id"); again != first {
		t.Errorf("the repeated question is %s, not %s", again, first)
	}
	a.refused(chat("Is there an elderberry?"), 409, "answer-conflict")
}
