package document_test

import (
	"crypto/sha256"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/document"
	"docent/shared/extract"
)

const rivalID = "7e5b2ba2-3d7a-4b6e-9f60-6c1f0a5d9b11"

// upload asks for an upload of content and, unless sent is false, stores it.
func (h *fixture) upload(mediaType, content string, sent bool) document.Upload {
	h.t.Helper()
	u, _, err := h.NewUpload(h.t.Context(), teamID, mediaType, int64(len(content)), nil)
	if err != nil {
		h.t.Fatal(err)
	}
	if sent {
		h.send(u, content)
	}
	return u
}

func (h *fixture) send(u document.Upload, content string) {
	h.t.Helper()
	if err := h.Blobs.Put(h.t.Context(), document.UploadBlob(teamID, u.ID), []byte(content)); err != nil {
		h.t.Fatal(err)
	}
}

// uploaded returns what puts the file of an upload into the wiki.
func (h *fixture) uploaded(name, id string) document.Input {
	in := h.text(name, "")
	in.Upload = id
	return in
}

func TestAnUploadBecomesTheFileOfOneDocument(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, _ := h.worker()
	x := h.extractor()
	u := h.upload(extract.DOCX, "PKThe handbook.", true)
	id, version := h.put(h.uploaded("Handbook", u.ID))
	if d := h.read(id); d.Indexing.State != document.Extracting || d.MediaType != extract.DOCX || d.Original.Bytes != 15 {
		t.Fatalf("put: %+v", d)
	}
	if _, again := h.put(h.uploaded("Handbook", u.ID)); again != version {
		t.Errorf("the repeated put made version %d after %d", again, version)
	}
	h.clock.Advance(2 * document.UploadLife)
	h.tidy(w, x)
	if d := h.read(id); d.Indexing.State != document.Indexed || strings.TrimSpace(d.Body) != "The handbook." || len(h.objects()) != 1 {
		t.Fatalf("read: %+v, objects %v", d, h.objects())
	}
	if _, _, err := h.Put(t.Context(), teamID, h.uploaded("Other", u.ID)); !apierr.IsCode(err, apierr.CodeInvalidRequest) {
		t.Errorf("another document takes a used upload: %v", err)
	}
	// A put of the same file in the body changes nothing, and an upload of it is given back.
	same := h.text("Handbook", "")
	same.MediaType, same.File = extract.DOCX, []byte("PKThe handbook.")
	_, now := h.put(same)
	next := h.upload(extract.DOCX, "PKThe handbook.", true)
	_, again := h.put(h.uploaded("Handbook", next.ID))
	if h.deliver(w, h.last(), 1) || again != now || len(h.objects()) != 1 {
		t.Errorf("an upload of the same file: version %d after %d, objects %v", again, now, h.objects())
	}
	if err := h.Delete(t.Context(), teamID, id, "", everyone, anyVersion); err != nil {
		t.Fatal(err)
	}
	h.clock.Advance(2 * document.UploadLife)
	h.tidy(w, x)
	if left := h.objects(); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestUploadsThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	large := "%PDF-" + strings.Repeat("x", 3<<20)
	for name, c := range map[string]struct {
		upload func() document.Upload
		change func(in *document.Input)
		code   string
	}{
		"not sent":               {upload: func() document.Upload { return h.upload(extract.PDF, "%PDF-", false) }, code: apierr.CodeUploadIncomplete},
		"unknown":                {upload: func() document.Upload { return document.Upload{ID: rivalID} }},
		"no id":                  {upload: func() document.Upload { return document.Upload{ID: "../" + teamID} }},
		"another media type":     {upload: func() document.Upload { return h.upload(extract.PDF, "%PDF-", true) }, change: func(in *document.Input) { in.MediaType = extract.DOCX }},
		"a file of another kind": {upload: func() document.Upload { return h.upload(extract.DOCX, "%PDF-", true) }},
		"smaller than stated": {upload: func() document.Upload {
			u := h.upload(extract.PDF, large, false)
			h.send(u, large[1:])
			return u
		}},
		"larger than stated": {upload: func() document.Upload {
			u := h.upload(extract.PDF, large, false)
			h.send(u, large+"x")
			return u
		}},
		"with a body": {upload: func() document.Upload { return h.upload(extract.PDF, "%PDF-", true) }, change: func(in *document.Input) { in.Body = "text" }},
		"another collection's key": {upload: func() document.Upload { return h.upload(extract.PDF, "%PDF-", true) },
			change: func(in *document.Input) { in.Who = only(h.guide) }, code: apierr.CodeSourceNotAllowed},
	} {
		in := h.uploaded(name, c.upload().ID)
		if c.change != nil {
			c.change(&in)
		}
		if c.code == "" {
			c.code = apierr.CodeInvalidRequest
		}
		if _, _, err := h.Put(t.Context(), teamID, in); !apierr.IsCode(err, c.code) {
			t.Errorf("%s: %v", name, err)
		}
	}
	u := h.upload(extract.PDF, "%PDF-", true)
	theirs := h.uploaded("theirs", u.ID)
	theirs.CollectionID = h.collect(rivalID, "theirs")
	if _, _, err := h.Put(t.Context(), rivalID, theirs); !apierr.IsCode(err, apierr.CodeInvalidRequest) {
		t.Errorf("another team: %v", err)
	}
	h.clock.Advance(document.UploadLife)
	if _, _, err := h.Put(t.Context(), teamID, h.uploaded("late", u.ID)); !apierr.IsCode(err, apierr.CodeInvalidRequest) {
		t.Errorf("too late: %v", err)
	}
}

