package app_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"docent/shared/app"
	"docent/shared/app/parts/files"
	"docent/shared/extract"
	"docent/shared/scim/scimtest"
	"docent/shared/team"
)

// filed is an installation on one machine that reads files with a page per line.
type filed struct {
	t       *testing.T
	local   *app.Local
	folder  string // of the data
	handler http.Handler
	team    string // its id
	key     string
	wiki    string
}

func newFiled(t *testing.T) *filed {
	t.Helper()
	return newFiledWith(t, func(_ context.Context, _ string, file io.ReaderAt, size int64) (extract.Document, error) {
		data, err := io.ReadAll(io.NewSectionReader(file, 0, size))
		var d extract.Document
		for n, line := range strings.Split(string(data), "\n") {
			d.Pages = append(d.Pages, extract.Page{Number: n + 1, Markdown: line})
		}
		return d, err
	})
}

// newFiledWith returns an installation that reads files with the given function.
func newFiledWith(t *testing.T, read app.Extract) *filed {
	t.Helper()
	f := &filed{t: t, folder: t.TempDir()}
	var err error
	f.local, err = app.OpenLocal(t.Context(), f.folder, app.LocalOptions{Log: slog.New(slog.DiscardHandler), NoSync: true, Parts: app.Parts{Extract: read}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.local.Close(); err != nil {
			t.Error(err)
		}
	})
	f.handler = f.local.Handler("https://docent.test/v1")
	acme, _, err := f.local.Teams.CreateTeam(t.Context(), "acme", "admin@acme.test")
	if err != nil {
		t.Fatal(err)
	}
	f.team = acme.ID
	if _, err := f.local.Teams.SetSAML(t.Context(), acme.ID, team.SAMLProvider{EntityID: "https://idp.test/"}, []byte(scimtest.Metadata)); err != nil {
		t.Fatal(err)
	}
	if _, f.key, err = f.local.Teams.CreateKey(t.Context(), acme.ID, team.NewKey{Kind: team.KindTeam, Name: "team"}); err != nil {
		t.Fatal(err)
	}
	var made struct{ ID string }
	f.do("POST", "/collections", map[string]any{"name": "wiki", "description": "All"}, 201, &made)
	f.wiki = made.ID
	return f
}

// do sends a request and decodes the reply.
func (f *filed) do(method, path string, body any, status int, into any) http.Header {
	f.t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		f.t.Fatal(err)
	}
	r := httptest.NewRequest(method, "/v1"+path, bytes.NewReader(encoded))
	r.Header.Set("Authorization", "Bearer "+f.key)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	if w.Code != status {
		f.t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
	if into != nil {
		if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
			f.t.Fatalf("%s %s: %v", method, path, err)
		}
	}
	return w.Header()
}

// person makes a user and returns a personal key.
func (f *filed) person(name string) string {
	f.t.Helper()
	_, scim, err := f.local.Teams.CreateKey(f.t.Context(), f.team, team.NewKey{Kind: team.KindSCIM, Name: "scim"})
	if err != nil {
		f.t.Fatal(err)
	}
	own := f.key
	f.key = scim
	var user struct{ ID string }
	f.do("POST", "/scim/v2/Users", map[string]any{"userName": name}, 201, &user)
	f.key = own
	_, key, err := f.local.Teams.CreateKey(f.t.Context(), f.team, team.NewKey{Kind: team.KindPersonal, Name: name, UserID: user.ID})
	if err != nil {
		f.t.Fatal(err)
	}
	return key
}

// fileBody is a document with a file in a reply.
type fileBody struct {
	ID, Body, MediaType string
	Size                int64
	SHA256              string
	Indexing            struct {
		State string
		Error struct{ Code, Detail string }
	}
}

func (f *filed) put(uri, mediaType string, file []byte) (d fileBody) {
	f.t.Helper()
	f.do("PUT", "/documents", map[string]any{"collectionId": f.wiki, "uri": uri, "title": "Handbook", "mediaType": mediaType,
		"body": base64.StdEncoding.EncodeToString(file)}, 200, &d)
	f.do("GET", "/documents/"+d.ID, nil, 200, &d)
	return d
}

