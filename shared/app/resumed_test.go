package app_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/app"
	"docent/shared/clocktest"
	"docent/shared/source"
	"docent/shared/table"
	"docent/shared/table/bolt"
	"docent/shared/team"
)

// process is a process that can be restarted on the same data.
type process struct {
	t     *testing.T
	dir   string
	clock *clocktest.Clock
	log   bytes.Buffer
	local *app.Local
	team  string
	key   string
}

func startProcess(t *testing.T) *process {
	t.Helper()
	p := &process{t: t, dir: t.TempDir(), clock: clocktest.New(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))}
	p.open()
	t.Cleanup(func() {
		if err := p.local.Close(); err != nil {
			t.Error(err)
		}
	})
	made, admin, err := p.local.Teams.CreateTeam(t.Context(), "acme", "ada")
	if err != nil {
		t.Fatal(err)
	}
	p.team = made.ID
	if _, p.key, err = p.local.Teams.CreateKey(t.Context(), made.ID, team.NewKey{Kind: team.KindPersonal, Name: "ada", UserID: admin.ID}); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *process) open() {
	p.t.Helper()
	var err error
	p.local, err = app.OpenLocal(p.t.Context(), p.dir, app.LocalOptions{Log: slog.New(slog.NewTextHandler(&p.log, &slog.HandlerOptions{Level: slog.LevelWarn})), Now: p.clock.Now, NoSync: true,
		Parts: app.Parts{Connect: func(func() time.Time) map[source.ProviderName]source.Connection { return nil }}})
	if err != nil {
		p.t.Fatal(err)
	}
}

// restart ends the process, which loses its memory, and starts the next one.
func (p *process) restart() {
	p.t.Helper()
	if err := p.local.Close(); err != nil {
		p.t.Fatal(err)
	}
	p.open()
}

// waiting returns the messages of all queues, in order.
func (p *process) waiting() []string {
	p.t.Helper()
	work, err := p.local.Waiting(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	syncs, err := p.local.WaitingSyncs(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	work = append(work, syncs...)
	slices.Sort(work)
	return work
}

// do makes a request and returns the id that the reply names.
func (p *process) do(method, path, body string) string {
	p.t.Helper()
	r := httptest.NewRequestWithContext(p.t.Context(), method, "/v1"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+p.key)
	w := httptest.NewRecorder()
	p.local.Handler("https://docent.test/v1").ServeHTTP(w, r)
	var made struct{ ID string }
	if w.Code >= http.StatusBadRequest || w.Body.Len() > 0 && json.Unmarshal(w.Body.Bytes(), &made) != nil {
		p.t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
	return made.ID
}

// TestAProcessQueuesPendingWork makes every kind of work over HTTP and ends the process before
// any of it is done. The next process has the same messages in its queues at once, and so has
// the one after it.
func TestAProcessQueuesPendingWork(t *testing.T) {
	t.Parallel()
	p := startProcess(t)
	wiki := p.do("POST", "/collections", `{"name":"wiki","description":"d"}`)
	old := p.do("POST", "/collections", `{"name":"old","description":"d"}`)
	put := func(uri, body string) string {
		return p.do("PUT", "/documents", `{"collectionId":"`+wiki+`","uri":"https://wiki.test/`+uri+`","title":"T","body":"`+body+`"}`)
	}
	put("small", "A page.")
	put("large", strings.Repeat("A long page. ", 1000))
	put("replaced", "Before.")
	p.clock.Advance(time.Second)
	put("replaced", "After.")
	p.do("DELETE", "/documents/"+put("deleted", "Soon gone."), "")
	p.do("DELETE", "/collections/"+old, "")
	p.do("PUT", "/answers/0190d2a0-0000-7000-8000-000000000001", `{"question":"Why?"}`)
	p.do("DELETE", "/data-sources/"+p.do("POST", "/data-sources", `{"provider":"jira","name":"Tracker"}`), "")
	p.do("POST", "/data-sources", `{"provider":"github","name":"api","settings":{"repositories":["acme/api"]}}`)
	want := p.waiting()
	if len(want) != 11 {
		t.Fatalf("%d messages: %q", len(want), want)
	}
	for range 2 {
		p.restart()
		if got := p.waiting(); !slices.Equal(got, want) {
			t.Errorf("queued %q, want %q", got, want)
		}
	}
	p.restart()
	if err := p.local.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.restart()
	got := p.waiting() // without connectors nobody syncs, nor forgets what the deleted source has synced
	if len(got) != 2 || slices.ContainsFunc(got, func(m string) bool { return !strings.Contains(m, "sync-source") }) {
		t.Errorf("after the work is done: %q", got)
	}
	if p.log.Len() > 0 {
		t.Errorf("log: %s", &p.log)
	}
}

// TestWorkOfALongStopIsDone: work is not given up because of a time in which nothing ran.
func TestWorkOfALongStopIsDone(t *testing.T) {
	t.Parallel()
	p := startProcess(t)
	const path = "/answers/0190d2a0-0000-7000-8000-000000000001"
	p.do("PUT", path, `{"question":"Why?"}`)
	p.clock.Advance(30 * 24 * time.Hour)
	p.restart()
	if err := p.local.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1"+path, http.NoBody)
	r.Header.Set("Authorization", "Bearer "+p.key)
	w := httptest.NewRecorder()
	p.local.Handler("https://docent.test/v1").ServeHTTP(w, r)
	if !strings.Contains(w.Body.String(), `"state":"complete"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestQueuesOfEarlierVersionsAreRemoved: they kept messages in a table of the same file.
func TestQueuesOfEarlierVersionsAreRemoved(t *testing.T) {
	t.Parallel()
	p := startProcess(t)
	p.do("PUT", "/answers/0190d2a0-0000-7000-8000-000000000001", `{"question":"Why?"}`)
	want := p.waiting()
	// queues opens the file as the earlier version did and returns what is in the queue.
	queues := func(add ...table.Op) []table.Item {
		if err := p.local.Close(); err != nil {
			t.Fatal(err)
		}
		store, err := bolt.Open(filepath.Join(p.dir, "docent.db"), bolt.Options{Tables: append([]string{"queue"}, table.Names...), NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		page, err := store.Query(t.Context(), table.Query{Table: "queue", Partition: "questions/due"})
		if err == nil && len(add) > 0 {
			err = store.Write(t.Context(), add...)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		p.open()
		return page.Items
	}
	message := table.Item{Key: table.Key{Table: "queue", Partition: "questions/due", Sort: table.Padded(1) + "#id"}, Version: 1, Body: []byte(want[0])}
	dead := message
	dead.Partition, dead.Sort = "documents/dead", "id"
	queues(table.Put{Item: message}, table.Put{Item: dead})
	if got := p.waiting(); !slices.Equal(got, want) {
		t.Errorf("queued %q, want %q", got, want)
	}
	if got := queues(); len(got) != 0 {
		t.Errorf("the table is still there: %v", got)
	}
}
