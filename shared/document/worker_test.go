package document_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/document"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/search"
	"docent/shared/search/text"
	"docent/shared/table"
)

func TestAWorkerPublishesTheCurrentVersion(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"short": "Body.", "long": strings.Repeat("Long body. ", text.InlineBytes)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			w, x := h.worker()
			id, version := h.put(h.text("Handbook", body))
			for receives := range 2 { // the second time changes nothing
				if h.deliver(w, h.message(0), receives+1) {
					t.Fatalf("delivery %d failed", receives+1)
				}
			}
			if len(x.published) != 1 {
				t.Fatalf("published %d times", len(x.published))
			}
			d := x.published[0]
			if d.ID.String() != id || d.Version != version || d.Source != h.wiki || d.Space != search.Documentation || d.Title != "Handbook" || d.Body != body {
				t.Errorf("published %+v", d)
			}
			if len(d.Chunks) != h.chunks(id, version) {
				t.Errorf("%d chunks, stored %d", len(d.Chunks), h.chunks(id, version))
			}
			if kinds, _ := h.pending(); kinds != "" || h.read(id).Indexing.State != document.Indexed {
				t.Errorf("%s, pending: %s", h.read(id).Indexing.State, kinds)
			}
		})
	}
}

func TestTheMessageOfAnOutdatedVersionPublishesNothing(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, x := h.worker()
	id, first := h.put(h.text("Handbook", strings.Repeat("First. ", text.InlineBytes)))
	h.clock.Advance(time.Second)
	_, second := h.put(h.text("Handbook", "Second."))
	if h.deliver(w, h.message(0), 1) || len(x.published) != 0 {
		t.Errorf("published %+v", x.published)
	}
	if kinds, all := h.pending(); len(all) != 1 || all[0].Version != second {
		t.Errorf("pending: %s", kinds)
	}
	if h.chunks(id, first) == 0 {
		t.Error("the old chunks are gone before the new version can be found")
	}
	if h.deliver(w, h.message(1), 1) || len(x.published) != 1 || x.published[0].Version != second {
		t.Errorf("published %+v", x.published)
	}
	if h.chunks(id, first) != 0 || x.stale[h.wiki] == 0 {
		t.Errorf("%d old chunks, stale %v", h.chunks(id, first), x.stale)
	}
}

// Both messages in one batch, in either order, are one document.
func TestABatchWithTwoVersionsOfADocument(t *testing.T) {
	t.Parallel()
	for name, order := range map[string][]int{"in order": {0, 1}, "out of order": {1, 0}, "one of them twice": {1, 0, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			w, x := h.worker()
			h.put(h.text("Handbook", "First."))
			h.clock.Advance(time.Second)
			_, second := h.put(h.text("Handbook", "Second."))
			var batch []queue.Message
			for _, n := range order {
				batch = append(batch, queue.Message{ID: "m", Body: h.sent.Bodies[n], Receives: 1})
			}
			if failed := w.Batch(t.Context(), batch); failed != nil || len(x.published) != 1 || x.published[0].Version != second || x.merges != 1 {
				t.Errorf("failed %v, published %+v, merged %d times", failed, x.published, x.merges)
			}
			if kinds, _ := h.pending(); kinds != "" {
				t.Errorf("pending: %s", kinds)
			}
		})
	}
}

func TestIndexingThatFailsIsTriedAgainAndGivenUpAtLast(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, x := h.worker()
	x.err = errDown
	in := h.text("Handbook", "Body.")
	id, first := h.put(in)
	for receives := 1; receives < queue.MaxReceives; receives++ {
		if !h.deliver(w, h.message(0), receives) {
			t.Fatalf("delivery %d did not fail", receives)
		}
		if state := h.read(id).Indexing.State; state != document.Pending {
			t.Fatalf("after delivery %d: %s", receives, state)
		}
	}
	h.deliver(w, h.message(0), queue.MaxReceives)
	d := h.read(id)
	if d.Indexing.State != document.Failed || d.Indexing.Code == "" || d.Indexing.Detail == "" || d.Body != "Body." {
		t.Errorf("given up: %+v", d)
	}
	if kinds, _ := h.pending(); kinds != "" {
		t.Errorf("pending: %s", kinds)
	}
	// Put again it is indexed again, although nothing has changed.
	h.clock.Advance(time.Hour)
	x.err = nil
	_, second := h.put(in)
	if d := h.read(id); second <= first || d.Indexing.State != document.Pending || d.UpdatedAt.Equal(h.clock.Now()) {
		t.Errorf("put again: %+v", d)
	}
	if h.deliver(w, h.message(1), 1) || h.read(id).Indexing.State != document.Indexed {
		t.Errorf("then: %+v", h.read(id).Indexing)
	}
}

