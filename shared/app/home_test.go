package app

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"docent/shared/app/faulttest"
	"docent/shared/app/parts/agents"
	"docent/shared/app/parts/identity"
	"docent/shared/app/parts/saml"
	"docent/shared/blob"
	"docent/shared/blob/dir"
	"docent/shared/clocktest"
	"docent/shared/embed"
	"docent/shared/embed/embedtest"
	"docent/shared/httpapi"
	"docent/shared/queue"
	"docent/shared/queue/local"
	"docent/shared/table/bolt"
	"docent/shared/table/bolt/bolttest"
	"docent/shared/team"
)

// home is the whole product in one process. Its storage, object and queue calls fail by plan, and
// the test moves its clock.
type home struct {
	t         *testing.T
	plan      *faulttest.Plan
	store     *bolt.Store // without faults
	blobs     blob.Store  // without faults
	asked     *local.Queue
	changed   *local.Queue
	embedded  *local.Queue
	services  *services
	handler   http.Handler
	clock     *clocktest.Clock
	team      team.Team
	key       string
	questions faulttest.Queue
	documents faulttest.Queue
	vectors   faulttest.Queue
	dead      []string          // bodies of the dead letters of both queues
	prepared  map[string]string // collections by name
}

// newHome opens a home. Each change may change its base and parts first.
func newHome(t *testing.T, change ...func(*home, *base, *Parts)) *home {
	t.Helper()
	h := &home{t: t, plan: &faulttest.Plan{}, prepared: map[string]string{}, clock: clocktest.New(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))}
	h.store = bolttest.OpenAt(t, h.clock.Now)
	blobs, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h.blobs = blobs
	h.asked, h.changed, h.embedded = h.queue(), h.queue(), h.queue()
	h.questions = faulttest.Queue{Queue: h.asked, Plan: h.plan}
	h.documents = faulttest.Queue{Queue: h.changed, Plan: h.plan}
	h.vectors = faulttest.Queue{Queue: h.embedded, Plan: h.plan}
	e := engines{table: faulttest.Table{Store: h.store, Plan: h.plan}, blobs: faulttest.Blob{Store: blobs, Plan: h.plan},
		questions: h.questions, documents: h.documents, embeddings: h.vectors}
	b := base{engines: e, log: slog.New(slog.DiscardHandler), now: h.clock.Now, wait: func(context.Context) error { return errStopping }}
	p := Parts{Tools: agents.Tools, ParseSAML: saml.Parse, SignOn: identity.Providers(),
		Embedder: faulttest.Embedder{Engine: embedtest.New(embed.Model{Name: "words", Size: 384}), Plan: h.plan}}
	for _, apply := range change {
		apply(h, &b, &p)
	}
	h.services = newServices(b, p)
	h.handler = root(httpapi.New(h.services.surface("https://docent.test/v1", 0, nil), httpapi.Areas()...))
	var admin team.User
	if h.team, admin, err = h.services.teams.CreateTeam(t.Context(), "acme", "ada"); err != nil {
		t.Fatal(err)
	}
	if _, h.key, err = h.services.teams.CreateKey(t.Context(), h.team.ID, team.NewKey{Kind: team.KindPersonal, Name: "ada", UserID: admin.ID}); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *home) queue() *local.Queue {
	return local.New(local.Options{Visibility: visibility, Now: h.clock.Now, Dead: func(m queue.Message) { h.dead = append(h.dead, string(m.Body)) }})
}

// reply is the reply that a client got.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func (r reply) text(t *testing.T, name string) string {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal(r.body, &members); err != nil {
		t.Fatalf("%d %q: %v", r.status, r.body, err)
	}
	text, _ := members[name].(string)
	return text
}

func (h *home) do(method, path string, body any, header ...string) reply {
	h.t.Helper()
	var content io.Reader = http.NoBody
	if raw, ok := body.([]byte); ok {
		content = bytes.NewReader(raw)
	} else if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			h.t.Fatal(err)
		}
		content = bytes.NewReader(encoded)
	}
	r := httptest.NewRequestWithContext(h.t.Context(), method, "/v1"+path, content)
	r.Header.Set("Authorization", "Bearer "+h.key)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	return reply{w.Code, w.Header(), w.Body.Bytes()}
}

func (h *home) must(status int, method, path string, body any, header ...string) reply {
	h.t.Helper()
	r := h.do(method, path, body, header...)
	if r.status != status {
		h.t.Fatalf("%s %s: %d, want %d: %s", method, path, r.status, status, r.body)
	}
	return r
}

// work lets the workers do what is waiting. A worker whose queue fails stops
// and starts again, as the real loop does.
func (h *home) work() {
	h.t.Helper()
	for faults := 0; faults < 20; {
		indexed, err := drainOnce(h.t.Context(), h.documents, h.services.indexing.Batch, 10)
		embedded, err1 := drainOnce(h.t.Context(), h.vectors, h.services.embeds(0, nil), 10)
		answered, err2 := drainOnce(h.t.Context(), h.questions, h.services.answering.Batch, 1)
		if err != nil || err1 != nil || err2 != nil {
			faults++
			continue
		}
		if indexed+embedded+answered == 0 {
			return
		}
	}
	h.t.Fatal("the work does not end")
}

// repair does unfinished work as time, the queue and the sweeper would.
func (h *home) repair() {
	h.t.Helper()
	for range 3 {
		h.clock.Advance(visibility + time.Minute)
		if _, err := h.services.sweeper.Sweep(h.t.Context()); err != nil {
			h.t.Fatal(err)
		}
		h.work()
	}
	h.clock.Advance(26 * time.Hour) // blobs without a record are kept for a day, clean-ups for an hour
	if _, err := h.services.index.Clean(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

func largeBody(word string) string {
	return "# Large\n\n" + strings.Repeat(word+" stands in a long document with many words of its own. ", 200)
}
