package document_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/document"
	"docent/shared/filter"
	"docent/shared/queue"
	"docent/shared/search/text"
	"docent/shared/table"
)

func TestPuttingADocument(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	id, version := h.put(h.text("Handbook", "Expenses are paid back."))
	d := h.read(id)
	if !sameFields(d.Fields, h.text("Handbook", "").Fields) || d.Body != "Expenses are paid back." || d.Version != version || d.Indexing.State != document.Pending {
		t.Errorf("stored %+v", d)
	}
	if !d.CreatedAt.Equal(h.clock.Now()) || !d.UpdatedAt.Equal(h.clock.Now()) {
		t.Errorf("created %s, updated %s", d.CreatedAt, d.UpdatedAt)
	}
	if w := h.message(0); w.ID != id || w.Version != version || w.RequestID != "r1" || w.Old != nil {
		t.Errorf("sent %+v", w)
	}
	if kinds, _ := h.pending(); len(h.sent.Bodies) != 1 || kinds != "index-document" {
		t.Errorf("%d messages, pending: %s", len(h.sent.Bodies), kinds)
	}
	if other, err := document.ID(uuid.NewString(), d.URI); err != nil || other == id {
		t.Errorf("the uri is the same document in another team: %v", err)
	}
}

// TestAByteOrderMarkIsNoTextOfADocument: behind it the first heading was none, and was quoted with its mark.
func TestAByteOrderMarkIsNoTextOfADocument(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	id, version := h.put(h.text("Handbook", "\ufeff# Expenses\n\nThey are paid\ufeff back."))
	if d := h.read(id); d.Body != "# Expenses\n\nThey are paid\ufeff back." {
		t.Errorf("stored %q", d.Body)
	}
	if _, again := h.put(h.text("Handbook", "\ufeff# Expenses\n\nThey are paid\ufeff back.")); again != version {
		t.Errorf("the same text again has version %d, not %d", again, version)
	}
}

// sameFields compares fields; no metadata is the same as empty metadata.
func sameFields(a, b document.Fields) bool {
	same := a.Metadata.Equal(b.Metadata)
	a.Metadata, b.Metadata = nil, nil
	return same && reflect.DeepEqual(a, b)
}

func TestPuttingItAgain(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		change  func(h *fixture, in *document.Input)
		changed bool
	}{
		{"the same", func(*fixture, *document.Input) {}, false},
		{"another body of the same length", func(_ *fixture, in *document.Input) { in.Body = "Expenses are lost back." }, true},
		{"another title", func(_ *fixture, in *document.Input) { in.Title = "Manual" }, true},
		{"the same metadata", func(_ *fixture, in *document.Input) { in.Metadata = filter.Metadata{} }, false},
		{"other metadata", func(_ *fixture, in *document.Input) { in.Metadata = filter.Metadata{"version": filter.Number(2)} }, true},
		{"another collection", func(h *fixture, in *document.Input) { in.CollectionID = h.guide }, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			in := h.text("Handbook", "Expenses are paid back.")
			id, first := h.put(in)
			created := h.clock.Now()
			h.clock.Advance(time.Hour)
			c.change(h, &in)
			again, second := h.put(in)
			if again != id || (second > first) != c.changed || second < first {
				t.Errorf("%s at %d, then %s at %d", id, first, again, second)
			}
			messages, updated := 1, created
			if c.changed {
				messages, updated = 2, h.clock.Now()
			}
			if len(h.sent.Bodies) != messages {
				t.Errorf("%d messages", len(h.sent.Bodies))
			}
			d := h.read(id)
			if !sameFields(d.Fields, in.Fields) || d.Body != in.Body || !d.CreatedAt.Equal(created) || !d.UpdatedAt.Equal(updated) {
				t.Errorf("stored %+v", d)
			}
			for _, list := range []string{"", in.CollectionID} {
				if titles, _ := h.listed(document.Filter{CollectionID: list}, table.Window{Limit: 10}); titles != in.Title {
					t.Errorf("the list %q shows %q", list, titles)
				}
			}
			if n, err := h.Count(t.Context(), teamID, h.wiki); err != nil || (n == 1) != (in.CollectionID == h.wiki) {
				t.Errorf("the wiki counts %d: %v", n, err)
			}
		})
	}
}

