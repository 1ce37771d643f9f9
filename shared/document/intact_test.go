package document_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/document"
	"docent/shared/memory"
	"docent/shared/table"
)

// lostChunks removes the chunks of a document from the table.
func (h *fixture) lostChunks(id string) {
	h.t.Helper()
	for _, item := range h.stored() {
		if !chunksOf(id)(item) {
			continue
		}
		if err := h.Table.Write(h.t.Context(), table.Delete{Key: item.Key}); err != nil {
			h.t.Fatal(err)
		}
	}
}

// otherText changes the text of the chunks of a document, as a release without checksums may have left it.
func (h *fixture) otherText(id string) {
	h.t.Helper()
	for _, item := range h.stored() {
		if !chunksOf(id)(item) {
			continue
		}
		item.Body = []byte(strings.ToUpper(string(item.Body)))
		if err := h.Table.Write(h.t.Context(), table.Put{Item: item}); err != nil {
			h.t.Fatal(err)
		}
	}
}

// replaceFile replaces the stored file of a document by one with the text left; empty: by none.
func (h *fixture) replaceFile(id, left string) {
	h.t.Helper()
	kept := h.read(id).Original.Blob
	err := h.Blobs.Delete(h.t.Context(), kept)
	if err == nil && left != "" {
		err = h.Blobs.Put(h.t.Context(), kept, office(left))
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// TestAPutOfTheSameTextMendsADamagedBody: a client that puts its documents again needs not know which are damaged.
func TestAPutOfTheSameTextMendsADamagedBody(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(h *fixture, id string){
		"damaged": func(h *fixture, id string) { h.ruin(chunksOf(id)) },
		"lost":    (*fixture).lostChunks,
		"another": (*fixture).otherText,
	} {
		for _, isItem := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				h := newFixture(t)
				h.Fallible = true
				reported := h.reports()
				in := h.text("doc", long("word"))
				if isItem {
					in = h.item("doc", long("word"), h.clock.Now())
				}
				id, first := h.put(in)
				if _, again := h.put(in); again != first {
					t.Fatal("an intact document was stored again")
				}
				h.clock.Advance(time.Hour)
				damage(h, id)
				h.put(in)
				if d := h.read(id); d.Body != in.Body || d.Version == first || !d.UpdatedAt.Before(h.clock.Now()) {
					t.Errorf("version %d after %d, updated %v", d.Version, first, d.UpdatedAt)
				}
				if len(*reported) == 0 {
					t.Error("nothing is reported")
				}
				h.work()
				if n := h.chunks(id, first); n > 0 {
					t.Errorf("%d chunks of the damaged version are left", n)
				}
			})
		}
	}
}

// TestAPutOfTheSameFileMendsItsText: its text is read again.
func TestAPutOfTheSameFileMendsItsText(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.Fallible = true
	in := h.file("file", "its text")
	w, _ := h.worker()
	id, _ := h.put(in)
	h.tidy(w, h.extractor())
	h.ruin(chunksOf(id))
	h.put(in)
	h.tidy(w, h.extractor())
	if d := h.read(id); !strings.Contains(d.Body, "its text") {
		t.Errorf("it has %q", d.Body)
	}
}

// TestAPutOfTheSameFileMendsTheFile that is lost, or that is another one: a download would have served it.
func TestAPutOfTheSameFileMendsTheFile(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]string{"lost": "", "another": "its temt", "cut short": "its", "longer": "its text and more"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			h.Fallible = true
			in := h.file("file", "its text")
			w, _ := h.worker()
			id, version := h.put(in)
			h.tidy(w, h.extractor())
			if _, again := h.put(in); again == version {
				t.Fatal("the text was not read")
			}
			h.replaceFile(id, left)
			if _, damaged, err := h.Unindexed(t.Context(), teamID, nil); err != nil || !slices.Equal(damaged[h.wiki], []string{id}) {
				t.Errorf("damaged: %v, %v", damaged, err)
			}
			h.put(in)
			h.tidy(w, h.extractor())
			d := h.read(id)
			if data, err := h.Blobs.Get(t.Context(), d.Original.Blob); err != nil || !bytes.Equal(data, in.File) {
				t.Errorf("the file: %q, %v", data, err)
			}
			if names := h.objects(); len(names) != 1 {
				t.Errorf("objects: %q", names)
			}
		})
	}
}

