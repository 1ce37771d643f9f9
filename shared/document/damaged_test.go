package document_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/app/faulttest"
	"docent/shared/audit"
	"docent/shared/document"
	"docent/shared/extract"
	"docent/shared/queue"
	"docent/shared/search"
	"docent/shared/table"
	"docent/shared/table/bolt"
)

// ruin damages stored items of documents, and returns their keys.
func (h *fixture) ruin(which func(table.Item) bool) (keys []table.Key) {
	h.t.Helper()
	store, ok := h.Table.(*faulttest.DamagedTable)
	if !ok {
		store = &faulttest.DamagedTable{Store: h.Table}
		h.Table, h.collections.Table = store, store
	}
	for _, item := range h.stored() {
		if which(item) {
			keys = append(keys, item.Key)
		}
	}
	if len(keys) == 0 {
		h.t.Fatal("nothing to damage")
	}
	store.Damage(keys...)
	return keys
}

// stored returns the stored items of documents.
func (h *fixture) stored() []table.Item {
	h.t.Helper()
	store := h.Table
	if damaged, ok := store.(*faulttest.DamagedTable); ok {
		store = damaged.Store
	}
	items, err := store.(*bolt.Store).Items(h.t.Context(), table.Documents)
	if err != nil {
		h.t.Fatal(err)
	}
	return items
}

func recordOf(id string) func(table.Item) bool {
	return func(i table.Item) bool { return i.Partition == teamID+"/"+id && i.Sort == "record" }
}

func chunksOf(id string) func(table.Item) bool {
	return func(i table.Item) bool { return strings.HasPrefix(i.Partition, teamID+"/"+id+"/") }
}

func listsOf(id string) func(table.Item) bool {
	return func(i table.Item) bool {
		return strings.HasPrefix(i.Partition, teamID+"/list") && strings.HasSuffix(i.Sort, "#"+id)
	}
}

// work does all work that was sent.
func (h *fixture) work() {
	h.t.Helper()
	w, _ := h.worker()
	var batch []queue.Message
	for n, body := range h.sent.Bodies {
		batch = append(batch, queue.Message{ID: fmt.Sprint(n), Body: body, Receives: 1})
	}
	h.sent.Bodies = nil
	if failed := w.Batch(h.t.Context(), batch); len(failed) > 0 {
		h.t.Errorf("failed: %q", failed)
	}
}

// reports makes h keep what is reported as damaged.
func (h *fixture) reports() *[]table.Key {
	reported := new([]table.Key)
	h.OnDamage = func(_ context.Context, d *table.DamagedError) { *reported = append(*reported, d.Keys...) }
	return reported
}

func long(word string) string { return strings.Repeat(word+" is long.\n\n", 20_000) }

// TestADamagedDocumentIsLeftOut: whatever is damaged of one document, searches and lists have the others, and say what is damaged.
func TestADamagedDocumentIsLeftOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body     string
		of       func(id string) func(table.Item) bool
		listed   string
		readable bool
	}{
		"record":       {"short", recordOf, "right wrong left", false},
		"chunks":       {long("word"), chunksOf, "right wrong left", false},
		"list entries": {"short", listsOf, "right left", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			var ids []string
			var uuids []uuid.UUID
			var refs []search.Ref
			for _, title := range []string{"left", "wrong", "right"} {
				h.clock.Advance(1000)
				body := "short"
				if title == "wrong" {
					body = c.body
				}
				id, version := h.put(h.text(title, body))
				ids, uuids = append(ids, id), append(uuids, uuid.MustParse(id))
				ref := search.Ref{Document: uuid.MustParse(id), Version: version}
				if len(body) > 5 {
					ref.Chunk = 1
				}
				refs = append(refs, ref)
				h.clock.Advance(1_000_000_000)
			}
			keys, reported := h.ruin(c.of(ids[1])), h.reports()
			corpus := document.Corpus{Service: h.Service}
			texts, err := corpus.Texts(t.Context(), teamID, refs)
			if _, found := texts[refs[1]]; err != nil || found != c.readable || texts[refs[0]].Body != "short" || texts[refs[2]].Body != "short" {
				t.Errorf("texts: %d, %v", len(texts), err)
			}
			if !c.readable && !slices.Contains(keys, (*reported)[0]) {
				t.Errorf("reported %v of %v", *reported, keys)
			}
			var read []string
			for d, err := range corpus.Read(t.Context(), teamID, uuids) {
				if err != nil {
					t.Fatal(err)
				}
				read = append(read, d.Title)
			}
			if want := map[bool]string{true: "left wrong right", false: "left right"}[c.readable]; strings.Join(read, " ") != want {
				t.Errorf("read %q", read)
			}
			if titles, _ := h.listed(document.Filter{}, table.Window{Limit: 10}); titles != c.listed {
				t.Errorf("listed %q", titles)
			}
			if _, err := corpus.Current(t.Context(), teamID, uuids); err != nil {
				t.Errorf("current: %v", err)
			}
			_, err = h.Get(t.Context(), teamID, ids[1], everyone)
			if apierr.IsCode(err, apierr.CodeDocumentDamaged) == c.readable || c.readable && err != nil {
				t.Errorf("get: %v", err)
			}
		})
	}
}