// TestReferencesLeadToThePageOfAFile: everything that names a source of an answer names the page, and what names it
// can be read again.
func TestReferencesLeadToThePageOfAFile(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	const file = "The canteen opens at noon.\nTo roll back a deployment, run the undo command.\nThe office closes at six."
	d := f.put("https://wiki.test/handbook.pdf", extract.PDF, []byte(file))
	if d.Indexing.State != "extracting" || d.Body != "" || d.Size != int64(len(file)) || d.SHA256 != fmt.Sprintf("%x", sha256.Sum256([]byte(file))) || d.MediaType != extract.PDF {
		t.Errorf("put: %+v", d)
	}
	if err := f.local.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.do("GET", "/documents/"+d.ID, nil, 200, &d)
	if d.Indexing.State != "indexed" || d.Body != strings.ReplaceAll(file, "\n", "\n\n")+"\n\n" {
		t.Errorf("read: %+v", d)
	}
	const want = "https://wiki.test/handbook.pdf#page=2"
	const asked = "How do I roll back a deployment?"
	var found struct {
		Sources []struct{ URL, Content string }
	}
	f.do("POST", "/context/search/documentation", map[string]any{"query": asked}, 200, &found)
	if len(found.Sources) != 1 || found.Sources[0].URL != want || !strings.Contains(found.Sources[0].Content, "undo") {
		t.Errorf("sources %+v", found)
	}
	var read struct {
		Results []struct{ Title, Content string }
	}
	f.do("POST", "/context/get", map[string]any{"urls": []string{want}}, 200, &read)
	if len(read.Results) != 1 || read.Results[0].Title != "Handbook" {
		t.Errorf("read again: %+v", read)
	}
	const question = "/answers/0190d2a0-0000-7000-8000-000000000001"
	f.do("PUT", question, map[string]any{"question": asked}, 204, nil)
	if err := f.local.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Answer     string
		References []struct{ HTMLURL string }
	}
	f.do("GET", question, nil, 200, &answer)
	if len(answer.References) != 1 || answer.References[0].HTMLURL != want || !strings.Contains(answer.Answer, "("+want+")") {
		t.Errorf("answer %+v", answer)
	}
}

// TestAStreamOfResearchNamesWhatItCites: also a page of a file, and nothing else of what was found.
func TestAStreamOfResearchNamesWhatItCites(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	f.put("https://wiki.test/handbook.pdf", extract.PDF, []byte("The canteen opens at noon.\nTo roll back a deployment, run the undo command.\nThe office closes at six."))
	f.do("PUT", "/documents", map[string]any{"collectionId": f.wiki, "uri": "https://wiki.test/party", "title": "Party", "body": "The undo of the tent takes an hour."}, 200, nil)
	if err := f.local.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "/v1/context/research", strings.NewReader(`{"query":"How do I roll back a deployment, with the undo command?"}`))
	r.Header.Set("Authorization", "Bearer "+f.key)
	r.Header.Set("Accept", "text/event-stream")
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	stream := w.Body.String()
	if !strings.Contains(stream, `"url":"https://wiki.test/handbook.pdf#page=2"`) || !strings.Contains(stream, `"url":"https://wiki.test/party"`) {
		t.Fatalf("both documents should be found: %s", stream)
	}
	if strings.Count(stream, `"references":[0]`) != 1 || strings.Count(stream, `"references":`) != 1 {
		t.Errorf("it cites the first: %s", stream)
	}
}