// TestTheFileOfAnItemIsNotNeededOnceItsTextIsStored: nobody downloads it, so that the item stays when the file is lost or another one.
func TestTheFileOfAnItemIsNotNeededOnceItsTextIsStored(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]string{"lost": "", "another": "its temt"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			h.Fallible = true
			in, f := h.item("file", "", h.clock.Now()), h.file("file", "its text")
			in.MediaType, in.File = f.MediaType, f.File
			w, _ := h.worker()
			id, _ := h.put(in)
			h.replaceFile(id, left)
			if _, damaged, err := h.Unindexed(t.Context(), teamID, nil); err != nil || !slices.Equal(damaged[h.issue], []string{id}) {
				t.Errorf("damaged before its text is read: %v, %v", damaged, err)
			}
			h.replaceFile(id, "its text")
			h.tidy(w, h.extractor())
			version := h.read(id).Version
			h.replaceFile(id, left)
			if _, damaged, err := h.Unindexed(t.Context(), teamID, nil); err != nil || len(damaged) > 0 {
				t.Errorf("damaged: %v, %v", damaged, err)
			}
			keeping := in
			keeping.File, keeping.KeepContent, keeping.CheckKept = nil, true, true
			for _, again := range []document.Input{keeping, in} {
				if _, now := h.put(again); now != version {
					t.Errorf("version %d of %d", now, version)
				}
			}
			h.ruin(chunksOf(id))
			if _, _, err := h.Put(t.Context(), teamID, keeping); !apierr.IsCode(err, apierr.CodeDocumentDamaged) {
				t.Errorf("keeping a damaged text: %v", err)
			}
		})
	}
}

// TestAnItemWhoseFileIsLostBeforeItIsReadNeedsTheFileAgain: with what is left of it, reading it would fail for ever.
func TestAnItemWhoseFileIsLostBeforeItIsReadNeedsTheFileAgain(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{true, false} {
		h := newFixture(t)
		in, f := h.item("file", "", h.clock.Now()), h.file("file", "its text")
		in.MediaType, in.File = f.MediaType, f.File
		w, _ := h.worker()
		id, _ := h.put(in)
		if lost {
			h.replaceFile(id, "")
		}
		_, all := h.pending()
		for _, work := range all {
			if err := h.extractor().GiveUp(t.Context(), work); err != nil {
				t.Fatal(err)
			}
		}
		keeping := in
		keeping.File, keeping.KeepContent = nil, true
		if _, _, err := h.Put(t.Context(), teamID, keeping); apierr.IsCode(err, apierr.CodeDocumentDamaged) != lost {
			t.Errorf("lost: %t: %v", lost, err)
		}
		if lost {
			h.put(in)
		}
		h.tidy(w, h.extractor())
		if d := h.read(id); !strings.Contains(d.Body, "its text") {
			t.Errorf("lost: %t: it has %q", lost, d.Body)
		}
	}
}

// TestADocumentWithoutAChunkIsDamaged: no reader and no change tries for ever, or says that the store is down.
func TestADocumentWithoutAChunkIsDamaged(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.Fallible = true
	id, _ := h.put(h.text("doc", long("word")))
	whole, _ := h.put(h.text("whole", long("word")))
	h.lostChunks(id)
	if _, damaged, err := h.Unindexed(t.Context(), teamID, nil); err != nil || !slices.Equal(damaged[h.wiki], []string{id}) {
		t.Errorf("damaged: %v, %v", damaged, err)
	}
	_, err := h.Get(t.Context(), teamID, id, everyone)
	if !apierr.IsCode(err, apierr.CodeDocumentDamaged) {
		t.Errorf("read: %v", err)
	}
	retitled := document.Change{Fields: func(f *document.Fields) { f.Title = "new" }, Match: anyVersion, Who: everyone}
	if _, err := h.Update(t.Context(), teamID, id, retitled); !apierr.IsCode(err, apierr.CodeDocumentDamaged) {
		t.Errorf("changed: %v", err)
	}
	if _, err := h.Update(t.Context(), teamID, whole, retitled); err != nil {
		t.Errorf("another one: %v", err)
	}
	item := h.item("item", long("word"), h.clock.Now())
	id, _ = h.put(item)
	h.lostChunks(id)
	item.Body, item.KeepContent, item.Access = "", true, &access.Rule{}
	if err := h.KeepOrForget(t.Context(), teamID, item); err != nil {
		t.Fatal(err)
	}
	if found, err := h.Find(t.Context(), teamID, []string{id}, false); err != nil || len(found) > 0 {
		t.Errorf("left of an item: %v, %v", found, err)
	}
}

