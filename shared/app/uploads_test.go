package app_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"docent/shared/app"
	"docent/shared/extract"
	"docent/shared/logtest"
	"docent/shared/team"
)

// uploadBody is the reply to a request for an upload.
type uploadBody struct {
	ID, UploadURL, Method, ExpiresAt string
	Headers                          map[string]string
}

func (f *filed) upload(body map[string]any) (u uploadBody) {
	f.t.Helper()
	f.do("POST", "/uploads", body, 201, &u)
	return u
}

// send sends a file to the address of an upload, without a key.
func (f *filed) send(u uploadBody, file io.Reader, change func(r *http.Request)) *httptest.ResponseRecorder {
	f.t.Helper()
	r := httptest.NewRequest(u.Method, u.UploadURL, file)
	for name, value := range u.Headers {
		r.Header.Set(name, value)
	}
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	return w
}

func TestALargeFileIsPutByAnAddress(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	file := []byte("%PDF-The canteen opens at noon.\n" + strings.Repeat("x", 12<<20))
	u := f.upload(map[string]any{"mediaType": extract.PDF, "size": len(file)})
	put := map[string]any{"collectionId": f.wiki, "uri": "https://wiki.test/large.pdf", "title": "Large", "upload": u.ID}
	f.do("PUT", "/documents", put, 409, nil)
	if w := f.send(u, bytes.NewReader(file), nil); w.Code != 204 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if w := f.send(u, bytes.NewReader(file), nil); w.Code != 409 {
		t.Errorf("a second time: %d %s", w.Code, w.Body)
	}
	var d, again fileBody
	f.do("PUT", "/documents", put, 200, &d)
	f.do("PUT", "/documents", put, 200, &again)
	f.do("GET", "/documents/"+d.ID, nil, 200, &d)
	if d.MediaType != extract.PDF || d.Size != int64(len(file)) || d.Indexing.State != "extracting" || again.ID != d.ID {
		t.Errorf("%+v, %s", d, again.ID)
	}
	for method, want := range map[string][]byte{"GET": file, "HEAD": nil} {
		r := httptest.NewRequest(method, "/v1/documents/"+d.ID+"/original", nil)
		r.Header.Set("Authorization", "Bearer "+f.key)
		w := httptest.NewRecorder()
		f.handler.ServeHTTP(w, r)
		if w.Code != 200 || !bytes.Equal(w.Body.Bytes(), want) || w.Header().Get("Content-Type") != extract.PDF || w.Header().Get("ETag") == "" {
			t.Errorf("%s of the original: %d, %d bytes, %v", method, w.Code, w.Body.Len(), w.Header())
		}
	}
	if w := f.send(u, bytes.NewReader(file), nil); w.Code != 404 {
		t.Errorf("after it is used: %d %s", w.Code, w.Body)
	}
	if err := f.local.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestWhatAnAddressRefuses(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	const file = "%PDF-a file"
	digest := sha256.Sum256([]byte(file))
	for name, c := range map[string]struct {
		file   string
		change func(r *http.Request)
		status int
	}{
		"larger":                   {file + "x", nil, 413},
		"larger, not announced":    {file + "x", func(r *http.Request) { r.ContentLength = -1 }, 413},
		"smaller":                  {file[1:], nil, 400},
		"smaller, not announced":   {file[1:], func(r *http.Request) { r.ContentLength = -1 }, 400},
		"less than announced":      {file[1:], func(r *http.Request) { r.ContentLength = int64(len(file)) }, 400},
		"damaged":                  {"%PDF-a fake", nil, 400},
		"compressed":               {file, func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }, 415},
		"two codings":              {file, func(r *http.Request) { r.Header.Set("Content-Encoding", "identity, gzip") }, 415},
		"another media type":       {file, func(r *http.Request) { r.Header.Set("Content-Type", "text/html") }, 415},
		"a part":                   {file, func(r *http.Request) { r.Header.Set("Content-Range", "bytes 0-9/10") }, 400},
		"no media type":            {file, func(r *http.Request) { r.Header.Del("Content-Type") }, 415},
		"a guessed secret":         {file, func(r *http.Request) { change(r, "secret", strings.Repeat("A", 52)) }, 404},
		"no secret":                {file, func(r *http.Request) { r.URL.RawQuery = "" }, 404},
		"another team":             {file, func(r *http.Request) { change(r, "team", "7e5b2ba2-3d7a-4b6e-9f60-6c1f0a5d9b11") }, 404},
		"a path for an id":         {file, func(r *http.Request) { r.URL.Path = "/v1/uploads/..%2fx" }, 404},
		"another method":           {file, func(r *http.Request) { r.Method = "POST" }, 405},
		"reading":                  {"", func(r *http.Request) { r.Method = "GET" }, 405},
		"a key instead of secret":  {file, func(r *http.Request) { r.URL.RawQuery = ""; r.Header.Set("Authorization", "Bearer "+f.key) }, 404},
		"a secret with two values": {file, func(r *http.Request) { r.URL.RawQuery = "secret=x&" + r.URL.RawQuery }, 404},
	} {
		t.Run(name, func(t *testing.T) {
			f := *f
			f.t = t
			u := f.upload(map[string]any{"mediaType": extract.PDF, "size": len(file), "sha256": hex.EncodeToString(digest[:])})
			w := f.send(u, strings.NewReader(c.file), c.change)
			if w.Code != c.status {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			// What was refused took nothing: the file can still be sent, and makes room for the next upload.
			if w := f.send(u, strings.NewReader(file), nil); w.Code != 204 {
				t.Errorf("then the file: %d %s", w.Code, w.Body)
			}
			f.do("PUT", "/documents", map[string]any{"collectionId": f.wiki, "uri": "https://wiki.test/" + url.PathEscape(name), "title": name, "upload": u.ID}, 200, nil)
		})
	}
}

func change(r *http.Request, name, value string) {
	q := r.URL.Query()
	q.Set(name, value)
	r.URL.RawQuery = q.Encode()
}

func TestOneOfManySendersWins(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	u := f.upload(map[string]any{"mediaType": extract.PDF, "size": 200_005})
	var wait sync.WaitGroup
	var mu sync.Mutex
	won := ""
	for _, letter := range []string{"a", "b", "c", "d", "e", "f"} {
		wait.Go(func() {
			file := "%PDF-" + strings.Repeat(letter, 200_000)
			w := f.send(u, strings.NewReader(file), nil)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case w.Code == 409:
			case w.Code != 204 || won != "":
				t.Errorf("%s: %d %s", letter, w.Code, w.Body)
			default:
				won = file
			}
		})
	}
	wait.Wait()
	var d fileBody
	f.do("PUT", "/documents", map[string]any{"collectionId": f.wiki, "uri": "https://wiki.test/one", "title": "One", "upload": u.ID}, 200, &d)
	r := httptest.NewRequest("GET", "/v1/documents/"+d.ID+"/original", nil)
	r.Header.Set("Authorization", "Bearer "+f.key)
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	if w.Body.String() != won {
		t.Errorf("stored %d bytes, won %d", w.Body.Len(), len(won))
	}
}

