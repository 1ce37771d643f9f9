package document_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/blob"
	"docent/shared/document"
	"docent/shared/extract"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/search"
	"docent/shared/search/text"
	"docent/shared/table"
)

// office returns bytes that pass for an Office file.
func office(text string) []byte { return []byte("PK" + text) }

// file returns what puts a file into the wiki.
func (h *fixture) file(name, text string) document.Input {
	in := h.text(name, "")
	in.MediaType, in.File = extract.DOCX, office(text)
	return in
}

// extractor returns a reader of files whose pages are their lines, and keeps whatever fails.
func (h *fixture) extractor() *document.Extractor {
	return &document.Extractor{Service: h.Service, Alone: true, Log: slog.New(slog.DiscardHandler),
		Read: func(_ context.Context, _ string, file io.ReaderAt, size int64) (extract.Document, error) {
			data, err := io.ReadAll(io.NewSectionReader(file, 0, size))
			if err != nil {
				return extract.Document{}, err
			}
			var d extract.Document
			for n, line := range strings.Split(strings.TrimPrefix(string(data), "PK"), "\n") {
				d.Pages = append(d.Pages, extract.Page{Number: n + 1, Markdown: line})
			}
			d.Notes = []string{"A note."}
			return d, nil
		}}
}

// extract gives the extractor one message and reports whether it failed.
func (h *fixture) extract(x *document.Extractor, work pending.Work, receives int) bool {
	h.t.Helper()
	return len(x.Batch(h.t.Context(), []queue.Message{{ID: "m", Body: work.Message(), Receives: receives}})) > 0
}

// last returns the work of the last message.
func (h *fixture) last() pending.Work { return h.message(len(h.sent.Bodies) - 1) }

// objects returns the names of all original files.
func (h *fixture) objects() (names []string) {
	h.t.Helper()
	for b, err := range h.Blobs.List(h.t.Context(), "") {
		if err != nil {
			h.t.Fatal(err)
		}
		names = append(names, b.Name)
	}
	return names
}

// tidy delivers all pending work until there is none.
func (h *fixture) tidy(w *document.Worker, x *document.Extractor) {
	h.t.Helper()
	for {
		_, all := h.pending()
		if len(all) == 0 {
			return
		}
		for _, work := range all {
			var failed bool
			if work.Kind == pending.ExtractDocument {
				failed = h.extract(x, work, 1)
			} else {
				failed = h.deliver(w, work, 1)
			}
			if failed {
				h.t.Fatalf("%s failed", work.Kind)
			}
		}
	}
}

func TestTheTextOfAFileIsIndexedByPages(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, index := h.worker()
	x := h.extractor()
	id, accepted := h.put(h.file("Handbook", "One page.\n\nAnother page."))
	if d := h.read(id); d.Indexing.State != document.Extracting || d.Body != "" || d.MediaType != extract.DOCX || d.Original.Bytes != int64(len(office("One page.\n\nAnother page."))) {
		t.Fatalf("put: %+v", d)
	}
	work := h.last()
	for receives := range 2 { // the second time changes nothing
		if h.extract(x, work, receives+1) {
			t.Fatalf("delivery %d failed", receives+1)
		}
	}
	d := h.read(id)
	if d.Indexing.State != document.Pending || d.Body != "One page.\n\nAnother page.\n\n" || d.Version <= accepted || !slices.Equal(d.Indexing.Notes, []string{"A note."}) {
		t.Fatalf("read: %+v", d)
	}
	if h.deliver(w, h.last(), 1) || len(index.published) != 1 {
		t.Fatalf("published %+v", index.published)
	}
	var pages []int
	for _, c := range index.published[0].Chunks {
		for _, p := range c.Passages {
			pages = append(pages, p.Page)
		}
	}
	if !slices.Equal(pages, []int{1, 3}) {
		t.Errorf("passages of pages %v", pages)
	}
	if d := h.read(id); d.Indexing.State != document.Indexed || len(h.objects()) != 1 {
		t.Errorf("indexed: %+v, objects %v", d.Indexing, h.objects())
	}
	// What a writer has been told is current until another put.
	in := h.file("Handbook", "New text.")
	in.Match = func(version int64) error {
		if version != accepted {
			return errDown
		}
		return nil
	}
	h.clock.Advance(time.Second)
	if _, version := h.put(in); version <= d.Version {
		t.Errorf("version %d after %d", version, d.Version)
	}
}

