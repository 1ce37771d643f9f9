package answer_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/access"
	"docent/shared/answer"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/search"
)

const (
	known   = "When are travel expenses paid back?"
	unknown = "Which insurance covers the dentist?"
)

func TestWhatIsFoundIsQuoted(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, finished := h.worker()
	id := h.ask(ada, known)
	if failed := h.deliver(w, 1); failed != nil {
		t.Fatalf("failed: %v", failed)
	}
	a := h.answerOf(id)
	if a.State != answer.Complete || !strings.Contains(a.Markdown, "within ten days") {
		t.Errorf("%s: %s", a.State, a.Markdown)
	}
	if len(a.References) != 1 || a.References[0] != (answer.Reference{HTMLURL: "https://docs.example/handbook", Title: "Handbook"}) {
		t.Errorf("references %+v", a.References)
	}
	if h.isPending(h.work()) {
		t.Error("its work is still pending")
	}
	if len(*finished) != 1 || (*finished)[0].QuestionID != id {
		t.Errorf("finished %+v", *finished)
	}
}

func TestAMessageThatIsDeliveredAgainChangesNothing(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, finished := h.worker()
	id := h.ask(ada, known)
	h.deliver(w, 1)
	before := h.answerOf(id)
	w.Search = func(context.Context, string, search.Query) (search.Result, error) {
		t.Error("a finished question is searched again")
		return search.Result{}, nil
	}
	if failed := h.deliver(w, 2); failed != nil {
		t.Errorf("failed: %v", failed)
	}
	if a := h.answerOf(id); a.Markdown != before.Markdown || len(*finished) != 1 {
		t.Errorf("finished %d times, with %q", len(*finished), a.Markdown)
	}
}

func TestADeletedQuestionIsNotAnswered(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, finished := h.worker()
	id := h.ask(ada, known)
	found := w.Search
	w.Search = func(ctx context.Context, teamID string, q search.Query) (search.Result, error) {
		if err := h.Delete(ctx, acme, ada, id); err != nil { // while it is answered
			t.Error(err)
		}
		return found(ctx, teamID, q)
	}
	if failed := h.deliver(w, 1); failed != nil || len(*finished) != 0 {
		t.Errorf("failed %v, finished %+v", failed, *finished)
	}
	if _, err := h.Get(t.Context(), acme, ada, id); err == nil {
		t.Error("the answer brought the question back")
	}
}

func TestNothingFoundIsAnAnswer(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, _ := h.worker()
	w.Compose = func(context.Context, string, string, []search.Hit, func(answer.Composed)) (answer.Composed, error) {
		t.Error("a model is asked although nothing was found")
		return answer.Composed{}, nil
	}
	id := h.ask(ada, unknown)
	h.deliver(w, 1)
	if a := h.answerOf(id); a.State != answer.Complete || a.Markdown == "" || len(a.References) != 0 {
		t.Errorf("%s, %d references: %s", a.State, len(a.References), a.Markdown)
	}
}

func TestASearchIsWithinTheAskersSources(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, _ := h.worker()
	var got search.Query
	w.Search = func(_ context.Context, teamID string, q search.Query) (search.Result, error) {
		if teamID != acme {
			t.Errorf("searches %s", teamID)
		}
		got = q
		return search.Result{}, nil
	}
	h.ask(answer.Asker{Reader: access.Everything(), Sources: []string{"wiki"}}, known)
	h.deliver(w, 1)
	if got.Text != known || len(got.Sources) != 1 || got.Sources[0] != "wiki" || got.Limit == 0 {
		t.Errorf("searched %+v", got)
	}
}

// TestNothingIsToldOfADocumentThatIsClosedMeanwhile: the answer is stored nevertheless, for those who may read it.
func TestNothingIsToldOfADocumentThatIsClosedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, asker := range map[string]answer.Asker{"a person": ada, "a team key": teamKey} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			w, _ := h.worker()
			w.Unreadable = func(_ context.Context, _ string, asker answer.Asker, first map[string]time.Time) (unreadable, gone map[string]time.Time, _ error) {
				if asker.Reader.All() || h.hidden == nil {
					return nil, nil, nil
				}
				return first, nil, nil
			}
			w.Compose = func(_ context.Context, _, _ string, _ []search.Hit, soFar func(answer.Composed)) (answer.Composed, error) {
				soFar(answer.Composed{Markdown: "Within"})
				h.hidden = map[string]time.Time{}
				h.clock.Advance(time.Second)
				soFar(answer.Composed{Markdown: "Within ten"})
				h.hidden = nil
				h.clock.Advance(time.Second)
				soFar(answer.Composed{Markdown: "Within ten days"})
				return answer.Composed{Markdown: "Within ten days [1]."}, nil
			}
			h.ask(asker, known)
			work, err := pending.Decode(h.sent.Bodies[len(h.sent.Bodies)-1])
			if err != nil {
				t.Fatal(err)
			}
			var told []string
			if err := w.Run(t.Context(), work, answer.Listener{Written: func(c answer.Composed) { told = append(told, c.Markdown) }}); err != nil {
				t.Fatal(err)
			}
			want := []string{"Within", "Within ten", "Within ten days"}
			if asker.UserID != "" {
				want = want[:1]
			}
			if !slices.Equal(told, want) {
				t.Errorf("told %q, want %q", told, want)
			}
			if a := h.answerOf(work.ID); a.State != answer.Complete || a.Markdown != "Within ten days [1]." {
				t.Errorf("stored %s: %s", a.State, a.Markdown)
			}
		})
	}
}

