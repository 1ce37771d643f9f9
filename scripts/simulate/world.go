package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"docent/shared/app"
	"docent/shared/deployed"
	"docent/shared/pause"
	"docent/shared/queue"
	"docent/shared/table"
	"docent/shared/team"
)

// Specs are the functions that the simulation runs, with the memory and the timeout of the stack; a test compares them with
// its template.
var Specs = map[string]Spec{
	"admin":       {Name: "admin", Memory: 512, Timeout: 28 * time.Second},
	"answering":   {Name: "answering", Memory: 1024, Timeout: 120 * time.Second},
	"answers":     {Name: "answers", Memory: 1024, Timeout: 28 * time.Second},
	"collections": {Name: "collections", Memory: 512, Timeout: 28 * time.Second},
	"context":     {Name: "context", Memory: 1024, Timeout: 28 * time.Second},
	"documents":   {Name: "documents", Memory: 1024, Timeout: 28 * time.Second},
	"indexing":    {Name: "indexing", Memory: 1024, Timeout: 120 * time.Second},
	"sweeping":    {Name: "sweeping", Memory: 512, Timeout: 50 * time.Second},
	"syncing":     {Name: "syncing", Memory: 512, Timeout: 540 * time.Second},
}

// The queues, by the name that is their address in the configuration, and the timeout of the worker of each.
var queueWorkers = map[string]time.Duration{
	"questions": 120 * time.Second, "documents": 120 * time.Second, "syncs": 540 * time.Second, "rebuilds": 120 * time.Second,
	"deliveries": 60 * time.Second, "extractions": 360 * time.Second,
}

// visibilityOf times a worker's timeout is how long the stack hides a message.
const visibilityOf = 6

// WorldOptions are the changes of a scenario to an installation.
type WorldOptions struct {
	Seed     uint64
	Unfair   bool           // queues do not look at groups
	TeamRate int            // requests a second of a team; 0: not bounded
	Workers  int            // batches of each queue at a time; 0: 10, as the stack has
	Reserved map[string]int // concurrency reserved for functions
	Parts    app.Parts      // of the functions that have parts
	Rate     int            // requests a second that the gateway accepts; 0: 500, as the stack has
}

// World is an installation of Docent on AWS.
type World struct {
	Table   *Table
	Objects *Objects
	Queues  map[string]*Queue
	Account *Account
	APIs    map[string]*Function[http.Handler]
	Workers map[string]*Function[Worker]
	Sweeper *Function[app.Schedule]
	Config  app.Config
	Dead    []queue.Message

	o       WorldOptions
	chance  *Chance
	mu      sync.Mutex
	gateway *bucket
}

// gatewayBurst is how many seconds of its rate the stack's gateway accepts at once.
const gatewayBurst = 2 * time.Second

// NewWorld returns an empty installation. Until Begin, no call takes time, so that a scenario can fill it.
func NewWorld(o WorldOptions) *World {
	if o.Workers == 0 {
		o.Workers = 10
	}
	if o.Rate == 0 {
		o.Rate = 500
	}
	chance := &Chance{}
	w := &World{Table: NewTable(chance, time.Now), Objects: NewObjects(chance), Account: NewAccount(), Queues: map[string]*Queue{},
		APIs: map[string]*Function[http.Handler]{}, Workers: map[string]*Function[Worker]{}, o: o, chance: chance,
		gateway: newBucket(float64(o.Rate), gatewayBurst, time.Now())}
	engines := app.Engines{Table: w.Table, Blobs: w.Objects, Queues: map[string]queue.Queue{}}
	for name, timeout := range queueWorkers {
		q := NewQueue(chance, QueueOptions{Visibility: visibilityOf * timeout, Unfair: o.Unfair, Dead: func(m queue.Message) { w.Dead = append(w.Dead, m) }})
		w.Queues[name], engines.Queues[name] = q, q
	}
	w.Config = app.Config{Engines: &engines, QuestionsQueue: "questions", DocumentsQueue: "documents", SyncsQueue: "syncs", RebuildsQueue: "rebuilds",
		DeliveriesQueue: "deliveries", ExtractionsQueue: "extractions", BaseURL: "https://docent.test/v1", LogLevel: slog.LevelError + 1, TeamRate: o.TeamRate}
	w.functions()
	return w
}

func (w *World) functions() {
	spec := func(name string) Spec {
		s := Specs[name]
		s.Reserved = w.o.Reserved[name]
		return s
	}
	for name, start := range map[string]func() http.Handler{
		"collections": func() http.Handler { return app.Collections(w.Config) },
		"documents":   func() http.Handler { return app.Documents(w.Config) },
		"answers":     func() http.Handler { return app.Answers(w.Config, w.o.Parts) },
		"context":     func() http.Handler { return app.Context(w.Config, w.o.Parts) },
		"admin":       func() http.Handler { return app.Admin(w.Config, w.o.Parts) },
	} {
		w.APIs[name] = NewFunction(spec(name), w.Account, w.chance, start)
	}
	for name, start := range map[string]func() app.Batches{
		"answering": func() app.Batches { return app.Answering(w.Config, w.o.Parts) },
		"indexing":  func() app.Batches { return app.Indexing(w.Config) },
		"syncing":   func() app.Batches { return app.Syncing(w.Config, w.o.Parts) },
	} {
		w.Workers[name] = NewFunction(spec(name), w.Account, w.chance, func() Worker { return Worker(start()) })
	}
	w.Sweeper = NewFunction(spec("sweeping"), w.Account, w.chance, func() app.Schedule { return app.Sweeping(w.Config) })
}