// TestADamagedRuleOpensNothing: nobody who is not sure to read a document learns that it is there.
func TestADamagedRuleOpensNothing(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	in := h.text("secret", "body")
	in.Access = &access.Rule{Users: []access.Entry{{ID: "ada", Name: "ada"}}}
	id, _ := h.put(in)
	h.ruin(recordOf(id))
	person := document.Who{Reader: access.Person("eve", "eve", nil)}
	for name, who := range map[string]document.Who{"a person": person, "a restricted key": only(h.wiki)} {
		if _, err := h.Get(t.Context(), teamID, id, who); !apierr.IsCode(err, apierr.CodeNotFound) {
			t.Errorf("%s: get: %v", name, err)
		}
		again := h.text("secret", "mine")
		again.Who = who
		if _, _, err := h.Put(t.Context(), teamID, again); !apierr.IsCode(err, apierr.CodeAccessDenied) {
			t.Errorf("%s: put: %v", name, err)
		}
		if err := h.Delete(t.Context(), teamID, id, "r", who, anyVersion); err != nil {
			t.Errorf("%s: delete: %v", name, err)
		}
	}
	unreadable, gone, err := h.Unreadable(t.Context(), teamID, person, map[string]time.Time{id: h.clock.Now()})
	if err != nil || unreadable[id] != document.Forever || !gone[id].IsZero() {
		t.Errorf("unreadable %v, gone %v, %v", unreadable, gone, err)
	}
	if _, err := h.Get(t.Context(), teamID, id, everyone); !apierr.IsCode(err, apierr.CodeDocumentDamaged) {
		t.Errorf("it is gone: %v", err)
	}
}

// TestADamagedDocumentCanBePutAgainAndDeleted: otherwise only a backup would help.
func TestADamagedDocumentCanBePutAgainAndDeleted(t *testing.T) {
	t.Parallel()
	for _, of := range []func(string) func(table.Item) bool{recordOf, chunksOf,
		func(id string) func(table.Item) bool {
			return func(i table.Item) bool { return recordOf(id)(i) || listsOf(id)(i) }
		}} {
		h := newFixture(t)
		id, _ := h.put(h.text("wrong", long("word")))
		other, _ := h.put(h.text("other", "body"))
		h.ruin(of(id))
		if err := h.Delete(t.Context(), teamID, id, "r", everyone, anyVersion); err != nil {
			t.Fatalf("delete: %v", err)
		}
		if _, err := h.Get(t.Context(), teamID, id, everyone); !apierr.IsCode(err, apierr.CodeNotFound) {
			t.Errorf("after the deletion: %v", err)
		}
		h.work()
		id, _ = h.put(h.text("wrong", "short"))
		h.ruin(recordOf(id))
		h.clock.Advance(1_000_000_000)
		if _, _, err := h.Put(t.Context(), teamID, h.text("wrong", "short again")); err != nil {
			t.Fatalf("put: %v", err)
		}
		if d := h.read(id); d.Body != "short again" {
			t.Errorf("put again: %q", d.Body)
		}
		if titles, _ := h.listed(document.Filter{}, table.Window{Limit: 10}); titles != "wrong other" {
			t.Errorf("listed %q", titles)
		}
		h.read(other)
	}
}