// TestTextOfAnotherPageSaysSo: what a source has of other pages than that of its address is not taken for that page's.
func TestTextOfAnotherPageSaysSo(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	f.put("https://wiki.test/handbook.pdf", extract.PDF, []byte("Deployments happen on weekdays.\nTo roll back a deployment, run the undo command.\nThe office closes at six.\nEvery deployment is logged.\n"))
	if err := f.local.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	var found struct {
		Sources []struct{ URL, Content string }
	}
	f.do("POST", "/context/search/documentation", map[string]any{"query": "How do I roll back a deployment?"}, 200, &found)
	const want = "To roll back a deployment, run the undo command.\n\nPage 1:\n\nDeployments happen on weekdays.\n\nPage 4:\n\nEvery deployment is logged."
	if len(found.Sources) != 1 || found.Sources[0].URL != "https://wiki.test/handbook.pdf#page=2" || found.Sources[0].Content != want {
		t.Errorf("sources %+v", found)
	}
}

func TestOnlyReferencesToAPDFNameAPage(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	f.put("https://wiki.test/slides.pptx", extract.PPTX, []byte("PK\nTo roll back a deployment, run the undo command.\nEvery deployment is logged."))
	if err := f.local.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	var found struct {
		Sources []struct{ URL, Content string }
	}
	f.do("POST", "/context/search/documentation", map[string]any{"query": "How do I roll back a deployment?"}, 200, &found)
	if len(found.Sources) != 1 || found.Sources[0].URL != "https://wiki.test/slides.pptx" || strings.Contains(found.Sources[0].Content, "Page ") || !strings.Contains(found.Sources[0].Content, "logged") {
		t.Errorf("sources %+v", found)
	}
}

// TestReStructuredTextIsRead as Markdown: in a request and by an upload. The file itself stays.
func TestReStructuredTextIsRead(t *testing.T) {
	t.Parallel()
	f := newFiledWith(t, files.Reader())
	const file = "Rolling back\n~~~~~~~~~~~~\n\nRun::\n\n   deployctl undo\n"
	const uri, want = "https://wiki.test/rollback.rst", "# Rolling back\n\nRun:\n\n```\ndeployctl undo\n```\n\n"
	d := f.put(uri, extract.RST, []byte(file))
	if d.Indexing.State != "extracting" || d.MediaType != extract.RST || d.SHA256 != fmt.Sprintf("%x", sha256.Sum256([]byte(file))) {
		t.Errorf("put: %+v", d)
	}
	u := f.upload(map[string]any{"mediaType": extract.RST, "size": len(file)})
	if w := f.send(u, strings.NewReader(file), nil); w.Code != 204 {
		t.Fatalf("send the file: %d %s", w.Code, w.Body)
	}
	var sent fileBody
	f.do("PUT", "/documents", map[string]any{"collectionId": f.wiki, "uri": "https://wiki.test/sent.rst", "title": "Sent", "upload": u.ID}, 200, &sent)
	if err := f.local.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{d.ID, sent.ID} {
		f.do("GET", "/documents/"+id, nil, 200, &d)
		if d.Indexing.State != "indexed" || d.Body != want {
			t.Errorf("read: %+v", d)
		}
		r := httptest.NewRequest("GET", "/v1/documents/"+id+"/original", nil)
		r.Header.Set("Authorization", "Bearer "+f.key)
		w := httptest.NewRecorder()
		f.handler.ServeHTTP(w, r)
		if w.Code != 200 || w.Body.String() != file || w.Header().Get("Content-Type") != extract.RST || !strings.HasSuffix(w.Header().Get("Content-Disposition"), ".rst") {
			t.Errorf("original: %d %q %v", w.Code, w.Body, w.Header())
		}
	}
	if again := f.put(uri, extract.RST, []byte(file)); again.Indexing.State != "indexed" {
		t.Errorf("put again without a change: %+v", again)
	}
}