func TestUploadsAreOfTheirTeamAndNeedTheRight(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	u := f.upload(map[string]any{"mediaType": extract.PDF, "size": 5})
	if w := f.send(u, strings.NewReader("%PDF-"), nil); w.Code != 204 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	own, wiki := f.key, f.wiki
	rival, _, err := f.local.Teams.CreateTeam(t.Context(), "rival", "admin@rival.test")
	if err != nil {
		t.Fatal(err)
	}
	if _, f.key, err = f.local.Teams.CreateKey(t.Context(), rival.ID, team.NewKey{Kind: team.KindTeam, Name: "team"}); err != nil {
		t.Fatal(err)
	}
	var made struct{ ID string }
	f.do("POST", "/collections", map[string]any{"name": "theirs", "description": "d"}, 201, &made)
	f.do("PUT", "/documents", map[string]any{"collectionId": made.ID, "uri": "https://x.test/", "title": "t", "upload": u.ID}, 400, nil)
	if _, f.key, err = f.local.Teams.CreateKey(t.Context(), f.team, team.NewKey{Kind: team.KindTeam, Name: "reads", Scopes: []team.Scope{team.ScopeRead}}); err != nil {
		t.Fatal(err)
	}
	f.do("POST", "/uploads", map[string]any{"mediaType": extract.PDF, "size": 5}, 403, nil)
	// Who may not write to a document cannot do so by an upload, and does not use it up.
	f.key = own
	f.do("PUT", "/documents", map[string]any{"collectionId": wiki, "uri": "https://x.test/secret", "title": "t", "body": "b", "access": map[string]any{"users": []string{}, "groups": []string{}}}, 200, nil)
	f.key = f.person("ada@acme.test")
	f.do("PUT", "/documents", map[string]any{"collectionId": wiki, "uri": "https://x.test/secret", "title": "t", "upload": u.ID}, 403, nil)
	f.do("PUT", "/documents", map[string]any{"collectionId": wiki, "uri": "https://x.test/hers", "title": "t", "upload": u.ID}, 200, nil)
	for _, bad := range []map[string]any{
		{"mediaType": "text/plain", "size": 5}, {"mediaType": extract.PDF}, {"mediaType": extract.PDF, "size": 0}, {"mediaType": extract.PDF, "size": 100<<20 + 1},
		{"mediaType": extract.PDF, "size": 5, "sha256": "abc"}, {"mediaType": extract.PDF, "size": 5, "sha256": strings.Repeat("x", 64)},
	} {
		f.do("POST", "/uploads", bad, 400, nil)
	}
	for _, bad := range []map[string]any{{}, {"body": "b", "upload": u.ID}, {"upload": "x"}} {
		bad["collectionId"], bad["uri"], bad["title"] = wiki, "https://x.test/bad", "t"
		f.do("PUT", "/documents", bad, 400, nil)
	}
}

