package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/httpapi"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/rate"
	"docent/shared/search"
	"docent/shared/storedtest"
	"docent/shared/table"
	"docent/shared/team"
	"docent/shared/usage"
)

// The times of a fixture. The first events are out of retention when it is written.
var (
	storedFirst = time.Date(2025, 9, 5, 9, 0, 0, 0, time.UTC)
	storedMain  = time.Date(2026, 9, 7, 10, 0, 0, 0, time.UTC)
)

// filling makes a fixture: it fills a new installation with an example of every
// stored form.
type filling struct {
	*installation
	m      *storedtest.Manifest
	teamID string
	admin  string // whole keys
	key    string
	scim   string
}

// fill fills a new installation whose clock shows storedFirst.
func fill(t *testing.T, in *installation, m *storedtest.Manifest) *filling {
	t.Helper()
	f := &filling{installation: in, m: m}
	m.Callers, m.Signs, m.IDs = map[string]string{}, map[string]string{}, map[string]string{}
	f.beginEarly()
	in.clock.Set(storedMain)
	f.work()
	for _, part := range []func(){f.fillIdentities, f.fillCollections, f.fillDocuments, f.fillSources, f.fillAnswers, f.fillFeed, f.countMuch, f.failSomeWork, f.leaveSyncs, f.leaveRebuild, f.leaveWebhooks, f.leaveRates, f.leaveFile} {
		part()
		in.clock.Advance(5 * time.Minute)
	}
	return f
}

// leaveFile leaves a file whose text is not read yet.
func (f *filling) leaveFile() {
	f.t.Helper()
	f.must(200, f.key, "PUT", "/documents", map[string]any{"collectionId": f.m.IDs["archive"], "uri": "https://wiki.test/file.pdf", "title": "A file",
		"mediaType": "application/pdf", "body": "JVBERi0xLjcK"})
}

// leaveWebhooks leaves an endpoint with a delivery that has failed once, and an event that it has
// not been told.
func (f *filling) leaveWebhooks() {
	f.t.Helper()
	var hook struct{ ID string }
	decodeStored(f.t, f.must(201, f.admin, "POST", "/webhook-endpoints", map[string]any{"url": "https://hooks.test/", "eventTypes": []string{"collection.updated"}}), &hook)
	f.must(202, f.admin, "POST", "/webhook-endpoints/"+hook.ID+"/test", nil)
	f.drain("deliveries")
	f.must(200, f.key, "PATCH", "/collections/"+f.m.IDs["archive"], map[string]string{"description": "for hooks"})
}

// leaveRates makes a request of a limited key, as functions do.
func (f *filling) leaveRates() {
	f.t.Helper()
	_, id, _, _ := team.ParseKey(f.key)
	l := &rate.Limiter{PerSecond: 1, Now: f.now, Table: f.engines.table}
	if _, err := l.Take(f.teamID, id); err != nil {
		f.t.Fatal(err)
	}
	if err := l.Settle(f.t.Context(), f.teamID, id); err != nil {
		f.t.Fatal(err)
	}
}

// beginEarly makes the team and its first events, more than a year before the rest.
func (f *filling) beginEarly() {
	f.t.Helper()
	ctx := f.t.Context()
	acme, admin, err := f.teams.CreateTeam(ctx, "acme", "ada@acme.test")
	if err != nil {
		f.t.Fatal(err)
	}
	f.teamID = acme.ID
	f.m.IDs["team"], f.m.IDs["ada"] = acme.ID, admin.ID
	f.admin = f.operatorKey(acme.ID, "admin", team.NewKey{Kind: team.KindPersonal, Name: "ada", UserID: admin.ID})
	other, _, err := f.teams.CreateTeam(ctx, "umbrella", "eve@umbrella.test")
	if err != nil {
		f.t.Fatal(err)
	}
	f.operatorKey(other.ID, "stranger", team.NewKey{Kind: team.KindTeam, Name: "stranger"})
	f.m.IDs["archive"] = f.must(201, f.admin, "POST", "/collections", map[string]any{"name": "archive", "description": "What is old"}).id(f.t)
	f.cursor(f.m, "feed cursor past retention", "admin", "/security-events?limit=1")
}

const (
	coreUser       = "urn:ietf:params:scim:schemas:core:2.0:User"
	enterpriseUser = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
	coreGroup      = "urn:ietf:params:scim:schemas:core:2.0:Group"
	patchOp        = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
)

// storedUsers is how many users are in the large group, more than fit into the write
// of one group.
const storedUsers = 32