func TestAModelWritesOrTheAnswerQuotes(t *testing.T) {
	t.Parallel()
	written := answer.Composed{Markdown: "Within ten days [1].", References: []answer.Reference{{HTMLURL: "https://docs.example/handbook"}},
		ModelUse: answer.ModelUse{Outcome: "written", InputTokens: 7, OutputTokens: 3}}
	cases := []struct {
		name     string
		composed answer.Composed
		err      error
		want     string
	}{
		{"it writes", written, nil, written.Markdown},
		{"it writes nothing that holds", answer.Composed{ModelUse: answer.ModelUse{Outcome: "rejected"}}, nil, "> "},
		{"it fails", answer.Composed{ModelUse: answer.ModelUse{Outcome: "failed"}}, errDown, "> "},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			w, finished := h.worker()
			w.Compose = func(_ context.Context, question, _ string, found []search.Hit, _ func(answer.Composed)) (answer.Composed, error) {
				if question != known || len(found) == 0 {
					t.Errorf("asked %q with %d passages", question, len(found))
				}
				return c.composed, c.err
			}
			id := h.ask(ada, known)
			if failed := h.deliver(w, 1); failed != nil {
				t.Fatalf("failed: %v", failed)
			}
			a := h.answerOf(id)
			if a.State != answer.Complete || !strings.Contains(a.Markdown, c.want) || len(a.References) != 1 {
				t.Errorf("%s, %d references: %s", a.State, len(a.References), a.Markdown)
			}
			if m := (*finished)[0].Model; m == nil || *m != c.composed.ModelUse {
				t.Errorf("model use %+v, want %+v", m, c.composed.ModelUse)
			}
		})
	}
}

func TestAFailedSearchIsTriedAgainAndGivenUpAtLast(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		cause error
		code  string
	}{
		{"an error", errDown, answer.GenerationFailed},
		{"no time", fmt.Errorf("read: %w", context.DeadlineExceeded), answer.TimedOut},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			w, finished := h.worker()
			w.Search = func(context.Context, string, search.Query) (search.Result, error) { return search.Result{}, c.cause }
			id := h.ask(ada, known)
			for receives := 1; receives < queue.MaxReceives; receives++ {
				if failed := h.deliver(w, receives); len(failed) != 1 || failed[0] != "m1" {
					t.Fatalf("delivery %d failed %v", receives, failed)
				}
				if a := h.answerOf(id); a.State != answer.Processing {
					t.Fatalf("after delivery %d: %s", receives, a.State)
				}
			}
			h.deliver(w, queue.MaxReceives)
			a := h.answerOf(id)
			if a.State != answer.Failed || a.Failure == nil || a.Failure.Code != c.code || a.Failure.Detail == "" {
				t.Errorf("%s: %+v", a.State, a.Failure)
			}
			if h.isPending(h.work()) || len(*finished) != 1 {
				t.Errorf("pending %v, finished %d times", h.isPending(h.work()), len(*finished))
			}
		})
	}
}

func TestAMessageThatIsNotWorkFails(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, _ := h.worker()
	failed := w.Batch(t.Context(), []queue.Message{{ID: "bad", Body: []byte("{"), Receives: queue.MaxReceives}})
	if len(failed) != 1 || failed[0] != "bad" {
		t.Errorf("failed %v", failed)
	}
}

func TestGivingUpEndsOnlyWhatIsProcessing(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, _ := h.worker()
	late := h.ask(ada, known)
	if err := w.GiveUp(t.Context(), h.work()); err != nil {
		t.Fatal(err)
	}
	if a := h.answerOf(late); a.State != answer.Failed || a.Failure.Code != answer.TimedOut {
		t.Errorf("%s: %+v", a.State, a.Failure)
	}
	done := h.ask(ada, known)
	h.deliver(w, 1)
	if err := w.GiveUp(t.Context(), h.work()); err != nil {
		t.Fatal(err)
	}
	if a := h.answerOf(done); a.State != answer.Complete {
		t.Errorf("a complete answer became %s", a.State)
	}
}

func TestAwaitingAnAnswer(t *testing.T) {
	t.Parallel()
	const patience = 20 * time.Second
	cases := []struct {
		name  string
		wait  func(h *fixture, w *answer.Worker) error
		want  answer.State
		waits int
	}{
		{"it is answered in time", func(h *fixture, w *answer.Worker) error { h.deliver(w, 1); return nil }, answer.Complete, 1},
		{"patience ends", func(h *fixture, _ *answer.Worker) error { h.clock.Advance(patience / 2); return nil }, answer.Processing, 2},
		{"the request ends", func(*fixture, *answer.Worker) error { return context.Canceled }, answer.Processing, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			w, _ := h.worker()
			id := h.ask(ada, known)
			waits := 0
			h.Wait = func(context.Context) error { waits++; return c.wait(h, w) }
			a, err := h.Await(t.Context(), acme, ada, id, patience)
			if err != nil || a.State != c.want || waits != c.waits {
				t.Errorf("%s after %d waits: %v, want %s after %d", a.State, waits, err, c.want, c.waits)
			}
		})
	}
}