// Teams returns the teams, for filling the installation.
func (w *World) Teams() *team.Service { return app.TeamsOnAWS(w.Config, slog.New(slog.DiscardHandler)) }

// Begin makes every call take time from now on.
func (w *World) Begin() { w.chance.begin(w.o.Seed) }

// Work starts the workers of the queues. They end with ctx; the returned function waits for them.
func (w *World) Work(ctx context.Context) (wait func()) {
	var running sync.WaitGroup
	for _, s := range []Source{
		{Queue: w.Queues["questions"], Function: w.Workers["answering"], Batch: 1, Most: w.o.Workers, Compute: questionCompute},
		{Queue: w.Queues["documents"], Function: w.Workers["indexing"], Batch: queue.MaxBatch, Most: w.o.Workers, Compute: documentCompute},
		{Queue: w.Queues["syncs"], Function: w.Workers["syncing"], Batch: 1, Most: w.o.Workers, Compute: requestCompute},
		{Queue: w.Queues["rebuilds"], Function: w.Workers["indexing"], Batch: 1, Most: 2, Compute: documentCompute},
	} {
		running.Go(func() { s.Run(ctx) })
	}
	return running.Wait
}

// Request sends a request of a key's owner through the gateway and returns the status and the reply.
func (w *World) Request(ctx context.Context, key, method, path string, body any) (int, []byte) {
	w.mu.Lock()
	accepted := w.gateway.admits(time.Now())
	if accepted {
		w.gateway.level--
	}
	w.mu.Unlock()
	if !accepted {
		return http.StatusTooManyRequests, nil
	}
	if err := w.chance.take(ctx, gatewayLatency); err != nil {
		return 0, nil
	}
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			panic(err) // scenarios send what can be encoded
		}
	}
	var status int
	var reply []byte
	err := w.APIs[deployed.FunctionOf(path).Name].Invoke(ctx, requestCompute, func(ctx context.Context, h http.Handler) {
		r := httptest.NewRequestWithContext(ctx, method, path, bytes.NewReader(text))
		r.Header.Set("Authorization", "Bearer "+key)
		if body != nil {
			r.Header.Set("Content-Type", "application/json")
		}
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, r)
		status, reply = recorder.Code, recorder.Body.Bytes()
	})
	if errors.Is(err, ErrTooMany) {
		return http.StatusTooManyRequests, nil // as the gateway replies then
	}
	return status, reply
}

// eventOf returns the event of a batch.
func eventOf(batch []queue.Message) events.SQSEvent {
	var e events.SQSEvent
	for _, m := range batch {
		e.Records = append(e.Records, events.SQSMessage{MessageId: m.ID, ReceiptHandle: m.Receipt, Body: string(m.Body),
			Attributes: map[string]string{"ApproximateReceiveCount": strconv.Itoa(m.Receives)}})
	}
	return e
}

// pendingOf returns the kind and the id of the work whose pending item is under k, empty for other items.
func pendingOf(k table.Key) (kindAndID string) {
	if !strings.HasPrefix(k.Partition, "pending/") {
		return ""
	}
	parts := strings.Split(k.Sort, "#")
	if len(parts) != 4 {
		return ""
	}
	return parts[1] + "#" + parts[2]
}

// Ended returns a channel that is closed in the Write that finishes the work of that kind on id.
func (t *Table) Ended(kind, id string) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	ended := make(chan struct{})
	if t.waiters == nil {
		t.waiters = map[string]chan struct{}{}
	}
	t.waiters[kind+"#"+id] = ended
	return ended
}

// removed wakes those that wait for the work whose pending item was under k. The caller holds the lock.
func (t *Table) removed(k table.Key) {
	work := pendingOf(k)
	if ended := t.waiters[work]; ended != nil && work != "" {
		close(ended)
		delete(t.waiters, work)
	}
}

// call is Request, of which status is wanted and out, which may be nil, gets the reply.
func (w *World) call(ctx context.Context, key, method, path string, body any, status int, out any) error {
	got, reply := w.Request(ctx, key, method, path, body)
	for got == http.StatusTooManyRequests {
		if err := pause.For(ctx, time.Second); err != nil {
			return err
		}
		got, reply = w.Request(ctx, key, method, path, body)
	}
	if got != status {
		return fmt.Errorf("%s %s: status %d, want %d: %.300s", method, path, got, status, reply)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(reply, out)
}