// cutStore is a store that fails from a chosen Write on: before that Write happens, or after it.
// Security events are still written, so that the feed has no open numbers.
type cutStore struct {
	table.Store
	at     func(table.Op) bool
	before bool

	mu   sync.Mutex
	dead bool
}

func (c *cutStore) Write(ctx context.Context, ops ...table.Op) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	hit, eventsOnly := false, true
	for _, op := range ops {
		hit = hit || c.at(op)
		eventsOnly = eventsOnly && table.KeyOf(op).Table == table.Events
	}
	if c.dead && !eventsOnly || hit && c.before {
		c.dead = true
		return fmt.Errorf("the power is off: %w", table.ErrUnavailable)
	}
	c.dead = c.dead || hit
	return c.Store.Write(ctx, ops...)
}

// cut makes a request to a process of the installation that stops at a Write.
func (in *installation) cut(at func(table.Op) bool, before bool, request func(http.Handler) storedReply) {
	in.t.Helper()
	store := &cutStore{Store: in.index.Table, at: at, before: before}
	b := in.base
	b.engines.table = store
	r := request(root(httpapi.New(newServices(b, Parts{}).surface(storedURL, 0, nil), httpapi.Areas()...)))
	if !store.dead {
		in.t.Fatalf("the power was not cut off: %d %s", r.status, r.body)
	}
}