// TestWhatHasNoContentMendsNoBody: the caller is told, and the document stays as it is.
func TestWhatHasNoContentMendsNoBody(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.Fallible = true
	in := h.item("doc", long("word"), h.clock.Now())
	id, version := h.put(in)
	h.ruin(chunksOf(id))
	keeping := in
	keeping.Body, keeping.KeepContent, keeping.CheckKept = "", true, true
	if _, _, err := h.Put(t.Context(), teamID, keeping); !apierr.IsCode(err, apierr.CodeDocumentDamaged) {
		t.Errorf("keeping the content: %v", err)
	}
	older := in
	older.Body, older.Facts = "older", &document.Facts{Space: in.Facts.Space, Changed: in.Facts.Changed.Add(-time.Minute)}
	if _, now := h.put(older); now != version {
		t.Error("an older put stored something")
	}
}

// TestAChangeOfNothingReadsNoBody, however long the body is. A put of the same text reads it, with the turn and the memory of a large request.
func TestAChangeOfNothingReadsNoBody(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.Fallible = true
	long := strings.Repeat("Expenses are paid back within a month. ", 2<<20/39)
	in := h.item("item", long, h.clock.Now())
	keeping := in
	keeping.Body, keeping.KeepContent = "", true
	h.put(in)
	text := h.text("text", long)
	id, _ := h.put(text)
	for name, c := range map[string]struct {
		do    func(ctx context.Context) error
		reads bool
	}{
		"a patch": {do: func(ctx context.Context) error {
			_, err := h.Update(ctx, teamID, id, document.Change{Fields: func(*document.Fields) {}, Match: anyVersion, Who: everyone})
			return err
		}},
		"a sync that keeps the text": {do: func(ctx context.Context) error { _, _, err := h.Put(ctx, teamID, keeping); return err }},
		"a put of the same text":     {do: func(ctx context.Context) error { _, _, err := h.Put(ctx, teamID, text); return err }, reads: true},
	} {
		t.Run(name, func(t *testing.T) {
			room := &memory.Room{Places: memory.NewPool(1, 0), Turns: memory.NewPool(1, 0), Bytes: memory.NewPool(1<<30, 0), Small: 1 << 40}
			work := room.Work("writer")
			defer work.End()
			ctx, meter := table.WithMeter(memory.WithWork(t.Context(), work))
			if err := c.do(ctx); err != nil {
				t.Fatal(err)
			}
			if turns := room.Turns.Held(); (turns > 0) != c.reads || room.Bytes.Held() > 0 {
				t.Errorf("%d turns, %d bytes held", turns, room.Bytes.Held())
			}
			if read := meter.Read().ReadUnits; (read > 100) != c.reads {
				t.Errorf("%v read units", read)
			}
			full := &memory.Room{Places: memory.NewPool(1, 0), Turns: memory.NewPool(1, 0), Bytes: memory.NewPool(1, 0), Small: 1 << 40}
			if err := full.Bytes.Lease("another").Try(1); err != nil {
				t.Fatal(err)
			}
			if err := c.do(memory.WithWork(t.Context(), full.Work("writer"))); errors.Is(err, memory.ErrBusy) != c.reads {
				t.Errorf("without memory: %v", err)
			}
		})
	}
}

// TestADamagedNoteOfAFailureStopsNoPut: the document is indexed again.
func TestADamagedNoteOfAFailureStopsNoPut(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	in := h.text("doc", "body")
	id, version := h.put(in)
	key := table.Key{Table: table.Documents, Partition: teamID + "/" + id, Sort: "failure"}
	if err := h.Table.Write(t.Context(), table.Put{Item: table.Item{Key: key, Version: version, Strings: map[string]string{"code": "internal"}}}); err != nil {
		t.Fatal(err)
	}
	reported, ruined := h.reports(), h.ruin(func(i table.Item) bool { return i.Key == key })
	h.clock.Advance(time.Second)
	if _, again := h.put(in); again == version || !slices.Equal(*reported, ruined) {
		t.Errorf("version %d after %d, reported %v", again, version, *reported)
	}
}
