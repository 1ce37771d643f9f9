package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/blob/dir"
	"docent/shared/logtest"
	"docent/shared/queue"
	"docent/shared/queue/local"
	"docent/shared/table/bolt"
	"docent/shared/team"
)

var clockJumps = flag.Int("clock-jumps", 12, "how often TestTheClockMayJump lets the clock jump")

// writesPerJump is how many changes all writers make between two jumps of the clock.
const writesPerJump = 12

// jumpingClock runs, and jumps by an hour on command, forward and back.
type jumpingClock struct{ off, jumped atomic.Int64 }

// jumps are where the clock is in turn, compared with the right time.
var jumps = []time.Duration{time.Hour, 0, -time.Hour, time.Hour, -time.Hour, 0}

func (c *jumpingClock) Now() time.Time { return time.Now().Add(time.Duration(c.off.Load())).Round(0) }

func (c *jumpingClock) jump() {
	c.off.Store(int64(jumps[int(c.jumped.Add(1)-1)%len(jumps)]))
}

// jumping is a process whose clock jumps. Its queues have a clock of their own, as on AWS; in a single process theirs is monotonic.
type jumping struct {
	t          *testing.T
	clock      jumpingClock
	process    *process
	url, key   string
	collection string
	writes     atomic.Int64

	mu   sync.Mutex
	want map[string]int // events, by type and the id of the document
	ids  map[string]bool
}