// The address is a secret, and so is in no line of the log.
func TestAddressesAreNotLogged(t *testing.T) {
	t.Parallel()
	log := &logtest.Buffer{}
	f := &filed{t: t}
	var err error
	f.local, err = app.OpenLocal(t.Context(), t.TempDir(), app.LocalOptions{Log: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.local.Close() })
	f.handler = f.local.Handler("https://docent.test/v1")
	acme, _, err := f.local.Teams.CreateTeam(t.Context(), "acme", "admin@acme.test")
	if err != nil {
		t.Fatal(err)
	}
	if _, f.key, err = f.local.Teams.CreateKey(t.Context(), acme.ID, team.NewKey{Kind: team.KindTeam, Name: "team"}); err != nil {
		t.Fatal(err)
	}
	u := f.upload(map[string]any{"mediaType": extract.PDF, "size": 5})
	address, err := url.Parse(u.UploadURL)
	if err != nil || len(address.Query().Get("secret")) < 43 {
		t.Fatalf("%s, %v", u.UploadURL, err)
	}
	for _, file := range []io.Reader{strings.NewReader("%PDF-too long"), iotestTimeout{}, strings.NewReader("%PDF-"), strings.NewReader("%PDF-")} {
		f.send(u, file, nil)
	}
	if text := log.String(); strings.Contains(text, address.Query().Get("secret")) || !strings.Contains(text, "PUT /uploads/{uploadId}") {
		t.Errorf("log: %s", text)
	}
}

// iotestTimeout is a client that leaves.
type iotestTimeout struct{}

func (iotestTimeout) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// A file that was acknowledged is there when the process is gone, and one that was not is removed.
func TestAnUploadSurvivesTheProcess(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	open := func() (*app.Local, http.Handler) {
		l, err := app.OpenLocal(t.Context(), folder, app.LocalOptions{Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return l, l.Handler("https://docent.test/v1")
	}
	f := &filed{t: t}
	f.local, f.handler = open()
	acme, _, err := f.local.Teams.CreateTeam(t.Context(), "acme", "admin@acme.test")
	if err != nil {
		t.Fatal(err)
	}
	if _, f.key, err = f.local.Teams.CreateKey(t.Context(), acme.ID, team.NewKey{Kind: team.KindTeam, Name: "team"}); err != nil {
		t.Fatal(err)
	}
	var wiki struct{ ID string }
	f.do("POST", "/collections", map[string]any{"name": "wiki", "description": "d"}, 201, &wiki)
	whole, part := f.upload(map[string]any{"mediaType": extract.PDF, "size": 5}), f.upload(map[string]any{"mediaType": extract.PDF, "size": 500_000})
	if w := f.send(whole, strings.NewReader("%PDF-"), nil); w.Code != 204 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if w := f.send(part, io.MultiReader(strings.NewReader(strings.Repeat("x", 300_000)), iotestTimeout{}), nil); w.Code != 400 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if left, err := filepath.Glob(filepath.Join(folder, "*", "unfinished", "*")); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	if err := f.local.Close(); err != nil {
		t.Fatal(err)
	}
	f.local, f.handler = open()
	defer func() { _ = f.local.Close() }()
	put := map[string]any{"collectionId": wiki.ID, "uri": "https://x.test/", "title": "t", "upload": part.ID}
	f.do("PUT", "/documents", put, 409, nil)
	if w := f.send(part, strings.NewReader("%PDF-"+strings.Repeat("x", 499_995)), nil); w.Code != 204 {
		t.Errorf("the rest: %d %s", w.Code, w.Body)
	}
	f.do("PUT", "/documents", put, 200, nil)
	put["uri"], put["upload"] = "https://y.test/", whole.ID
	f.do("PUT", "/documents", put, 200, nil)
}

func TestTheOriginOfUploadsMatchesTheirAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ endpoint, bucket, want string }{
		{"", "docent-segments", "https://docent-segments.s3.eu-central-1.amazonaws.com"},
		{"http://127.0.0.1:4566", "docent-segments", "http://127.0.0.1:4566"},
	} {
		got, err := app.UploadOrigin(t.Context(), app.Config{AWSEndpoint: c.endpoint, Bucket: c.bucket, Region: "eu-central-1"})
		if err != nil || got != c.want {
			t.Errorf("%s, %v, want %s", got, err, c.want)
		}
	}
}