func TestPassagesOfAFileLeadToTheirPage(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, index := h.worker()
	in := h.file("Handbook", "One page.\nAnother page.")
	in.MediaType = extract.PDF
	h.put(in)
	h.tidy(w, h.extractor())
	d := index.published[0]
	ref := search.Ref{Document: d.ID, Version: d.Version, Chunk: 1}
	texts, err := document.Corpus{Service: h.Service}.Texts(t.Context(), teamID, []search.Ref{ref})
	if err != nil || !texts[ref].Paged || len(texts[ref].Passages) != 2 || texts[ref].Passages[1].Page != 2 {
		t.Errorf("%+v, %v", texts[ref], err)
	}
}

// A file and a text replace each other and themselves; nothing of what was replaced stays.
func TestReplacedFilesAreRemoved(t *testing.T) {
	t.Parallel()
	for name, extracted := range map[string]bool{"after it was read": true, "before it was read": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			w, index := h.worker()
			x := h.extractor()
			step := func() {
				h.clock.Advance(time.Second)
				if extracted {
					h.tidy(w, x)
				}
			}
			id, _ := h.put(h.text("Handbook", strings.Repeat("Text. ", text.InlineBytes)))
			step()
			h.put(h.file("Handbook", "First file."))
			step()
			h.put(h.file("Handbook", "Second file."))
			step()
			h.tidy(w, x)
			d := h.read(id)
			if d.Body != "Second file.\n\n" || !slices.Equal(h.objects(), []string{d.Original.Blob}) {
				t.Errorf("%q, objects %v", d.Body, h.objects())
			}
			if extracted && index.stale[h.wiki] == 0 {
				t.Error("the passages of the text are not stale")
			}
			h.put(h.text("Handbook", "Text again."))
			step()
			h.tidy(w, x)
			if d := h.read(id); d.Body != "Text again." || d.Original != nil || len(h.objects()) != 0 {
				t.Errorf("%+v, objects %v", d, h.objects())
			}
		})
	}
}

func TestDeletedFilesAreRemoved(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(h *fixture, id string) error{
		"the document": func(h *fixture, id string) error {
			return h.Delete(h.t.Context(), teamID, id, "r", everyone, anyVersion)
		},
		"its collection": func(h *fixture, _ string) error {
			return h.collections.Delete(h.t.Context(), teamID, h.wiki, "r", access.Everything(), anyVersion)
		},
	} {
		for state, extracted := range map[string]bool{"read": true, "not read": false} {
			t.Run(name+" "+state, func(t *testing.T) {
				t.Parallel()
				h := newFixture(t)
				w, _ := h.worker()
				x := h.extractor()
				id, _ := h.put(h.file("Handbook", "A file."))
				if extracted {
					h.tidy(w, x)
				}
				if err := remove(h, id); err != nil {
					t.Fatal(err)
				}
				h.tidy(w, x)
				if left := h.objects(); len(left) != 0 {
					t.Errorf("left behind: %v", left)
				}
			})
		}
	}
}

func TestTheSameFileChangesNothing(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, _ := h.worker()
	x := h.extractor()
	_, first := h.put(h.file("Handbook", "A file."))
	if _, again := h.put(h.file("Handbook", "A file.")); again != first {
		t.Errorf("before it was read: version %d after %d", again, first)
	}
	h.tidy(w, x)
	id, read := h.put(h.file("Handbook", "A file."))
	if d := h.read(id); read != d.Version || read == first || d.Indexing.State != document.Indexed {
		t.Errorf("version %d, %+v", read, d)
	}
	if len(h.objects()) != 1 {
		t.Errorf("objects %v", h.objects())
	}
}

func TestAFileThatCannotBeReadSaysWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mediaType, code, detail string
		read                    func(context.Context) (extract.Document, error)
	}{
		"damaged": {extract.DOCX, "unreadable-file", "It is damaged.", func(context.Context) (extract.Document, error) {
			return extract.Document{}, extract.Errorf("It is damaged.")
		}},
		"a damaged page": {extract.PDF, "unreadable-file", "Page 7: It is damaged.", func(context.Context) (extract.Document, error) {
			return extract.Document{}, extract.Errorf("It is damaged.").OnPage(7)
		}},
		"a damaged slide": {extract.PPTX, "unreadable-file", "Slide 7: It is damaged.", func(context.Context) (extract.Document, error) {
			return extract.Document{}, extract.Errorf("It is damaged.").OnPage(7)
		}},
		"hidden": {extract.XLSX, "no-text", "The file has no text that is shown. The sheet Data is hidden and was left out.", func(context.Context) (extract.Document, error) {
			return extract.Document{Notes: []string{"The sheet Data is hidden and was left out."}}, nil
		}},
		"pictures": {extract.PDF, "no-text", "The file has no text. Pictures", func(context.Context) (extract.Document, error) {
			return extract.Document{Notes: []string{"Page 1 is a picture."}}, nil
		}},
		"a panic": {extract.PDF, "unreadable-file", "The file is damaged", func(context.Context) (extract.Document, error) { panic("out of range") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			w, _ := h.worker()
			x := h.extractor()
			works := x.Read
			x.Read = func(ctx context.Context, _ string, _ io.ReaderAt, _ int64) (extract.Document, error) {
				return c.read(ctx)
			}
			in := h.file("Handbook", "A file.")
			in.MediaType = c.mediaType
			id, _ := h.put(in)
			h.tidy(w, x)
			d := h.read(id)
			if d.Indexing.State != document.Failed || d.Indexing.Code != c.code || !strings.HasPrefix(d.Indexing.Detail, c.detail) {
				t.Errorf("%+v", d.Indexing)
			}
			x.Read = works
			h.clock.Advance(time.Second)
			h.put(in)
			h.tidy(w, x)
			if d := h.read(id); d.Indexing.State != document.Indexed || !slices.Equal(h.objects(), []string{d.Original.Blob}) {
				t.Errorf("put again: %+v, objects %v", d.Indexing, h.objects())
			}
		})
	}
}

// A file that kills its worker is not read forever.
func TestAFileThatKillsItsWorkerFails(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, _ := h.worker()
	x := h.extractor()
	id, _ := h.put(h.file("Handbook", "A file."))
	work := h.last()
	for range 3 {
		attempt, err := pending.Begin(t.Context(), h.Table, work, h.clock.Now(), h.clock.Now(), false)
		if err != nil || attempt == 0 {
			t.Fatalf("attempt %d, %v", attempt, err)
		}
	}
	h.tidy(w, x)
	if d := h.read(id); d.Indexing.State != document.Failed || !strings.Contains(d.Indexing.Detail, "never ended") {
		t.Errorf("%+v", d.Indexing)
	}
}

func TestAFileIsReadByOneWorkerAtATime(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	x := h.extractor()
	x.Alone = false
	id, _ := h.put(h.file("Handbook", "A file."))
	work := h.last()
	if attempt, err := pending.Begin(t.Context(), h.Table, work, h.clock.Now(), h.clock.Now().Add(time.Minute), true); err != nil || attempt != 1 {
		t.Fatalf("attempt %d, %v", attempt, err)
	}
	if h.extract(x, work, 1) || h.read(id).Indexing.State != document.Extracting {
		t.Errorf("read by two: %+v", h.read(id).Indexing)
	}
	h.clock.Advance(time.Minute)
	if h.extract(x, work, 1) || h.read(id).Indexing.State != document.Pending {
		t.Errorf("not read after the first one's time: %+v", h.read(id).Indexing)
	}
}

// brokenBlobs fails to return objects.
type brokenBlobs struct{ blob.Store }

func (brokenBlobs) GetRange(context.Context, string, int64, int64) ([]byte, error) {
	return nil, errDown
}

func TestAStoreThatIsAwayIsNoFaultOfTheFile(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, _ := h.worker()
	works := h.Blobs
	h.Blobs = brokenBlobs{works}
	x := h.extractor()
	x.Alone = false
	id, _ := h.put(h.file("Handbook", "A file."))
	work := h.last()
	for receives := 1; receives < queue.MaxReceives; receives++ {
		if !h.extract(x, work, receives) || h.read(id).Indexing.State != document.Extracting {
			t.Errorf("delivery %d: %+v", receives, h.read(id).Indexing)
		}
	}
	h.Blobs = works
	h.tidy(w, x)
	if d := h.read(id); d.Indexing.State != document.Indexed {
		t.Errorf("%+v", d.Indexing)
	}
}