func newJumping(t *testing.T) *jumping {
	t.Helper()
	j := &jumping{t: t, want: map[string]int{}, ids: map[string]bool{}}
	store, err := bolt.Open(filepath.Join(t.TempDir(), "db"), bolt.Options{Now: j.clock.Now, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	queues := map[string]queue.Queue{}
	for _, name := range []string{"questions", "documents", "syncs", "rebuilds", "embeddings", "deliveries", "extractions"} {
		queues[name] = local.New(local.Options{})
	}
	log := &logtest.Buffer{}
	j.process, err = openProcess(Config{Engines: &Engines{Table: store, Blobs: blobs, Queues: queues}, QuestionsQueue: "questions", DocumentsQueue: "documents",
		SyncsQueue: "syncs", RebuildsQueue: "rebuilds", EmbeddingsQueue: "embeddings", DeliveriesQueue: "deliveries", ExtractionsQueue: "extractions",
		BaseURL: storedURL, Now: j.clock.Now}, Parts{TeamRate: 2000}, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	j.process.work(ctx, &workers, workOptions{turn: j.process.tidy}, slog.New(slog.NewTextHandler(log, nil)))
	server := httptest.NewServer(j.process.Handler(storedURL))
	t.Cleanup(func() {
		server.Close()
		close(j.process.stopping)
		stop()
		workers.Wait()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("it logged: %.20000s", log)
		}
	})
	made, _, err := j.process.teams.CreateTeam(t.Context(), "acme", "ada")
	if err != nil {
		t.Fatal(err)
	}
	if _, j.key, err = j.process.teams.CreateKey(t.Context(), made.ID, team.NewKey{Kind: team.KindTeam, Name: "test"}); err != nil {
		t.Fatal(err)
	}
	j.url = server.URL + "/v1"
	var collection struct{ ID string }
	if err := j.call("POST", "/collections", map[string]string{"name": "wiki", "description": "d"}, 201, &collection); err != nil {
		t.Fatal(err)
	}
	j.collection = collection.ID
	return j
}

// call sends a request and reads the reply, which must have the status. It waits if the team's rate is exceeded, but never long.
func (j *jumping) call(method, path string, body any, status int, into any) error {
	for {
		encoded, err := json.Marshal(body)
		if err != nil {
			return err
		}
		r, err := http.NewRequestWithContext(j.t.Context(), method, j.url+path, bytes.NewReader(encoded))
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+j.key)
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(reply.Body)
		_ = reply.Body.Close()
		if err != nil {
			return err
		}
		if reply.StatusCode == http.StatusTooManyRequests {
			if again, err := strconv.Atoi(reply.Header.Get("Retry-After")); err != nil || again > 60 {
				return fmt.Errorf("%s %s: refused for %q s", method, path, reply.Header.Get("Retry-After"))
			}
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if reply.StatusCode != status {
			return fmt.Errorf("%s %s: %d, want %d: %.300s", method, path, reply.StatusCode, status, text)
		}
		if into == nil {
			return nil
		}
		return json.Unmarshal(text, into)
	}
}

// wrote counts a change, which has an event, and lets the clock jump after some.
func (j *jumping) wrote(event, id string) {
	j.mu.Lock()
	j.want[event+" "+id]++
	j.mu.Unlock()
	if j.writes.Add(1)%writesPerJump == 0 && int(j.clock.jumped.Load()) < *clockJumps {
		j.clock.jump()
	}
}

// writer puts, replaces and deletes documents of its own and asks questions until the clock has jumped as often as it shall.
func (j *jumping) writer(n int) (documents, questions []string, err error) {
	for i := 0; int(j.clock.jumped.Load()) < *clockJumps; i++ {
		uri := fmt.Sprintf("https://wiki.test/%d/%d", n, i)
		var put struct{ ID string }
		for version, event := range []string{"document.created", "document.replaced"} {
			if err := j.call("PUT", "/documents", map[string]string{"collectionId": j.collection, "uri": uri, "title": uri,
				"body": fmt.Sprintf("Page %d of %d has version %d.", i, n, version)}, 200, &put); err != nil {
				return nil, nil, err
			}
			j.wrote(event, put.ID)
		}
		j.mu.Lock()
		again := j.ids[put.ID]
		j.ids[put.ID] = true
		j.mu.Unlock()
		if again {
			return nil, nil, fmt.Errorf("two documents have the id %s", put.ID)
		}
		switch i % 3 {
		case 0:
			if err := j.call("DELETE", "/documents/"+put.ID, nil, 204, nil); err != nil {
				return nil, nil, err
			}
			j.wrote("document.deleted", put.ID)
			continue
		case 1:
			question := newID()
			if err := j.call("PUT", "/answers/"+question, map[string]string{"question": fmt.Sprintf("Which version has page %d?", i)}, 204, nil); err != nil {
				return nil, nil, err
			}
			questions = append(questions, question)
		}
		documents = append(documents, put.ID)
	}
	return documents, questions, nil
}

// lastPolls is how often collect polls after done is closed, 5 ms apart, before it gives up waiting for events. The feed holds back
// events above a number that a worker has claimed and not used yet.
const lastPolls = 6000

// collect polls the feed as a collector does, until done is closed and every event was read that is wanted. It returns an error if events
// are repeated or out of order.
func (j *jumping) collect(done <-chan struct{}) (got map[string]int, err error) {
	got = map[string]int{}
	last, cursor := "", ""
	for polls := 0; ; {
		select {
		case <-done:
			if polls++; polls > 1 {
				time.Sleep(5 * time.Millisecond)
			}
		default:
		}
		var page struct {
			Events []struct {
				ID, EventType string
				Targets       []struct{ ID string }
			}
			NextCursor string
			HasMore    bool
		}
		if err := j.call("GET", "/security-events?limit=7&after="+url.QueryEscape(cursor), nil, 200, &page); err != nil {
			return nil, err
		}
		for _, e := range page.Events {
			if e.ID <= last {
				return nil, fmt.Errorf("the event %s comes after %s", e.ID, last)
			}
			last = e.ID
			for _, target := range e.Targets {
				got[e.EventType+" "+target.ID]++
			}
		}
		if cursor = page.NextCursor; polls > 0 && !page.HasMore && (j.hasAll(got) || polls > lastPolls) {
			return got, nil
		}
	}
}

// hasAll reports whether got has every event that was wanted so often.
func (j *jumping) hasAll(got map[string]int) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for event, n := range j.want {
		if got[event] < n {
			return false
		}
	}
	return true
}

// TestTheClockMayJump lets the clock of a process that works jump by an hour, forward and back. Nothing that was acknowledged is lost or
// remains undone, no client is refused for long, and a collector gets each event once.
func TestTheClockMayJump(t *testing.T) {
	t.Parallel()
	j := newJumping(t)
	const writers = 4
	var all sync.WaitGroup
	documents, questions, errs := make([][]string, writers), make([][]string, writers), make([]error, writers)
	for n := range writers {
		all.Go(func() { documents[n], questions[n], errs[n] = j.writer(n) })
	}
	done, collected := make(chan struct{}), make(chan error, 1)
	var got map[string]int
	go func() {
		var err error
		got, err = j.collect(done)
		collected <- err
	}()
	all.Wait()
	close(done)
	if err := errors.Join(slices.Concat(errs, []error{<-collected})...); err != nil {
		t.Fatal(err)
	}
	for event, n := range j.want {
		if got[event] != n {
			t.Errorf("%s: %d events, want %d", event, got[event], n)
		}
	}
	settled := func(path, member, want string) {
		for {
			var reply map[string]any
			if err := j.call("GET", path, nil, 200, &reply); err != nil {
				t.Fatal(err)
			}
			state := reply
			if member != "" {
				state, _ = reply[member].(map[string]any)
			}
			switch state["state"] {
			case want:
				return
			case "failed":
				t.Fatalf("%s failed: %v", path, reply)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	for n := range writers {
		for _, id := range documents[n] {
			settled("/documents/"+id, "indexing", "indexed")
		}
		for _, id := range questions[n] {
			settled("/answers/"+id, "", "complete")
		}
	}
	t.Logf("%d jumps, %d changes, %d events collected", j.clock.jumped.Load(), j.writes.Load(), len(got))
}
