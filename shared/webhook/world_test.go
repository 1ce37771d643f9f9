package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/app/faulttest"
	"docent/shared/audit"
	"docent/shared/clocktest"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/queue/local"
	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
	"docent/shared/webhook"
)

const team, other = "team-1", "team-2"

// world is a worker over one store and one queue, with a receiver of posts.
type world struct {
	*webhook.Worker
	t       *testing.T
	clock   *clocktest.Clock
	store   table.Store
	plan    *faulttest.Plan
	queue   *local.Queue
	log     *audit.Log
	sweeper *pending.Sweeper

	mu      sync.Mutex
	posts   []post
	answer  func(r webhook.Request) webhook.Reply // nil: 204
	secrets map[string][]string                   // by URL, those that may sign
}

type post struct {
	url, id, kind string
	at            time.Time
	body          []byte
	signatures    int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, clock: clocktest.New(time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)), plan: &faulttest.Plan{}, secrets: map[string][]string{}}
	w.store = bolttest.OpenAt(t, w.clock.Now)
	w.start()
	return w
}

// start starts a process over the store, with an empty queue.
func (w *world) start() {
	w.queue = local.New(local.Options{Now: w.clock.Now})
	faulty, messages := faulttest.Table{Store: w.store, Plan: w.plan}, faulttest.Queue{Queue: w.queue, Plan: w.plan}
	outbox := &pending.Outbox{Queue: messages, Warn: func(pending.Work, error) {}}
	w.log = &audit.Log{Table: faulty, Now: w.clock.Now, Outbox: outbox}
	plain := func(_ context.Context, text []byte, about string) ([]byte, error) {
		return append([]byte(about+"|"), text...), nil
	}
	open := func(_ context.Context, text []byte, about string) ([]byte, error) {
		opened, ok := strings.CutPrefix(string(text), about+"|")
		if !ok {
			return nil, fmt.Errorf("sealed for another")
		}
		return []byte(opened), nil
	}
	service := &webhook.Service{Table: faulty, Events: w.log, Outbox: outbox, Now: w.clock.Now, NewID: func() string { return uuid.Must(uuid.NewV7()).String() },
		Seal: plain, Open: open, CheckURL: func(string) error { return nil }, BaseURL: "https://docent.test/v1"}
	w.Worker = &webhook.Worker{Service: service, Post: w.receive, Log: slog.New(slog.DiscardHandler)}
	w.sweeper = &pending.Sweeper{Table: w.store, Now: w.clock.Now, Queues: map[string]queue.Queue{table.Events: w.queue},
		Patience: func(pending.Kind) time.Duration { return 0 }}
}

// restart starts another process, which alone makes deliveries.
func (w *world) restart() {
	w.t.Helper()
	w.clock.Advance(10 * time.Millisecond)
	w.start()
	w.Alone = w.clock.Now()
	if _, err := w.sweeper.Resume(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// receive is the team's own server: it verifies the signature of each post.
func (w *world) receive(_ context.Context, r webhook.Request) webhook.Reply {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := post{url: r.URL, id: r.Header["Webhook-Id"], at: w.clock.Now(), body: r.Body}
	signed := r.Header["Webhook-Id"] + "." + r.Header["Webhook-Timestamp"] + "." + string(r.Body)
	for _, secret := range w.secrets[r.URL] {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			w.t.Error(err)
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(signed))
		if strings.Contains(r.Header["Webhook-Signature"], "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))) {
			p.signatures++
		}
	}
	var body struct{ Type string }
	if err := json.Unmarshal(r.Body, &body); err != nil || p.signatures == 0 {
		w.t.Errorf("post %s: %v, %d signatures", r.Body, err, p.signatures)
	}
	p.kind = body.Type
	w.posts = append(w.posts, p)
	if w.answer != nil {
		return w.answer(r)
	}
	return webhook.Reply{Status: 204}
}

// taken returns the posts since the last call.
func (w *world) taken() []post {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.posts
	w.posts = nil
	return out
}

// work handles messages until none is due.
func (w *world) work() {
	w.t.Helper()
	for range 1000 {
		batch, err := w.queue.Receive(w.t.Context(), queue.MaxBatch, 0)
		if err != nil {
			w.t.Fatal(err)
		}
		if len(batch) == 0 {
			return
		}
		failed := map[string]bool{}
		for _, id := range w.Batch(w.t.Context(), batch) {
			failed[id] = true
		}
		for _, m := range batch {
			if failed[m.ID] {
				err = w.queue.Retry(w.t.Context(), time.Second, m)
			} else {
				err = w.queue.Done(w.t.Context(), m)
			}
			if err != nil {
				w.t.Fatal(err)
			}
		}
	}
	w.t.Fatal("the messages do not end")
}

// pass lets time pass in steps, with a sweep after each minute.
func (w *world) pass(d, step time.Duration) {
	w.t.Helper()
	swept := w.clock.Now()
	for end := swept.Add(d); w.clock.Now().Before(end); {
		w.clock.Advance(step)
		if w.clock.Now().Sub(swept) >= time.Minute {
			swept = w.clock.Now()
			if _, err := w.sweeper.Sweep(w.t.Context()); err != nil {
				w.t.Fatal(err)
			}
		}
		w.work()
	}
}

// endpoint adds an endpoint of team.
func (w *world) endpoint(url string, types ...string) webhook.Endpoint {
	w.t.Helper()
	e, secret, err := w.Create(w.t.Context(), team, webhook.Fields{URL: url, EventTypes: types})
	if err != nil {
		w.t.Fatal(err)
	}
	w.secrets[url] = append(w.secrets[url], secret)
	return e
}

// happen records n security events of team.
func (w *world) happen(kind audit.Type, n int) {
	w.t.Helper()
	for i := range n {
		e := audit.Event{Type: kind, Targets: []audit.Target{{Type: audit.TargetAnswer, ID: fmt.Sprintf("q%d", i)}}}
		if err := w.log.Write(w.t.Context(), team, []audit.Event{e}); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) deliveries(id string) []webhook.Delivery {
	w.t.Helper()
	slice, err := w.Deliveries(w.t.Context(), team, id, table.Window{Limit: 200})
	if err != nil {
		w.t.Fatal(err)
	}
	var all []webhook.Delivery
	for _, e := range slice.Entries {
		all = append(all, e.Value)
	}
	return all
}

// pendingItems returns what is pending.
func (w *world) pendingItems() (n int) {
	w.t.Helper()
	for _, partition := range pending.Partitions(table.Events) {
		for _, err := range table.All(w.t.Context(), w.store, table.Query{Table: table.Events, Partition: partition}) {
			if err != nil {
				w.t.Fatal(err)
			}
			n++
		}
	}
	return n
}
