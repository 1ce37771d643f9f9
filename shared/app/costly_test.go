package app

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"docent/shared/answer"
	"docent/shared/blob/dir"
	"docent/shared/document"
	"docent/shared/embed"
	"docent/shared/embed/embedtest"
	"docent/shared/extract"
	"docent/shared/httpapi"
	"docent/shared/queue/local"
	"docent/shared/search/text"
	"docent/shared/table/bolt/bolttest"
	"docent/shared/team"
)

// Bodies for costs: the longest one that is stored in its record, and a typical long one.
var (
	short = prose(text.InlineBytes)
	long  = prose(6500)
)

// prose returns n bytes of prose that questionBody finds.
func prose(n int) string {
	const sentence = "The release manager approves each release of the product after the tests have passed. "
	return strings.Repeat(sentence, n/len(sentence)+1)[:n]
}

var questionBody = map[string]string{"question": "Who approves a release of the product?"}

// costs is a product whose calls are counted, with a team of ten collections.
type costs struct {
	t           testing.TB
	later       time.Duration // by which the services' clock is ahead
	pace        *pace
	services    *services
	handler     http.Handler
	asked       *local.Queue
	changed     *local.Queue
	published   *local.Queue // by their words: they wait for vectors
	team        team.Team
	teamKey     string
	personalKey string
	collections []string
	answered    string // an answered question
	onFinished  func() // called when the worker has finished a question; may be nil
}

// batchesPerSource leaves each source with fourteen segments: nine of a batch
// each, and five of ten batches merged.
const batchesPerSource = 59

// newCosts returns a product with a model, as most installations have, on the engines of a temporary
// file, wrapped by wrap and counted by p, with documents indexed in that many batches.
func newCosts(t testing.TB, batches int, p *pace, wrap func(engines, *pace) engines) *costs {
	t.Helper()
	c := &costs{t: t, pace: p}
	clock := func() time.Time { return time.Now().Add(c.later) }
	store := bolttest.OpenAt(t, time.Now)
	blobs, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []**local.Queue{&c.asked, &c.changed, &c.published} {
		*q = local.New(local.Options{Visibility: visibility})
	}
	link := func(_ context.Context, _, name, _, _ string) (string, error) { // signed without a call
		return "https://objects.test/" + name, nil
	}
	c.services = newServices(base{engines: wrap(engines{table: store, blobs: blobs, link: link, questions: c.asked, documents: c.changed, embeddings: c.published,
		extractions: local.New(local.Options{Visibility: visibility})}, p),
		log: slog.New(slog.DiscardHandler), now: clock, wait: func(context.Context) error { return errStopping },
		onFinished: func(context.Context, answer.Answer) {
			if c.onFinished != nil {
				c.onFinished()
			}
		}}, Parts{Embedder: embedtest.New(embed.Model{Name: "words", Size: 384})})
	c.handler = root(httpapi.New(c.services.surface("https://docent.test/v1", 0, nil), httpapi.Areas()...))
	c.fill(batches)
	return c
}

// fill creates the team, its keys, its collections and its documents: one per batch in each
// collection, and ten more.
func (c *costs) fill(batches int) {
	c.t.Helper()
	ctx := c.t.Context()
	var admin team.User
	var err error
	if c.team, admin, err = c.services.teams.CreateTeam(ctx, "acme", "ada"); err != nil {
		c.t.Fatal(err)
	}
	if _, c.teamKey, err = c.services.teams.CreateKey(ctx, c.team.ID, team.NewKey{Kind: team.KindTeam, Name: "team"}); err != nil {
		c.t.Fatal(err)
	}
	if _, c.personalKey, err = c.services.teams.CreateKey(ctx, c.team.ID,
		team.NewKey{Kind: team.KindPersonal, Name: "ada", UserID: admin.ID}); err != nil {
		c.t.Fatal(err)
	}
	for n := range 10 {
		var made struct{ ID string }
		reply := c.do(c.teamKey, "POST", "/collections", map[string]string{"name": fmt.Sprint("wiki ", n), "description": "Team wiki"}, 201)
		if err := json.Unmarshal(reply, &made); err != nil {
			c.t.Fatal(err)
		}
		c.collections = append(c.collections, made.ID)
	}
	for n := range batches {
		for at, id := range c.collections {
			d := c.document(fmt.Sprintf("fill/%d/%d", at, n), long)
			d["collectionId"] = id
			c.do(c.teamKey, "PUT", "/documents", d, 200)
		}
		c.work() // one batch, one segment in each source
	}
	for n := range 10 {
		c.do(c.teamKey, "PUT", "/documents", c.document(fmt.Sprint("page/", n), short), 200)
	}
	c.work()
	c.answered = "0190a7c4-7d2e-7c3b-9d7e-3b1f0a2c4d5e"
	c.do(c.teamKey, "PUT", "/answers/"+c.answered, questionBody, 204)
	c.work()
}

// work lets the workers do what is waiting.
func (c *costs) work() {
	c.t.Helper()
	for done := 1; done > 0; {
		indexed, err := drainOnce(c.t.Context(), c.changed, c.services.indexing.Batch, 10)
		if err != nil {
			c.t.Fatal(err)
		}
		answered, err := drainOnce(c.t.Context(), c.asked, c.services.answering.Batch, 1)
		if err != nil {
			c.t.Fatal(err)
		}
		embedded, err := drainOnce(c.t.Context(), c.published, c.services.embeds(time.Minute, nil), 10)
		if err != nil {
			c.t.Fatal(err)
		}
		done = indexed + answered + embedded
	}
}

func (c *costs) document(name, body string) map[string]string {
	return map[string]string{"collectionId": c.collections[0], "title": "About releases", "uri": uriOf(name), "body": body}
}

// fileDocument is document for a file of 3 KB.
func (c *costs) fileDocument(name string) map[string]string {
	d := c.document(name, base64.StdEncoding.EncodeToString([]byte("PK"+short)))
	d["mediaType"] = extract.DOCX
	return d
}

func uriOf(name string) string { return "https://docent.test/wiki/" + name }

func (c *costs) documentID(name string) string {
	c.t.Helper()
	id, err := document.ID(c.team.ID, uriOf(name))
	if err != nil {
		c.t.Fatal(err)
	}
	return id
}

// do sends a request and returns the body of its reply. One that shall not be modified is of a client that knows it.
func (c *costs) do(key, method, path string, body any, status int) []byte {
	c.t.Helper()
	var content io.Reader = http.NoBody
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			c.t.Fatal(err)
		}
		content = bytes.NewReader(encoded)
	}
	r := httptest.NewRequestWithContext(c.t.Context(), method, "/v1"+path, content)
	r.Header.Set("Authorization", "Bearer "+key)
	if status == http.StatusNotModified {
		r.Header.Set("If-None-Match", "*")
	}
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, r)
	if w.Code != status {
		c.t.Fatalf("%s %s: %d, want %d: %s", method, path, w.Code, status, w.Body)
	}
	return w.Body.Bytes()
}