// TestAnItemThatIsDamagedIsStoredAgainAndRemoved: a sync goes on.
func TestAnItemThatIsDamagedIsStoredAgainAndRemoved(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(h *fixture, in document.Input) error{
		"put": func(h *fixture, in document.Input) error {
			_, _, err := h.Put(h.t.Context(), teamID, in)
			return err
		},
		"remove": func(h *fixture, in document.Input) error {
			_, err := h.Remove(h.t.Context(), teamID, h.issue, in.URI, h.clock.Now(), "r")
			return err
		},
		"forget": func(h *fixture, in document.Input) error {
			_, err := h.Forget(h.t.Context(), teamID, h.issue, in.URI)
			return err
		},
	} {
		h := newFixture(t)
		in := h.item("issue", "body", h.clock.Now())
		id, _ := h.put(in)
		h.ruin(recordOf(id))
		if err := act(h, in); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_, err := h.Read(t.Context(), teamID, id, everyone)
		if name == "put" && err != nil || name != "put" && !apierr.IsCode(err, apierr.CodeNotFound) {
			t.Errorf("%s: read: %v", name, err)
		}
		listed := 0
		for _, err := range h.Items(t.Context(), teamID, h.issue, search.Issues, true) {
			if err != nil {
				t.Fatal(err)
			}
			listed++
		}
		if want := map[bool]int{true: 1}[name == "put"]; listed != want {
			t.Errorf("%s: listed %d", name, listed)
		}
	}
}

// TestADeletedCollectionWithDamageIsRemoved: its last work ends.
func TestADeletedCollectionWithDamageIsRemoved(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	var ids []string
	for n := range 4 {
		id, _ := h.put(h.text(fmt.Sprint(n), "body"))
		ids = append(ids, id)
	}
	h.ruin(recordOf(ids[0]))
	h.ruin(listsOf(ids[1]))
	h.ruin(func(i table.Item) bool { return recordOf(ids[2])(i) || listsOf(ids[2])(i) })
	if err := h.collections.Delete(t.Context(), teamID, h.wiki, "r", access.Everything(), anyVersion); err != nil {
		t.Fatal(err)
	}
	h.work()
	for _, item := range h.stored() {
		if item.Sort != "ruled" {
			t.Errorf("left: %v", item.Key)
		}
	}
}

// TestDamageBesideADocumentDoesNotRemoveIt: a put that meets damage in what is not of the document fails, and the document stays as it is.
func TestDamageBesideADocumentDoesNotRemoveIt(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	id, _ := h.put(h.text("kept", "old"))
	damaged := &faulttest.DamagedTable{Store: h.Table}
	damaged.Damage(audit.TopicsKey(teamID))
	h.Events = &audit.Log{Table: damaged, Now: h.clock.Now}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, _, err := h.Put(ctx, teamID, h.text("kept", "new")); table.AsDamaged(err) == nil {
		t.Errorf("put: %v", err)
	}
	if d := h.read(id); d.Body != "old" {
		t.Errorf("it has %q", d.Body)
	}
}

// TestADamagedMarkOfARemovalStopsNoPut: without the mark, the item is put and removed as one that was never removed.
func TestADamagedMarkOfARemovalStopsNoPut(t *testing.T) {
	t.Parallel()
	for name, stored := range map[string]bool{"a stored item": true, "no item": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			in := h.item("kept", "old", h.clock.Now())
			if _, err := h.Remove(t.Context(), teamID, h.issue, in.URI, h.clock.Now().Add(-time.Hour), "r"); err != nil {
				t.Fatal(err)
			}
			if stored {
				h.put(in)
			}
			reported := h.reports()
			ruined := h.ruin(func(i table.Item) bool { return i.Sort == "removed" && len(i.Strings) > 0 }) // without strings, no damage is noticed
			in.Body, in.Facts.Changed = "new", in.Facts.Changed.Add(time.Minute)
			id, _ := h.put(in)
			if d := h.read(id); d.Body != "new" {
				t.Errorf("it has %q", d.Body)
			}
			if !slices.Equal(*reported, ruined) {
				t.Errorf("reported %v", *reported)
			}
			removal := h.clock.Now().Add(time.Hour)
			h.remove(in, removal)
			h.ruin(func(i table.Item) bool { return i.Sort == "removed" })
			in.Facts.Changed = removal.Add(time.Minute)
			h.put(in)
			h.remove(in, removal.Add(time.Hour))
			if _, _, err := h.Put(t.Context(), teamID, in); err != nil {
				t.Fatal(err)
			}
			if _, err := h.Read(t.Context(), teamID, id, everyone); !apierr.IsCode(err, apierr.CodeNotFound) {
				t.Errorf("what was removed since came back: %v", err)
			}
		})
	}
}