// A file that was given up through no fault of its own is read again when it is put again without a change, as a sync does.
func TestAFileThatWasGivenUpIsReadAgain(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, _ := h.worker()
	works := h.Blobs
	h.Blobs = brokenBlobs{works}
	x := h.extractor()
	in := h.file("Handbook", "A file.")
	id, _ := h.put(in)
	h.extract(x, h.last(), queue.MaxReceives)
	if d := h.read(id); d.Indexing.State != document.Failed || d.Indexing.Code != "internal" {
		t.Fatalf("%+v", d.Indexing)
	}
	h.Blobs = works
	h.clock.Advance(time.Hour)
	in.KeepContent, in.File, in.MediaType = true, nil, ""
	h.put(in)
	h.tidy(w, x)
	if d := h.read(id); d.Indexing.State != document.Indexed || !strings.Contains(d.Body, "A file.") {
		t.Errorf("%+v", d)
	}
}

// Of the writes between the reading of a file and the storing of its text, every one wins.
func TestWhatChangedWhileAFileWasReadWins(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(h *fixture, id string) error{
		"put": func(h *fixture, _ string) error {
			_, _, err := h.Put(h.t.Context(), teamID, h.text("Handbook", "Text."))
			return err
		},
		"deleted": func(h *fixture, id string) error {
			return h.Delete(h.t.Context(), teamID, id, "r", everyone, anyVersion)
		},
		"its collection deleted": func(h *fixture, _ string) error {
			return h.collections.Delete(h.t.Context(), teamID, h.wiki, "r", access.Everything(), anyVersion)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			w, _ := h.worker()
			x := h.extractor()
			works, changed := x.Read, false
			id, _ := h.put(h.file("Handbook", strings.Repeat("A file. ", text.InlineBytes)))
			x.Read = func(ctx context.Context, mediaType string, file io.ReaderAt, size int64) (extract.Document, error) {
				d, err := works(ctx, mediaType, file, size)
				if !changed {
					changed = true
					err = errors.Join(err, change(h, id))
				}
				return d, err
			}
			h.clock.Advance(time.Second)
			if h.extract(x, h.last(), 1) {
				t.Fatal("failed")
			}
			h.tidy(w, x)
			d, err := h.Read(t.Context(), teamID, id, everyone)
			if err == nil && d.Body != "Text." || err != nil && !apierr.IsCode(err, apierr.CodeNotFound) {
				t.Errorf("%+v, %v", d, err)
			}
			if left := h.objects(); len(left) != 0 {
				t.Errorf("objects %v", left)
			}
			for item, err := range table.All(t.Context(), h.Table, table.Query{Table: table.Documents, Partition: teamID + "/" + id}) {
				if err != nil || d.Version == 0 {
					t.Errorf("left behind: %+v, %v", item.Key, err)
				}
			}
		})
	}
}

func TestFilesAreChecked(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for name, c := range map[string]struct {
		mediaType string
		file      []byte
	}{
		"an unknown kind": {"image/png", []byte("x")}, "no file": {extract.PDF, nil}, "no Office file": {extract.XLSX, []byte("text")},
		"empty reStructuredText": {extract.RST, nil}, "reStructuredText that is not read": {extract.RST, make([]byte, extract.MaxRST+1)},
	} {
		in := h.text("Handbook", "")
		in.MediaType, in.File = c.mediaType, c.file
		if _, _, err := h.Put(t.Context(), teamID, in); !apierr.IsCode(err, apierr.CodeInvalidRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if kinds, _ := h.pending(); kinds != "" || len(h.objects()) != 0 {
		t.Errorf("pending %s, objects %v", kinds, h.objects())
	}
}

func TestTheOriginalOfADocumentIsFound(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	id, _ := h.put(h.file("Handbook", "A file."))
	text, _ := h.put(h.text("Text", "Text."))
	for _, step := range []string{"before it was read", "after"} {
		e, err := h.GetOriginal(t.Context(), teamID, id, everyone)
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		if data, err := h.Blobs.Get(t.Context(), e.Original.Blob); err != nil || string(data) != string(office("A file.")) {
			t.Errorf("%s: %q, %v", step, data, err)
		}
		w, _ := h.worker()
		h.tidy(w, h.extractor())
	}
	for name, get := range map[string]func() (document.Entry, error){
		"a text":  func() (document.Entry, error) { return h.GetOriginal(t.Context(), teamID, text, everyone) },
		"nobody":  func() (document.Entry, error) { return h.GetOriginal(t.Context(), teamID, id, document.Who{}) },
		"no such": func() (document.Entry, error) { return h.GetOriginal(t.Context(), teamID, "x", everyone) },
	} {
		if e, err := get(); !apierr.IsCode(err, apierr.CodeNotFound) {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
}
