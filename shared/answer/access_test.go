package answer_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"docent/shared/answer"
	"docent/shared/apierr"
	"docent/shared/document"
	"docent/shared/table"
)

// A person erases their question also while its answer is withheld from them.
func TestAWithheldAnswerCanBeErased(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, finished := h.worker()
	id := h.ask(ada, known)
	h.deliver(w, 1)
	h.hidden = map[string]time.Time{(*finished)[0].Documents[0]: document.Forever}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := h.Delete(ctx, acme, ada, id); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Get(t.Context(), acme, teamKey, id); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("it is still there: %v", err)
	}
}

// A person who may no longer read a document that an answer was made from does not read
// the answer, in whatever way they ask for it, until they may read the document again.
func TestAnAnswerIsWithheldWithItsDocuments(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, finished := h.worker()
	id := h.ask(ada, known)
	h.deliver(w, 1)
	if len(*finished) != 1 || len((*finished)[0].Documents) != 1 {
		t.Fatalf("finished %+v", *finished)
	}
	from := (*finished)[0].Documents[0]
	for _, hidden := range []bool{false, true, false} {
		h.hidden = map[string]time.Time{}
		if hidden {
			h.hidden[from] = document.Forever
		}
		for name, asker := range map[string]answer.Asker{"ada": ada, "a team key": teamKey} {
			got, err := h.Get(t.Context(), acme, asker, id)
			if err != nil {
				t.Fatal(err)
			}
			list, err := h.List(t.Context(), acme, asker, table.Window{Limit: 10})
			if err != nil || len(list.Entries) != 1 {
				t.Fatalf("%d listed: %v", len(list.Entries), err)
			}
			for way, a := range map[string]answer.Answer{"read": got, "listed": list.Entries[0].Value} {
				withheld := hidden && name == "ada"
				if withheld && (a.State != answer.Failed || a.Failure.Code != answer.AccessChanged || a.Markdown != "" || a.References != nil || a.Documents != nil) {
					t.Errorf("%s by %s: %+v", way, name, a)
				}
				if !withheld && (a.State != answer.Complete || a.Markdown == "" || len(a.References) == 0) {
					t.Errorf("%s by %s: %+v", way, name, a)
				}
			}
		}
	}
}

// TestAListReadsEachDocumentOnce, however many of its answers were made from it.
func TestAListReadsEachDocumentOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, _ := h.worker()
	for range 3 {
		h.ask(ada, known)
		h.deliver(w, 1)
		h.clock.Advance(time.Second)
	}
	var read []string
	h.Service.Unreadable = func(_ context.Context, _ string, _ answer.Asker, first map[string]time.Time) (unreadable, gone map[string]time.Time, _ error) {
		read = slices.AppendSeq(read, maps.Keys(first))
		return nil, nil, nil
	}
	slice, err := h.List(t.Context(), acme, ada, table.Window{Limit: 10})
	if err != nil || len(slice.Entries) != 3 {
		t.Fatalf("%d answers, %v", len(slice.Entries), err)
	}
	if len(read) != 1 {
		t.Errorf("reads %q", read)
	}
}
