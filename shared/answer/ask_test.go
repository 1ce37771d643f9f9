package answer_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/answer"
	"docent/shared/apierr"
	"docent/shared/quota"
	"docent/shared/table"
)

func TestAskingRecordsCountsAndSends(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	id := uuid.NewString()
	asker := answer.Asker{UserID: "ada", Reader: access.Everything(), Sources: []string{"wiki"}}
	q := answer.Question{ID: id, Text: "When are expenses paid?", RequestID: "r1"}
	if _, err := h.Ask(t.Context(), acme, asker, q); err != nil {
		t.Fatal(err)
	}
	a := h.answerOf(id)
	if a.State != answer.Processing || a.Question != q.Text || a.UserID != "ada" || len(a.Sources) != 1 || !a.AskedAt.Equal(h.clock.Now()) {
		t.Errorf("recorded %+v", a)
	}
	w := h.work()
	if len(h.sent.Bodies) != 1 || w.ID != id || w.TeamID != acme || w.RequestID != "r1" {
		t.Errorf("sent %d messages, the last for %+v", len(h.sent.Bodies), w)
	}
	if !h.isPending(w) {
		t.Error("nothing is pending: a lost message would lose the question")
	}
	if n := h.used(); n != 1 {
		t.Errorf("%d questions are counted", n)
	}
}

func TestAskingAgainCountsAndSendsOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	q := answer.Question{ID: uuid.NewString(), Text: "When are expenses paid?"}
	for range 3 {
		if _, err := h.Ask(t.Context(), acme, ada, q); err != nil {
			t.Fatal(err)
		}
	}
	if len(h.sent.Bodies) != 1 || h.used() != 1 {
		t.Errorf("%d messages, %d counted", len(h.sent.Bodies), h.used())
	}
}

func TestATakenIDIsAConflict(t *testing.T) {
	t.Parallel()
	const text = "When are expenses paid?"
	restricted := answer.Asker{UserID: "ada", Reader: access.Everything(), Sources: []string{"wiki"}}
	cases := []struct {
		name, team, text string
		asker            answer.Asker
	}{
		{"with another text", acme, "Who pays?", ada},
		{"by another user", acme, text, bob},
		{"by a key that may read less", acme, text, restricted},
		{"by another team", "rival", text, ada},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			id := h.ask(ada, text)
			_, err := h.Ask(t.Context(), c.team, c.asker, answer.Question{ID: id, Text: c.text})
			if !apierr.IsCode(err, apierr.CodeAnswerConflict) {
				t.Errorf("error %v, want a conflict", err)
			}
			if len(h.sent.Bodies) != 1 || h.used() != 1 {
				t.Errorf("%d messages, %d counted", len(h.sent.Bodies), h.used())
			}
		})
	}
}

func TestTheQuotaOfTheDay(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	day := quota.Day(h.clock.Now())
	for range quota.AnswersPerDay - 1 {
		if _, err := h.Table.Add(t.Context(), quota.Step(quota.AnswersKey(acme, day), day, quota.AnswersPerDay)); err != nil {
			t.Fatal(err)
		}
	}
	h.ask(teamKey, "the last one")
	refused := answer.Question{ID: uuid.NewString(), Text: "one more"}
	state, err := h.Ask(t.Context(), acme, teamKey, refused)
	var exceeded *quota.ExceededError
	if !errors.As(err, &exceeded) || state.Remaining() != 0 {
		t.Fatalf("error %v with %d remaining, want an exceeded quota", err, state.Remaining())
	}
	if _, err := h.Get(t.Context(), acme, teamKey, refused.ID); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("a refused question is recorded: %v", err)
	}
	if len(h.sent.Bodies) != 1 {
		t.Errorf("%d messages", len(h.sent.Bodies))
	}
	if _, err := h.Ask(t.Context(), "rival", teamKey, answer.Question{ID: uuid.NewString(), Text: "of another team"}); err != nil {
		t.Errorf("another team: %v", err)
	}
	h.clock.Set(day.Reset)
	if _, err := h.Ask(t.Context(), acme, teamKey, refused); err != nil {
		t.Errorf("on the next day: %v", err)
	}
}

func TestAQueueThatFailsOnlyDelays(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.sent.Err = errDown
	id := h.ask(teamKey, "When are expenses paid?")
	if len(h.warns) != 1 || h.warns[0].ID != id || !h.isPending(h.warns[0]) {
		t.Errorf("warned of %+v", h.warns)
	}
}

func TestDeletingAQuestion(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	id := h.ask(ada, "When are expenses paid?")
	if err := h.Delete(t.Context(), acme, bob, id); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("another user deletes it: %v", err)
	}
	if err := h.Delete(t.Context(), acme, ada, id); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Get(t.Context(), acme, ada, id); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("it is still there: %v", err)
	}
	if err := h.Delete(t.Context(), acme, ada, id); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	if h.isPending(h.work()) {
		t.Error("its work is pending")
	}
	list, err := h.List(t.Context(), acme, ada, table.Window{Limit: 10})
	if err != nil || len(list.Entries) != 0 {
		t.Errorf("listed %v: %v", list.Entries, err)
	}
	_, err = h.Ask(t.Context(), acme, ada, answer.Question{ID: id, Text: "When are expenses paid?"})
	if !apierr.IsCode(err, apierr.CodeAnswerConflict) {
		t.Errorf("its id can be used again: %v", err)
	}
}

func TestReadingWhatOneMay(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	id := h.ask(ada, "When are expenses paid?")
	cases := []struct {
		name, team, id string
		asker          answer.Asker
		ok             bool
	}{
		{"its user", acme, id, ada, true},
		{"a team key", acme, id, teamKey, true},
		{"another user", acme, id, bob, false},
		{"another team", "rival", id, teamKey, false},
		{"an unknown id", acme, uuid.NewString(), ada, false},
		{"not an id", acme, "../answers", ada, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := h.Get(t.Context(), c.team, c.asker, c.id)
			if c.ok != (err == nil) || err != nil && !apierr.IsCode(err, apierr.CodeNotFound) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestListsAreNewestFirst(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	limited := answer.Asker{UserID: "ada", Reader: access.Everything(), Sources: []string{"wiki"}}
	for _, q := range []struct {
		asker answer.Asker
		text  string
	}{{ada, "first"}, {bob, "second"}, {limited, "third"}, {teamKey, "fourth"}} {
		h.ask(q.asker, q.text)
		h.clock.Advance(time.Second)
	}
	cases := []struct {
		name  string
		asker answer.Asker
		limit int
		want  string
	}{
		{"a team key sees all", teamKey, 10, "fourth third second first"},
		{"a page", teamKey, 2, "fourth third"},
		{"a user sees their own", ada, 10, "third first"},
		{"a restricted key sees what was asked within its sources", limited, 10, "third"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			list, err := h.List(t.Context(), acme, c.asker, table.Window{Limit: c.limit})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for i, e := range list.Entries {
				if i > 0 {
					got += " "
				}
				got += e.Value.Question
			}
			if got != c.want {
				t.Errorf("listed %q, want %q", got, c.want)
			}
		})
	}
}