func TestPutsThatAreRefused(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		change func(h *fixture, in *document.Input)
		code   string
	}{
		{"an unknown collection", func(_ *fixture, in *document.Input) { in.CollectionID = uuid.NewString() }, apierr.CodeNotFound},
		{"not an id", func(_ *fixture, in *document.Input) { in.CollectionID = "../x" }, apierr.CodeNotFound},
		{"a connected source", func(h *fixture, in *document.Input) { in.CollectionID = h.issue }, apierr.CodeNotFound},
		{"a collection of another team", func(h *fixture, in *document.Input) { in.CollectionID = h.collect("rival", "wiki") }, apierr.CodeNotFound},
		{"a collection that the key may not use", func(h *fixture, in *document.Input) {
			in.Who = only(h.guide)
		}, apierr.CodeSourceNotAllowed},
		{"out of a collection that the key may not use", func(h *fixture, in *document.Input) {
			in.CollectionID, in.Who = h.guide, only(h.guide)
		}, apierr.CodeSourceNotAllowed},
		{"another version than expected", func(_ *fixture, in *document.Input) {
			in.Match = func(int64) error { return apierr.New(apierr.Stale, apierr.CodePreconditionFailed, "Stale.") }
		}, apierr.CodePreconditionFailed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			in := h.text("Handbook", "Before.")
			id, _ := h.put(in)
			in.Body = strings.Repeat("After. ", text.InlineBytes)
			c.change(h, &in)
			if _, _, err := h.Put(t.Context(), teamID, in); !apierr.IsCode(err, c.code) {
				t.Errorf("error %v, want %s", err, c.code)
			}
			if kinds, _ := h.pending(); h.read(id).Body != "Before." || len(h.sent.Bodies) != 1 || kinds != "index-document" {
				t.Errorf("it changed something: %d messages, pending: %s", len(h.sent.Bodies), kinds)
			}
		})
	}
}

func TestAPutIsAgainstTheVersionThatIsCurrent(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	in := h.text("Handbook", "Mine.")
	var seen []int64
	other := int64(0)
	in.Match = func(version int64) error {
		seen = append(seen, version)
		if len(seen) == 1 { // another put comes between
			_, other = h.put(h.text("Handbook", "Theirs."))
		}
		return nil
	}
	id, version := h.put(in)
	if len(seen) != 2 || seen[0] != 0 || seen[1] != other || version <= other || h.read(id).Body != "Mine." {
		t.Errorf("saw %v, then version %d over %d", seen, version, other)
	}
}

func TestACollectionThatIsDeletedDuringAPut(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	in := h.text("Handbook", strings.Repeat("Long. ", text.InlineBytes))
	in.Match = func(int64) error {
		return h.collections.Delete(t.Context(), teamID, h.wiki, "", access.Everything(), anyVersion)
	}
	id, _, err := h.Put(t.Context(), teamID, in)
	if !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("error %v", err)
	}
	if _, err := h.Get(t.Context(), teamID, id, everyone); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("it is there: %v", err)
	}
	if kinds, _ := h.pending(); !strings.Contains(kinds, "remove-chunks") {
		t.Errorf("its chunks stay: pending %s", kinds)
	}
}

func TestADocumentOfADeletedCollectionIsNewElsewhere(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	in := h.text("Handbook", "Body.")
	id, first := h.put(in)
	if err := h.collections.Delete(t.Context(), teamID, h.wiki, "", access.Everything(), anyVersion); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Get(t.Context(), teamID, id, everyone); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("it can be read: %v", err)
	}
	h.clock.Advance(time.Hour)
	in.CollectionID = h.guide
	in.Who = only(h.guide) // what is gone restricts nobody
	in.Match = func(version int64) error {
		if version != 0 {
			t.Errorf("version %d of a document that is gone", version)
		}
		return nil
	}
	if _, second := h.put(in); second <= first || !h.read(id).CreatedAt.Equal(h.clock.Now()) {
		t.Errorf("version %d after %d, created %s", second, first, h.read(id).CreatedAt)
	}
}

func TestAQueueThatFailsOnlyDelays(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.sent.Err = errDown
	id, _ := h.put(h.text("Handbook", "Body."))
	if kinds, _ := h.pending(); len(h.warns) != 1 || h.warns[0].ID != id || kinds != "index-document" {
		t.Errorf("warned of %+v, pending: %s", h.warns, kinds)
	}
}

