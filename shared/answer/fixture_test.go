package answer_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/answer"
	"docent/shared/blob/dir"
	"docent/shared/clocktest"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/queue/queuetest"
	"docent/shared/quota"
	"docent/shared/search"
	"docent/shared/search/text"
	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
)

const acme = "acme"

var (
	teamKey = answer.Asker{Reader: access.Everything()}
	ada     = answer.Asker{UserID: "ada", Reader: access.Person("ada", "ada", nil)}
	bob     = answer.Asker{UserID: "bob", Reader: access.Person("bob", "bob", nil)}
	errDown = errors.New("down")
)

// fixture is a service over one store, with a queue that keeps what was sent.
type fixture struct {
	*answer.Service
	t     *testing.T
	clock *clocktest.Clock
	sent  *queuetest.Sent
	warns []pending.Work
	// hidden are the ids of documents that no person may read.
	hidden map[string]time.Time
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	h := &fixture{t: t, clock: clocktest.New(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)), sent: &queuetest.Sent{}}
	h.Service = &answer.Service{
		Table: bolttest.OpenAt(t, h.clock.Now), Work: h.sent, Now: h.clock.Now,
		Unreadable: func(_ context.Context, _ string, _ answer.Asker, _ map[string]time.Time) (unreadable, gone map[string]time.Time, _ error) {
			return h.hidden, nil, nil
		},
		Wait: func(context.Context) error { t.Error("waits without a reason"); return errDown },
		Warn: func(w pending.Work, _ error) { h.warns = append(h.warns, w) },
	}
	return h
}

// ask asks a question and returns its id.
func (h *fixture) ask(asker answer.Asker, question string) string {
	h.t.Helper()
	id := uuid.NewString()
	if _, err := h.Ask(h.t.Context(), acme, asker, answer.Question{ID: id, Text: question}); err != nil {
		h.t.Fatalf("ask %q: %v", question, err)
	}
	return id
}

func (h *fixture) answerOf(id string) answer.Answer {
	h.t.Helper()
	a, err := h.Get(h.t.Context(), acme, teamKey, id)
	if err != nil {
		h.t.Fatalf("get %s: %v", id, err)
	}
	return a
}

// used returns how many questions of the day are counted.
func (h *fixture) used() int64 {
	h.t.Helper()
	item, err := h.Table.Get(h.t.Context(), quota.AnswersKey(acme, quota.Day(h.clock.Now())))
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		h.t.Fatal(err)
	}
	return quota.Used(item)
}

// work returns the work of the message sent last.
func (h *fixture) work() pending.Work {
	h.t.Helper()
	w, err := pending.Decode(h.sent.Bodies[len(h.sent.Bodies)-1])
	if err != nil {
		h.t.Fatal(err)
	}
	return w
}

// isPending reports whether w would be sent again.
func (h *fixture) isPending(w pending.Work) bool {
	h.t.Helper()
	_, err := h.Table.Get(h.t.Context(), w.Key())
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		h.t.Fatal(err)
	}
	return err == nil
}

// worker returns a worker that searches one document, and the answers it has finished.
func (h *fixture) worker() (*answer.Worker, *[]answer.Answer) {
	h.t.Helper()
	finished := &[]answer.Answer{}
	return &answer.Worker{
		Service: h.Service, Search: handbook(h.t), Log: slog.New(slog.DiscardHandler),
		Readers: func(_ context.Context, _, userID string) (access.Reader, error) {
			return access.Person(userID, userID, nil), nil
		},
		OnFinished: func(_ context.Context, a answer.Answer) { *finished = append(*finished, a) },
	}, finished
}

// deliver gives the worker the message sent last, for the receives-th time.
func (h *fixture) deliver(w *answer.Worker, receives int) (failed []string) {
	h.t.Helper()
	body := h.sent.Bodies[len(h.sent.Bodies)-1]
	return w.Batch(h.t.Context(), []queue.Message{{ID: "m1", Body: body, Receives: receives}})
}

// corpus has one document. What a search does not call is left out.
type corpus struct {
	search.Corpus
	doc search.Document
}

func (c corpus) Sources(context.Context, string) (map[string]*access.Rule, error) {
	return map[string]*access.Rule{c.doc.Source: nil}, nil
}

func (c corpus) Texts(_ context.Context, _ string, refs []search.Ref) (map[search.Ref]search.Text, error) {
	texts := map[search.Ref]search.Text{}
	for _, ref := range refs {
		texts[ref] = search.Text{Document: c.doc.ID, Version: c.doc.Version, Source: c.doc.Source, Title: c.doc.Title,
			URI: "https://docs.example/handbook", Body: c.doc.Body, Passages: text.Cut(c.doc.Body)[0].Passages}
	}
	return texts, nil
}

func (c corpus) Read(context.Context, string, []uuid.UUID) iter.Seq2[search.Document, error] {
	return func(func(search.Document, error) bool) {}
}

// handbook returns the search of an index with one short document.
func handbook(t *testing.T) func(context.Context, string, search.Query) (search.Result, error) {
	t.Helper()
	return searchIn(t, "Travel expenses are paid back within ten days.\n")
}

// searchIn returns the search of an index with one document of this body.
func searchIn(t *testing.T, body string) func(context.Context, string, search.Query) (search.Result, error) {
	t.Helper()
	blobs, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	doc := search.Document{ID: uuid.New(), Version: 1, Source: "wiki", Space: search.Documentation, Title: "Handbook", Body: body}
	x := &search.Index{Table: bolttest.Open(t), Blobs: blobs, Corpus: corpus{doc: doc}, Now: time.Now,
		NewID: func() string { return uuid.Must(uuid.NewV7()).String() }}
	if err := x.Publish(t.Context(), acme, []search.Document{doc}, nil); err != nil {
		t.Fatal(err)
	}
	return x.Search
}