// remove removes the item of in, which changed at a time.
func (h *fixture) remove(in document.Input, at time.Time) {
	h.t.Helper()
	if removed, err := h.Remove(h.t.Context(), teamID, h.issue, in.URI, at, "r"); err != nil || !removed {
		h.t.Fatalf("remove: %v, %v", removed, err)
	}
}

// TestARemovalOverADamagedMark: a removal that meets only the damaged mark of an earlier one is remembered.
func TestARemovalOverADamagedMark(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	in := h.item("gone", "body", h.clock.Now())
	id, _ := h.put(in)
	h.remove(in, h.clock.Now())
	h.ruin(func(i table.Item) bool { return i.Sort == "removed" })
	if removed, err := h.Remove(t.Context(), teamID, h.issue, in.URI, h.clock.Now().Add(time.Minute), "r"); err != nil || removed {
		t.Fatalf("remove: %v, %v", removed, err)
	}
	h.put(in)
	if _, err := h.Read(t.Context(), teamID, id, everyone); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("it came back: %v", err)
	}
}

// TestADamagedUploadConcernsNoOther: the team's other uploads are made and used, and that one is as one that has expired.
func TestADamagedUploadConcernsNoOther(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	file := []byte("%PDF-")
	upload := func() document.Upload {
		t.Helper()
		u, _, err := h.NewUpload(t.Context(), teamID, extract.PDF, int64(len(file)), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Blobs.Put(t.Context(), document.UploadBlob(teamID, u.ID), file); err != nil {
			t.Fatal(err)
		}
		return u
	}
	lost := upload()
	h.ruin(func(i table.Item) bool { return i.Partition == teamID+"/uploads" })
	reported := h.reports()
	in := h.text("file", "")
	in.Upload = upload().ID
	id, _ := h.put(in)
	if d := h.read(id); d.Original == nil {
		t.Error("it has no file")
	}
	in.URI, in.Upload = wikiURI("other"), lost.ID
	if _, _, err := h.Put(t.Context(), teamID, in); !apierr.IsCode(err, apierr.CodeInvalidRequest) {
		t.Errorf("put of the damaged one: %v", err)
	}
	if len(*reported) == 0 {
		t.Error("nothing is reported")
	}
	for range document.MaxUploads - 1 { // the damaged one still has its place
		upload()
	}
	if _, _, err := h.NewUpload(t.Context(), teamID, extract.PDF, 1, nil); !apierr.IsCode(err, apierr.CodeUploadLimit) {
		t.Errorf("one upload more: %v", err)
	}
}

// mended is a store in which something happens before the next list is read.
type mended struct {
	table.Store
	first func()
}

func (m *mended) Query(ctx context.Context, q table.Query) (table.Page, error) {
	if first := m.first; first != nil {
		m.first = nil
		first()
	}
	return m.Store.Query(ctx, q)
}

// TestADocumentThatWasPutAgainIsNotRemovedAsDamaged: what removes a damaged document decides anew if another put mends it first.
func TestADocumentThatWasPutAgainIsNotRemovedAsDamaged(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(h *fixture, in document.Input, id string) error{
		"put": func(h *fixture, in document.Input, _ string) error {
			in.Match = func(version int64) error {
				if version != 0 {
					return errDown
				}
				return nil
			}
			_, _, err := h.Put(h.t.Context(), teamID, in)
			return err
		},
		"delete": func(h *fixture, in document.Input, id string) error {
			return h.Delete(h.t.Context(), teamID, id, "r", everyone, func(version int64) error {
				if version != 0 {
					return errDown
				}
				return nil
			})
		},
		"remove": func(h *fixture, in document.Input, _ string) error {
			removed, err := h.Remove(h.t.Context(), teamID, h.issue, in.URI, h.clock.Now().Add(-time.Minute), "r")
			if removed {
				h.t.Error("it was removed")
			}
			return cmp.Or(err, errDown)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			in := h.text("doc", "old")
			if name == "remove" {
				in = h.item("doc", "old", h.clock.Now())
			}
			id, _ := h.put(in)
			h.ruin(recordOf(id))
			store := h.Table
			h.Table = &mended{store, func() {
				h.Table = store
				mending := in
				mending.Body = "mended"
				h.put(mending)
			}}
			if err := act(h, in, id); !errors.Is(err, errDown) {
				t.Errorf("%v", err)
			}
			if d := h.read(id); d.Body != "mended" {
				t.Errorf("it has %q", d.Body)
			}
		})
	}
}