func TestBodiesAreReadAsTheyWerePut(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		bytes  int
		chunks bool
	}{
		{"empty", 0, false},
		{"the longest in a record", text.InlineBytes, false},
		{"one byte longer", text.InlineBytes + 1, true},
		{"over several partitions of chunks", 1<<20 + 1, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			// Words of seven bytes do not fit chunks evenly, and no two chunks are equal.
			var long strings.Builder
			for n := 0; long.Len() < c.bytes; n++ {
				long.WriteString(strings.Repeat("äb\nc ", n%3) + string(rune('a'+n%26)) + "lö ")
			}
			body := strings.ToValidUTF8(long.String()[:c.bytes], "?")
			id, version := h.put(h.text("Long", body))
			if n := h.chunks(id, version); (n > 0) != c.chunks {
				t.Errorf("%d chunks of %d bytes", n, len(body))
			}
			if d := h.read(id); d.Body != body {
				t.Errorf("read %d bytes, put %d", len(d.Body), len(body))
			}
			if _, again := h.put(h.text("Long", body)); again != version {
				t.Error("the same body is another version")
			}
			found, err := h.Find(t.Context(), teamID, []string{id, "x", uuid.NewString()}, true)
			if err != nil || len(found) != 1 || !strings.HasPrefix(body, found[id].Excerpt) || (found[id].Excerpt == "") != (body == "") {
				t.Errorf("found %d with %d bytes: %v", len(found), len(found[id].Excerpt), err)
			}
			if kinds, _ := h.pending(); kinds != "index-document" {
				t.Errorf("pending: %s", kinds)
			}
		})
	}
}

func TestItemsChangeInTheOrderOfTheirProvider(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	cases := []struct {
		name    string
		changed time.Time
		want    string
	}{
		{"later", noon.Add(time.Millisecond), "new"},
		{"at the same time", noon, "new"},
		{"earlier", noon.Add(-time.Millisecond), "old"},
		{"at a time that is not known", time.Time{}, "new"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			id, first := h.put(h.item("Issue", "old", noon))
			_, second := h.put(h.item("Issue", "new", c.changed))
			if d := h.read(id); d.Body != c.want || (second != first) != (c.want == "new") || d.Version != second {
				t.Errorf("version %d after %d: %q", second, first, d.Body)
			}
		})
	}
}

func TestRemovedItems(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	noted := newFixture(t).clock.Now() // when each removal is
	cases := []struct {
		name           string
		stored, put    time.Time // zero: none
		removed, there bool
		listed         time.Time // of put
	}{
		{name: "changed before its removal", stored: noon.Add(-time.Second), removed: true},
		{name: "changed at its removal", stored: noon, removed: true},
		{name: "changed after its removal", stored: noon.Add(time.Second), there: true},
		{name: "an older change arrives late", stored: noon.Add(-time.Second), put: noon.Add(-time.Millisecond), removed: true},
		{name: "an older change arrives first", put: noon.Add(-time.Second)},
		{name: "a later change brings it back", stored: noon.Add(-time.Second), put: noon.Add(time.Millisecond), removed: true, there: true},
		{name: "listed later it is back", stored: noon.Add(-time.Hour), put: noon.Add(-time.Hour), removed: true, there: true, listed: noted.Add(time.Millisecond)},
		{name: "listed before its removal", stored: noon.Add(-time.Hour), put: noon.Add(-time.Hour), removed: true, listed: noted},
		{name: "changed after its removal and listed before", stored: noon.Add(-time.Hour), put: noon.Add(time.Hour), removed: true, there: true, listed: noted},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			if !c.stored.IsZero() {
				h.put(h.item("Issue", "stored", c.stored))
			}
			removed, err := h.Remove(t.Context(), teamID, h.issue, wikiURI("Issue"), noon, "r1")
			if err != nil || removed != c.removed {
				t.Errorf("removed %t: %v", removed, err)
			}
			if !c.put.IsZero() {
				in := h.item("Issue", "put", c.put)
				in.Listed = c.listed
				h.put(in)
			}
			n, err := h.Count(t.Context(), teamID, h.issue)
			if err != nil || (n == 1) != c.there {
				t.Errorf("%d items: %v", n, err)
			}
		})
	}
}

// A document and an item of one uri do not replace each other, except that a team key may replace an item.
func TestDocumentsAndItemsAreApart(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	id, _ := h.put(h.item("Issue", "Item.", time.Time{}))
	if _, err := h.Get(t.Context(), teamID, id, everyone); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("an item is read as a document: %v", err)
	}
	if err := h.Delete(t.Context(), teamID, id, "", everyone, anyVersion); err != nil || h.read(id).Body != "Item." {
		t.Errorf("an item is deleted as a document: %v", err)
	}
	over := h.text("Issue", "Mine.")
	over.Who = document.Who{Reader: access.Person("ada", "ada@acme.test", nil)}
	if _, _, err := h.Put(t.Context(), teamID, over); !apierr.IsCode(err, apierr.CodeAccessDenied) || h.read(id).Body != "Item." {
		t.Errorf("a document replaces an item: %v", err)
	}
	none := errors.New("there is none")
	over.Match = func(version int64) error { return map[bool]error{true: none}[version == 0] }
	if _, _, err := h.Put(t.Context(), teamID, over); !errors.Is(err, none) {
		t.Errorf("a put under a condition shows an item: %v", err)
	}
	if titles, _ := h.listed(document.Filter{}, table.Window{Limit: 10}); titles != "" {
		t.Errorf("listed %q", titles)
	}
	if h.put(h.text("Issue", "Moved by hand.")); h.read(id).Body != "Moved by hand." {
		t.Error("a team key does not replace an item")
	}
	h.put(h.text("Page", "Document."))
	if _, _, err := h.Put(t.Context(), teamID, h.item("Page", "Item.", time.Time{})); !errors.Is(err, document.ErrOtherSource) {
		t.Errorf("an item replaces a document: %v", err)
	}
	removed, err := h.Remove(t.Context(), teamID, h.issue, wikiURI("Page"), h.clock.Now().Add(time.Hour), "")
	if err != nil || removed {
		t.Errorf("a document is removed as an item: %v", err)
	}
}