func encodeStored(t *testing.T, value any) []byte {
	t.Helper()
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

func decodeStored(t *testing.T, r storedReply, into any) {
	t.Helper()
	if err := json.Unmarshal(r.body, into); err != nil {
		t.Fatalf("%d %q: %v", r.status, r.body, err)
	}
}

func (f *filling) fillCollections() {
	f.t.Helper()
	for _, name := range []string{"wiki", "guide", "emptied"} {
		f.m.IDs[name] = f.must(201, f.key, "POST", "/collections", map[string]any{"name": name, "description": "The " + name,
			"iconUrl": "https://icons.test/" + name + ".png"}).id(f.t)
	}
	f.must(204, f.key, "DELETE", "/collections/"+f.must(201, f.key, "POST", "/collections",
		map[string]any{"name": "gone", "description": "Deleted"}).id(f.t), nil)
}

// put puts a document and names it in the manifest.
func (in *installation) put(m *storedtest.Manifest, collection, page, title, body string) string {
	in.t.Helper()
	id := in.must(200, m.Callers["team"], "PUT", "/documents", storedDocument(m, collection, page, title, body)).id(in.t)
	m.IDs[page] = id
	return id
}

func storedDocument(m *storedtest.Manifest, collection, page, title, body string) map[string]string {
	return map[string]string{"collectionId": m.IDs[collection], "uri": "https://wiki.test/" + page, "title": title, "body": body}
}

// longBody returns a Markdown text of about that many bytes, the same one each time.
func longBody(word string, bytes int) string {
	var b strings.Builder
	b.WriteString("# " + word + "\n\n")
	for n := 0; b.Len() < bytes; n++ {
		fmt.Fprintf(&b, "## Part %d\n\n%s", n, strings.Repeat("The "+word+" stands in a long document, and every sentence of it is like the one before. ", 16)+"\n\n")
	}
	return b.String()
}

func (f *filling) fillDocuments() {
	f.t.Helper()
	f.put(f.m, "wiki", "runbook", "Runbook", "# Runbook\n\n## Rolling back\n\nTo roll back a deployment, run `deployctl undo`.\n")
	large := 3 << 20
	if f.m.Engine == storedtest.AWS {
		large = 64 << 10 // the protocol server copies everything that it holds with every transaction
	}
	f.put(f.m, "wiki", "large", "Large", longBody("pelican", large))
	f.put(f.m, "archive", "old", "Old", "The canteen served soup at noon in the old days.\n")
	f.must(200, f.key, "PUT", "/documents", map[string]any{"collectionId": f.m.IDs["archive"], "uri": "https://wiki.test/described", "title": "Described",
		"body": "The menu of today.\n", "metadata": map[string]any{"year": 2026, "season": "autumn", "dishes": []string{"soup"}, "vegan": true}})
	f.work()
	// Ten segments of one source become one of the next level, and clean-up follows.
	for n := range 10 {
		f.put(f.m, "guide", fmt.Sprintf("page%d", n), fmt.Sprintf("Page %d", n), fmt.Sprintf("# Page %d\n\nThe lighthouse number %d shines red.\n", n, n))
		f.work()
	}
	for _, body := range []string{longBody("heron", 12<<10), "The heron is a bird of few words.\n"} { // chunks, then none
		f.put(f.m, "guide", "heron", "Heron", body)
		f.work()
	}
	f.put(f.m, "wiki", "runbook", "Runbook", storedRunbook)
	f.put(f.m, "wiki", "deleted", "Deleted", "A zeppelin was here.\n")
	f.work()
	f.must(200, f.key, "PATCH", "/documents/"+f.m.IDs["deleted"], map[string]any{"access": map[string]any{"users": []string{"ada@acme.test"}}})
	f.work()
	f.must(204, f.key, "DELETE", "/documents/"+f.m.IDs["deleted"], nil)
	f.work()
	f.put(f.m, "wiki", "runbook", "Runbook", storedRunbook) // changes nothing
}

const storedRunbook = "# Runbook\n\n## Rolling back\n\nTo roll back a deployment, run `deployctl undo` twice.\n"

// leaveRebuild leaves the rebuild of a part of the index to be made.
func (f *filling) leaveRebuild() {
	f.t.Helper()
	asked, err := f.index.AskRebuild(f.t.Context(), f.teamID, f.m.IDs["wiki"], search.Documentation)
	if err != nil || !asked {
		f.t.Fatalf("asked: %t, %v", asked, err)
	}
}

// drain does the work of one queue.
func (in *installation) drain(name string) {
	in.t.Helper()
	h := map[string]queue.Handler{"documents": in.indexing.Batch, "questions": in.answering.Batch, "embeddings": in.embeds(0, nil), "deliveries": in.delivering.Batch}[name]
	for done := 1; done > 0; {
		var err error
		if done, err = drainOnce(in.t.Context(), in.queues[name], h, queue.MaxBatch); err != nil {
			in.t.Fatal(err)
		}
	}
}

// ask asks a question and names it in the manifest.
func (in *installation) ask(m *storedtest.Manifest, caller, name, question string) {
	in.t.Helper()
	id := uuid.Must(uuid.NewV7()).String()
	m.IDs[name] = id
	in.must(204, m.Callers[caller], "PUT", "/answers/"+id, map[string]any{"question": question})
}

const (
	storedQuestion  = "How do I roll back a deployment?"
	storedReference = "https://wiki.test/runbook"
)

func (f *filling) fillAnswers() {
	f.t.Helper()
	f.ask(f.m, "member", "answered", storedQuestion)
	f.ask(f.m, "team", "unanswerable", "Which colour has the xylophone of the zoo director?")
	f.ask(f.m, "restricted", "restricted answer", "When did the canteen serve soup?")
	f.ask(f.m, "team", "erased", storedQuestion)
	f.drain("questions")
	f.must(204, f.key, "DELETE", "/answers/"+f.m.IDs["erased"], nil)
	for _, path := range []string{"/context/search", "/context/search/documentation"} {
		f.must(200, f.m.Callers["member"], "POST", path, map[string]any{"query": "lighthouse"})
	}
}

// fillFeed keeps cursors of the feed.
func (f *filling) fillFeed() {
	f.t.Helper()
	f.cursor(f.m, "feed continued", "admin", "/security-events?limit=5&since="+storedMain.Format(time.RFC3339))
	f.cursor(f.m, "feed of one type continued", "admin", "/security-events?limit=2&eventType=scim.user.created&since="+storedMain.Format(time.RFC3339))
	f.cursor(f.m, "feed of a span continued", "admin", "/security-events?limit=5&since="+storedMain.Format(time.RFC3339)+"&until="+storedMain.Add(time.Minute).Format(time.RFC3339))
}

// countMuch counts so much of a day that the day's round orders it by user.
func (f *filling) countMuch() {
	f.t.Helper()
	_, key, _, _ := team.ParseKey(f.admin)
	for hour := range 10 {
		for _, feature := range usage.Features {
			for _, client := range []string{usage.ClientAPI, usage.ClientCLI} {
				if _, err := f.usage.Count(f.t.Context(), f.teamID, usage.Call{At: storedMain.Truncate(24 * time.Hour).Add(time.Duration(hour) * time.Hour),
					Feature: feature, KeyID: key, UserID: f.m.IDs["ada"], Client: client, Numbers: map[string]int64{usage.OK: 1}}); err != nil {
					f.t.Fatal(err)
				}
			}
		}
	}
}

// failSomeWork lets work wait until it is given up, and runs the day's round.
func (f *filling) failSomeWork() {
	f.t.Helper()
	f.ask(f.m, "team", "failed", "Will this question be answered in time?")
	f.put(f.m, "wiki", "unindexed", "Unindexed", "A walrus that nobody indexed in time.\n")
	const pause = 5 * time.Minute // after a longer pause, patience counts from the start
	for range indexPatience/pause + 2 {
		f.clock.Advance(pause)
		if err := f.sweep(f.t.Context()); err != nil {
			f.t.Fatal(err)
		}
	}
	for _, name := range storedQueues[:3] {
		f.drain(name) // messages of the work that was given up
	}
	f.clock.Advance(25 * time.Hour)
	if err := f.sweep(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// storedSweeps is how often work is sent again before a fixture is written: it is not
// sent once more before the fixture is opened, as little as the blobs of a segment
// that is gone are removed before.
const storedSweeps = 5

// leaveWork leaves work of every kind unfinished, some of it sent again a moment ago. It
// may be repeated.
func (in *installation) leaveWork(m *storedtest.Manifest) {
	in.t.Helper()
	in.clock.Set(in.clock.Now().Truncate(time.Hour).Add(80 * time.Minute))
	key, mark := m.Callers["team"], storedMark(in.clock.Now())
	dropped := in.must(201, key, "POST", "/collections", map[string]any{"name": "dropped " + mark, "description": "Its segment is still there"}).id(in.t)
	m.IDs["dropped"] = dropped
	in.put(m, "dropped", "lost", "Lost", "The emu was in a collection that is gone.\n")
	in.drain("documents")
	in.must(204, key, "DELETE", "/collections/"+dropped, nil)
	in.drain("documents")
	in.put(m, "wiki", "swept", "Swept", "The gorilla was sent again and again, "+mark+".\n")
	for n := range storedSweeps {
		in.clock.Advance(pending.Grace<<n + time.Second)
		if err := in.sweep(in.t.Context()); err != nil {
			in.t.Fatal(err)
		}
	}
	in.put(m, "wiki", "waiting", "Waiting", "The wombat waits to be indexed, "+mark+".\n")
	in.put(m, "guide", "replaced", "Replaced", longBody("capybara", 8<<10))
	in.put(m, "guide", "replaced", "Replaced", "The capybara was replaced, "+mark+".\n")
	in.must(204, key, "DELETE", "/documents/"+in.put(m, "guide", "removed", "Removed", "The narwhal was removed.\n"), nil)
	m.IDs["emptied"] = in.must(201, key, "POST", "/collections", map[string]any{"name": "emptied " + mark, "description": "Deleted with its documents"}).id(in.t)
	in.put(m, "emptied", "within", "Within", "The quetzal was in a collection that is gone.\n")
	in.must(204, key, "DELETE", "/collections/"+m.IDs["emptied"], nil)
	// The process stops between the chunks of a body and its record.
	in.cut(func(op table.Op) bool { return table.KeyOf(op).Sort == "record" }, true, func(h http.Handler) storedReply {
		return in.doAt(h, key, "PUT", "/documents", encodeStored(in.t, storedDocument(m, "wiki", "cut", "Cut", longBody("ostrich "+mark, 8<<10))), nil)
	})
	in.ask(m, "member", "processing", storedQuestion)
	m.IDs["repeat"] = "stored-forms-" + mark
	m.IDs["repeated"] = in.must(201, key, "POST", "/collections", storedRepeated(mark), "Idempotency-Key", m.IDs["repeat"]).id(in.t)
	in.must(401, m.Callers["revoked"], "GET", "/collections", nil)
	in.must(403, m.Callers["restricted"], "GET", "/collections/"+m.IDs["wiki"], nil)
	if m.Engine == storedtest.Serve {
		in.leaveDeliveries()
	}
}

// leaveDeliveries leaves a message that failed permanently and one that was delivered and
// is not done, which on AWS are in SQS alone.
func (in *installation) leaveDeliveries() {
	in.t.Helper()
	for range queue.MaxReceives {
		batch, err := in.queues["questions"].Receive(in.t.Context(), 1, 0)
		if err != nil || len(batch) != 1 {
			in.t.Fatalf("received %d messages, %v", len(batch), err)
		}
		if err := in.queues["questions"].Retry(in.t.Context(), 0, batch...); err != nil {
			in.t.Fatal(err)
		}
	}
	for _, name := range storedQueues[:3] {
		if _, err := in.queues[name].Receive(in.t.Context(), 1, 0); err != nil {
			in.t.Fatal(err)
		}
	}
}