func TestReStructuredTextThatCannotBeRead(t *testing.T) {
	t.Parallel()
	f := newFiledWith(t, files.Reader())
	for name, c := range map[string]struct{ file, code, detail string }{
		"another encoding": {"Caf\xe9\n====\n", "unreadable-file", "The file is not text in UTF-8. Save it as UTF-8."},
		"only a comment":   {".. nothing else\n", "no-text", "The file has no text. Pictures are not read; put a file with text in it."},
	} {
		d := f.put("https://wiki.test/bad.rst", extract.RST, []byte(c.file))
		if err := f.local.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.do("GET", "/documents/"+d.ID, nil, 200, &d)
		if d.Indexing.State != "failed" || d.Indexing.Error.Code != c.code || d.Indexing.Error.Detail != c.detail || d.Body != "" {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestAFileMustBeBase64(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	for name, body := range map[string]map[string]any{
		"no base64":          {"mediaType": extract.PDF, "body": "not base64"},
		"nothing":            {"mediaType": extract.PDF, "body": ""},
		"another media type": {"mediaType": "image/png", "body": "AAAA"},
		"no Office file":     {"mediaType": extract.DOCX, "body": "AAAA"},
		"empty text":         {"mediaType": extract.RST, "body": ""},
		"too large a text":   {"mediaType": extract.RST, "body": base64.StdEncoding.EncodeToString(make([]byte, extract.MaxRST+1))},
	} {
		body["collectionId"], body["uri"], body["title"] = f.wiki, "https://wiki.test/x", "X"
		var problem struct{ Code string }
		f.do("PUT", "/documents", body, 400, &problem)
		if problem.Code != "invalid-request" {
			t.Errorf("%s: %+v", name, problem)
		}
	}
	var all []fileBody
	if f.do("GET", "/documents", nil, 200, &all); len(all) != 0 {
		t.Errorf("stored: %+v", all)
	}
}

// TestTheOriginalOfAFileIsDownloaded by who may read the document, under a name that is safe to save.
func TestTheOriginalOfAFileIsDownloaded(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	const file = "%PDF-1.7\nTo roll back a deployment, run the undo command.\n\x00\xff"
	d := f.put("https://wiki.test/a/Hand%22book%0A.pdf", extract.PDF, []byte(file))
	get := func(id, key string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", "/v1/documents/"+id+"/original", nil)
		r.Header.Set("Authorization", "Bearer "+key)
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		f.handler.ServeHTTP(w, r)
		return w
	}
	w := get(d.ID, f.key)
	if w.Code != 200 || w.Body.String() != file {
		t.Errorf("%d %q", w.Code, w.Body)
	}
	for name, want := range map[string]string{"Content-Type": extract.PDF, "Content-Disposition": "attachment; filename=Hand_book_.pdf", "X-Content-Type-Options": "nosniff"} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if again := get(d.ID, f.key, "If-None-Match", w.Header().Get("ETag")); again.Code != 304 || again.Body.Len() != 0 {
		t.Errorf("not modified: %d", again.Code)
	}
	var text struct{ ID string }
	f.do("PUT", "/documents", map[string]any{"collectionId": f.wiki, "uri": "https://wiki.test/text", "title": "Text", "body": "Text."}, 200, &text)
	other, ada, err := f.local.Teams.CreateTeam(t.Context(), "rival", "ada@rival.test")
	if err != nil {
		t.Fatal(err)
	}
	_, stranger, err := f.local.Teams.CreateKey(t.Context(), other.ID, team.NewKey{Kind: team.KindPersonal, Name: "ada", UserID: ada.ID})
	if err != nil {
		t.Fatal(err)
	}
	for name, w := range map[string]*httptest.ResponseRecorder{"a text": get(text.ID, f.key), "nothing": get("0190d2a0-0000-7000-8000-000000000001", f.key), "another team's": get(d.ID, stranger)} {
		if w.Code != 404 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if w := get(d.ID, f.person("grace@acme.test")); w.Code != 200 {
		t.Errorf("by who may read it: %d", w.Code)
	}
	f.do("PUT", "/documents", map[string]any{"collectionId": f.wiki, "uri": "https://wiki.test/a/Hand%22book%0A.pdf", "title": "Handbook", "mediaType": extract.PDF,
		"body": base64.StdEncoding.EncodeToString([]byte(file)), "access": map[string]any{"users": []string{}, "groups": []string{}}}, 200, nil)
	if w := get(d.ID, f.person("alan@acme.test")); w.Code != 404 {
		t.Errorf("by who may not read it: %d", w.Code)
	}
}