// TestAnOlderItemDoesNotReplaceOneThatWasNotIndexed puts an older change of an item whose indexing was given up: the newer content stays, and
// is indexed again.
func TestAnOlderItemDoesNotReplaceOneThatWasNotIndexed(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, x := h.worker()
	x.err = errDown
	noon := h.clock.Now()
	id, first := h.put(h.item("Issue", "New.", noon))
	h.deliver(w, h.message(0), queue.MaxReceives)
	if d := h.read(id); d.Indexing.State != document.Failed {
		t.Fatalf("%+v", d.Indexing)
	}
	x.err = nil
	h.clock.Advance(time.Hour)
	_, second := h.put(h.item("Issue", "Old.", noon.Add(-time.Hour)))
	h.deliver(w, h.message(1), 1)
	if d := h.read(id); d.Body != "New." || !d.Facts.Changed.Equal(noon) || second <= first || d.Indexing.State != document.Indexed {
		t.Errorf("%+v", d)
	}
}

func TestAnItemIsChangedByTheWriteOfItsCaller(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	in := h.item("Issue", strings.Repeat("Long. ", text.InlineBytes), time.Time{})
	in.Write = func(context.Context, ...table.Op) error { return errDown }
	id, _, err := h.Put(t.Context(), teamID, in)
	if !errors.Is(err, errDown) {
		t.Errorf("error %v", err)
	}
	if _, err := h.Read(t.Context(), teamID, id, everyone); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("it is stored: %v", err)
	}
	kinds, all := h.pending()
	if kinds != "remove-chunks" || h.chunks(id, all[0].Version) == 0 {
		t.Fatalf("pending: %s", kinds)
	}
	w, x := h.worker()
	if h.deliver(w, all[0], 1) || h.chunks(id, all[0].Version) != 0 || len(x.stale) != 0 {
		t.Errorf("%d chunks are left, stale %v", h.chunks(id, all[0].Version), x.stale)
	}
	if kinds, _ := h.pending(); kinds != "" {
		t.Errorf("pending: %s", kinds)
	}
}

// noDelete fails to delete one item until it is allowed.
type noDelete struct {
	table.Store
	key     table.Key
	allowed bool
}

func (n *noDelete) Write(ctx context.Context, ops ...table.Op) error {
	if table.KeyOf(ops[0]) == n.key && !n.allowed {
		return errDown
	}
	return n.Store.Write(ctx, ops...)
}

// TestAnInterruptedRemovalOfUnusedChunksContinues: the work that takes over a version that never became current names no
// collection.
func TestAnInterruptedRemovalOfUnusedChunksContinues(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	in := h.text("Handbook", strings.Repeat("Long. ", text.InlineBytes))
	in.Write = func(context.Context, ...table.Op) error { return errDown }
	id, _, err := h.Put(t.Context(), teamID, in)
	if !errors.Is(err, errDown) {
		t.Fatalf("error %v", err)
	}
	_, unused := h.pending()
	version := unused[0].Version
	stuck := &noDelete{Store: h.Table, key: document.ChunkKeys(teamID, id, version, 1)[0]}
	h.Table = stuck
	w, x := h.worker()
	kinds, rest := "", unused
	if h.deliver(w, unused[0], 1) {
		kinds, rest = h.pending()
	}
	if kinds != "remove-document" || h.chunks(id, version) == 0 {
		t.Fatalf("not interrupted: pending %q", kinds)
	}
	stuck.allowed = true
	if h.deliver(w, rest[0], 2) || h.chunks(id, version) != 0 || len(x.stale) != 0 {
		t.Errorf("%d chunks are left, stale %v", h.chunks(id, version), x.stale)
	}
	if kinds, _ := h.pending(); kinds != "" {
		t.Errorf("pending: %s", kinds)
	}
}