func TestAbandonedUploadsAreRemoved(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, _ := h.worker()
	h.upload(extract.PDF, "%PDF-", true)
	h.upload(extract.PDF, "%PDF-", false)
	h.clock.Advance(document.UploadLife)
	h.tidy(w, h.extractor())
	if left := h.objects(); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestAnAddressIsOfOneUploadForAWhile(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	digest := sha256.Sum256([]byte("%PDF-"))
	u, secret, err := h.NewUpload(t.Context(), teamID, extract.PDF, 5, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	if found, err := h.FindUpload(t.Context(), teamID, u.ID, secret); err != nil || found.Size != 5 || string(found.SHA256) != string(digest[:]) {
		t.Fatalf("%+v, %v", found, err)
	}
	for name, c := range map[string][3]string{
		"no secret": {teamID, u.ID, ""}, "a guess": {teamID, u.ID, secret[1:] + "A"}, "another team": {rivalID, u.ID, secret},
		"another id": {teamID, rivalID, secret}, "no ids": {"../x", "", secret},
	} {
		if _, err := h.FindUpload(t.Context(), c[0], c[1], c[2]); !apierr.IsCode(err, apierr.CodeNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	h.clock.Advance(document.UploadTime)
	if _, err := h.FindUpload(t.Context(), teamID, u.ID, secret); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("expired: %v", err)
	}
	for mediaType, size := range map[string]int64{extract.PDF: extract.MaxPDF, extract.DOCX: document.MaxUploadBytes, extract.RST: extract.MaxRST} {
		if _, _, err := h.NewUpload(t.Context(), teamID, mediaType, size, nil); err != nil {
			t.Errorf("the largest %s: %v", mediaType, err)
		}
	}
	for name, call := range map[string]func() error{
		"no size": func() error { _, _, err := h.NewUpload(t.Context(), teamID, extract.PDF, 0, nil); return err },
		"too large": func() error {
			_, _, err := h.NewUpload(t.Context(), teamID, extract.PDF, document.MaxUploadBytes+1, nil)
			return err
		},
		"a PDF that is not read": func() error {
			_, _, err := h.NewUpload(t.Context(), teamID, extract.PDF, extract.MaxPDF+1, nil)
			return err
		},
		"reStructuredText that is not read": func() error {
			_, _, err := h.NewUpload(t.Context(), teamID, extract.RST, extract.MaxRST+1, nil)
			return err
		},
		"media type": func() error { _, _, err := h.NewUpload(t.Context(), teamID, "text/plain", 1, nil); return err },
		"digest":     func() error { _, _, err := h.NewUpload(t.Context(), teamID, extract.PDF, 1, digest[1:]); return err },
	} {
		if err := call(); !apierr.IsCode(err, apierr.CodeInvalidRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheBoundOfUploadsIsExact(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	var wait sync.WaitGroup
	var mu sync.Mutex
	var open []document.Upload
	for range 2 * document.MaxUploads {
		wait.Go(func() {
			u, _, err := h.NewUpload(t.Context(), teamID, extract.PDF, 5, nil)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				open = append(open, u)
			} else if !apierr.IsCode(err, apierr.CodeUploadLimit) {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if len(open) != document.MaxUploads {
		t.Fatalf("%d uploads, want %d", len(open), document.MaxUploads)
	}
	if _, _, err := h.NewUpload(t.Context(), rivalID, extract.PDF, 5, nil); err != nil {
		t.Errorf("another team: %v", err)
	}
	h.send(open[0], "%PDF-")
	h.put(h.uploaded("first", open[0].ID))
	h.upload(extract.PDF, "%PDF-", false)
	h.clock.Advance(document.UploadLife - time.Second)
	if _, _, err := h.NewUpload(t.Context(), teamID, extract.PDF, 5, nil); !apierr.IsCode(err, apierr.CodeUploadLimit) {
		t.Errorf("one too many: %v", err)
	}
	h.clock.Advance(time.Second)
	for range document.MaxUploads {
		h.upload(extract.PDF, "%PDF-", false)
	}
}

func TestOneOfManyPutsUsesAnUpload(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	u := h.upload(extract.PDF, "%PDF-", true)
	var wait sync.WaitGroup
	var mu sync.Mutex
	used := 0
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		wait.Go(func() {
			_, _, err := h.Put(t.Context(), teamID, h.uploaded(name, u.ID))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				used++
			} else if !apierr.IsCode(err, apierr.CodeInvalidRequest) {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if used != 1 {
		t.Errorf("%d documents use it", used)
	}
}

// A put that fails leaves the upload to be used again.
func TestAnUploadOutlivesAFailedPut(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	u := h.upload(extract.PDF, "%PDF-", true)
	in := h.uploaded("a", u.ID)
	in.Match = func(int64) error { return errDown }
	if _, _, err := h.Put(t.Context(), teamID, in); !errors.Is(err, errDown) {
		t.Fatal(err)
	}
	h.put(h.uploaded("a", u.ID))
}

// The repeat of a put is answered as the put was, although its upload was given back.
func TestAnUnchangedPutWithAnUploadIsRepeated(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, _ := h.worker()
	x := h.extractor()
	_, version := h.put(h.uploaded("Handbook", h.upload(extract.DOCX, "PKThe handbook.", true).ID))
	dropped := h.upload(extract.DOCX, "PKThe handbook.", true)
	for range 3 {
		if _, again := h.put(h.uploaded("Handbook", dropped.ID)); again != version {
			t.Errorf("version %d after %d", again, version)
		}
		h.deliver(w, h.last(), 1)
	}
	if left := h.objects(); len(left) != 1 {
		t.Errorf("objects %v", left)
	}
	h.put(h.uploaded("Other", h.upload(extract.DOCX, "PKAnother file.", true).ID))
	for _, name := range []string{"Other", "New"} {
		if _, _, err := h.Put(t.Context(), teamID, h.uploaded(name, dropped.ID)); !apierr.IsCode(err, apierr.CodeInvalidRequest) {
			t.Errorf("%s takes a dropped upload: %v", name, err)
		}
	}
	for range document.MaxUploads { // it takes no place
		h.upload(extract.PDF, "%PDF-", false)
	}
	h.clock.Advance(2 * document.UploadLife)
	h.tidy(w, x)
	if _, _, err := h.Put(t.Context(), teamID, h.uploaded("Handbook", dropped.ID)); !apierr.IsCode(err, apierr.CodeInvalidRequest) || len(h.objects()) != 2 {
		t.Errorf("too late: %v, objects %v", err, h.objects())
	}
}

// A document keeps its file when it is put again with the upload of that file and other fields.
func TestFieldsChangeWithTheSameUpload(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, _ := h.worker()
	x := h.extractor()
	used := h.upload(extract.DOCX, "PKThe handbook.", true)
	id, version := h.put(h.uploaded("Handbook", used.ID))
	dropped := h.upload(extract.DOCX, "PKThe handbook.", true)
	h.put(h.uploaded("Handbook", dropped.ID))
	for _, u := range []document.Upload{used, dropped, used} { // while it is read, and after
		in := h.uploaded("Handbook", u.ID)
		in.Title = "For " + u.ID
		in.CollectionID = h.guide
		_, next := h.put(in)
		if _, again := h.put(in); next <= version || again != next {
			t.Errorf("versions %d, %d, %d", version, next, again)
		}
		version = next
		h.tidy(w, x)
		if d := h.read(id); d.Title != in.Title || d.CollectionID != h.guide || strings.TrimSpace(d.Body) != "The handbook." || d.Indexing.State != document.Indexed ||
			d.Original.Blob != document.UploadBlob(teamID, used.ID) || d.MediaType != extract.DOCX || len(h.objects()) != 1 {
			t.Errorf("%+v, objects %v", d, h.objects())
		}
	}
	bad := h.uploaded("Handbook", used.ID)
	bad.MediaType = extract.PDF
	if _, _, err := h.Put(t.Context(), teamID, bad); !apierr.IsCode(err, apierr.CodeInvalidRequest) {
		t.Errorf("another media type: %v", err)
	}
}