// TestGivingUpLeavesWhatIsFoundByWords gives up a message of a document that has been indexed and waits for its vectors.
func TestGivingUpLeavesWhatIsFoundByWords(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, _ := h.worker()
	w.Meaning, w.Embeddings = true, h.sent
	id, _ := h.put(h.text("Handbook", "Body."))
	message := h.message(0)
	h.deliver(w, message, 1)
	if err := w.GiveUp(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	if d := h.read(id); d.Indexing.State != document.Indexed {
		t.Errorf("%+v", d.Indexing)
	}
	if kinds, _ := h.pending(); kinds != "index-document" {
		t.Errorf("pending: %q, want the vectors", kinds)
	}
}

// TestTheMessageForVectorsIsThatOfTheSweeper, so that a queue in memory can tell that it waits there already.
func TestTheMessageForVectorsIsThatOfTheSweeper(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, _ := h.worker()
	w.Meaning, w.Embeddings = true, h.sent
	in := h.text("Handbook", "Body.")
	in.RequestID = "request"
	h.put(in)
	h.deliver(w, h.message(0), 1)
	_, waiting := h.pending()
	if len(waiting) != 1 || len(h.sent.Bodies) != 2 {
		t.Fatalf("pending %v, %d messages", waiting, len(h.sent.Bodies))
	}
	if sent, again := string(h.sent.Bodies[1]), string(waiting[0].Message()); sent != again {
		t.Errorf("sent %s, and again as %s", sent, again)
	}
}

func TestGivingUpConcernsTheVersionOfItsMessage(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, _ := h.worker()
	id, _ := h.put(h.text("Handbook", "First."))
	h.clock.Advance(time.Second)
	_, second := h.put(h.text("Handbook", "Second."))
	if err := w.GiveUp(t.Context(), h.message(0)); err != nil {
		t.Fatal(err)
	}
	if state := h.read(id).Indexing.State; state != document.Pending {
		t.Errorf("the version after it is %s", state)
	}
	if kinds, all := h.pending(); len(all) != 1 || all[0].Version != second {
		t.Errorf("pending: %s", kinds)
	}
	h.deliver(w, h.message(1), 1)
	if err := w.GiveUp(t.Context(), h.message(1)); err != nil || h.read(id).Indexing.State != document.Indexed {
		t.Errorf("what is indexed became %s: %v", h.read(id).Indexing.State, err)
	}
	if err := h.Delete(t.Context(), teamID, id, "", everyone, anyVersion); err != nil {
		t.Fatal(err)
	}
	if err := w.GiveUp(t.Context(), h.message(2)); err != nil {
		t.Fatal(err)
	}
	if kinds, _ := h.pending(); kinds != "remove-document" {
		t.Errorf("a removal was given up: pending %q", kinds)
	}
}

func TestADeletedDocumentLeavesNothing(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, x := h.worker()
	id, version := h.put(h.text("Handbook", strings.Repeat("Long. ", text.InlineBytes)))
	if err := h.Delete(t.Context(), teamID, id, "", everyone, anyVersion); err != nil {
		t.Fatal(err)
	}
	for n := range 2 { // the message of the put comes late
		if h.deliver(w, h.message(1-n), 1) {
			t.Errorf("message %d failed", 1-n)
		}
	}
	if kinds, _ := h.pending(); kinds != "" || h.chunks(id, version) != 0 || len(x.published) != 0 || x.stale[h.wiki] == 0 {
		t.Errorf("pending %q, %d chunks, published %d, stale %v", kinds, h.chunks(id, version), len(x.published), x.stale)
	}
}

func TestRemovalIsTriedUntilItIsDone(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, x := h.worker()
	id, _ := h.put(h.text("Handbook", "Body."))
	h.deliver(w, h.message(0), 1)
	if err := h.Delete(t.Context(), teamID, id, "", everyone, anyVersion); err != nil {
		t.Fatal(err)
	}
	x.err = errDown
	if !h.deliver(w, h.message(1), queue.MaxReceives) {
		t.Error("it did not fail")
	}
	if kinds, _ := h.pending(); kinds != "remove-document" {
		t.Errorf("pending: %q", kinds)
	}
	x.err = nil
	if kinds, _ := h.pending(); h.deliver(w, h.message(1), 1) {
		t.Errorf("it failed again, pending: %q", kinds)
	}
	if kinds, _ := h.pending(); kinds != "" {
		t.Errorf("pending: %q", kinds)
	}
}

func TestADeletedCollectionLosesItsDocuments(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, x := h.worker()
	id, version := h.put(h.text("Long", strings.Repeat("Long. ", text.InlineBytes)))
	h.put(h.text("Short", "Short."))
	moved, _ := h.put(h.text("Moved", "Moved."))
	entry := h.read(moved).Entry
	if err := h.collections.Delete(t.Context(), teamID, h.wiki, "r9", access.Everything(), anyVersion); err != nil {
		t.Fatal(err)
	}
	removal := h.message(3)
	if removal.Kind != pending.RemoveCollection || removal.ID != h.wiki {
		t.Fatalf("sent %+v", removal)
	}
	leftover, err := h.Table.Get(t.Context(), document.ListKeys(teamID, entry)[1])
	if err != nil {
		t.Fatal(err)
	}
	in := h.text("Moved", "Moved.")
	in.CollectionID = h.guide
	h.put(in)
	if err := h.Table.Write(t.Context(), table.Put{Item: leftover}); err != nil { // as a race would leave it
		t.Fatal(err)
	}
	for range 2 { // the second time changes nothing
		if h.deliver(w, removal, 1) {
			t.Fatal("it failed")
		}
	}
	if h.chunks(id, version) != 0 || len(x.dropped) == 0 || x.dropped[0] != h.wiki {
		t.Errorf("%d chunks are left, dropped %v", h.chunks(id, version), x.dropped)
	}
	found, err := h.Find(t.Context(), teamID, []string{id, moved}, false)
	if err != nil || len(found) != 1 || found[moved].CollectionID != h.guide {
		t.Errorf("left %v: %v", found, err)
	}
	if n, err := h.Count(t.Context(), teamID, h.wiki); err != nil || n != 0 {
		t.Errorf("its list has %d: %v", n, err)
	}
	if titles, _ := h.listed(document.Filter{}, table.Window{Limit: 10}); titles != "Moved" {
		t.Errorf("listed %q", titles)
	}
	kinds, all := h.pending()
	if len(all) != 2 || all[0].ID != moved || all[1].ID != moved { // of both its versions
		t.Errorf("pending: %q", kinds)
	}
}

func TestABatchReportsOnlyWhatFailed(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, x := h.worker()
	h.put(h.text("Handbook", "Body."))
	foreign := pending.Work{Kind: pending.AnswerQuestion, TeamID: teamID, ID: uuid.NewString(), At: 1}
	failed := w.Batch(t.Context(), []queue.Message{{ID: "bad", Body: []byte("{"), Receives: queue.MaxReceives},
		{ID: "foreign", Body: foreign.Message(), Receives: 1}, {ID: "good", Body: h.sent.Bodies[0], Receives: 1}})
	if len(failed) != 2 || failed[0] != "bad" || failed[1] != "foreign" || len(x.published) != 1 {
		t.Errorf("failed %v, published %d", failed, len(x.published))
	}
}

func TestUnindexed(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, x := h.worker()
	var ids []string
	for _, name := range []string{"a", "b", "c"} {
		id, _ := h.put(h.text(name, "Body."))
		ids = append(ids, id)
	}
	h.deliver(w, h.message(0), 1)
	h.deliver(w, h.message(1), 1) // and c waits
	indexed := map[uuid.UUID]int64{x.published[0].ID: x.published[0].Version, x.published[1].ID: x.published[1].Version - 1}
	missing, _, err := h.Unindexed(t.Context(), teamID, indexed)
	if err != nil || len(missing) != 1 || missing[0] != ids[1] {
		t.Errorf("missing %v of %v: %v", missing, ids, err)
	}
}

// marked notes whether Writes are parts of removing data.
type marked struct {
	table.Store
	mu      sync.Mutex
	freeing []bool
}

func (m *marked) Write(ctx context.Context, ops ...table.Op) error {
	m.mu.Lock()
	m.freeing = append(m.freeing, table.IsFreeing(ctx))
	m.mu.Unlock()
	return m.Store.Write(ctx, ops...)
}

// TestAWorkerThatRemovesFreesRoom: on a full disk its Writes come before others.
func TestAWorkerThatRemovesFreesRoom(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, _ := h.worker()
	id, _ := h.put(h.text("Handbook", strings.Repeat("Long body. ", text.InlineBytes)))
	if err := h.Delete(t.Context(), teamID, id, "r", everyone, func(int64) error { return nil }); err != nil {
		t.Fatal(err)
	}
	m := &marked{Store: h.Table}
	h.Table = m
	last := h.message(len(h.sent.Bodies) - 1)
	if h.deliver(w, last, 1) || len(m.freeing) == 0 || slices.Contains(m.freeing, false) {
		t.Errorf("freeing: %v", m.freeing)
	}
}
