package document_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/blob/dir"
	"docent/shared/clocktest"
	"docent/shared/collection"
	"docent/shared/document"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/queue/queuetest"
	"docent/shared/search"
	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
)

var everyone = document.Anyone()

var errDown = errors.New("down")

// fixture is a service over one store, with a queue that keeps what was sent, two
// collections and a connected source.
type fixture struct {
	*document.Service
	t                  *testing.T
	clock              *clocktest.Clock
	collections        *collection.Service
	sent               *queuetest.Sent
	warns              []pending.Work
	wiki, guide, issue string // the ids of the sources
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	h := &fixture{t: t, clock: clocktest.New(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)), sent: &queuetest.Sent{}, issue: uuid.NewString()}
	store := bolttest.OpenAt(t, h.clock.Now)
	warn := func(w pending.Work, _ error) { h.warns = append(h.warns, w) }
	h.collections = &collection.Service{Table: store, Work: h.sent, Now: h.clock.Now, NewID: uuid.NewString, Warn: warn}
	blobs, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h.Service = &document.Service{Table: store, Blobs: blobs, Work: h.sent, Extractions: h.sent, Now: h.clock.Now, Random: func() uint16 { return 0 }, NewID: uuid.NewString, Warn: warn,
		SourceKey: collection.Key, Connected: collection.IsConnected, Sources: h.collections.Sources, Collections: h.collections.Defaults, DefaultAccess: collection.DefaultAccess}
	h.wiki, h.guide = h.collect(teamID, "wiki"), h.collect(teamID, "guide")
	connected := table.Item{Key: collection.Key(teamID, h.issue), Version: 1, Strings: map[string]string{collection.ProviderField: "tracker"}}
	if err := store.Write(t.Context(), table.Put{Item: connected}); err != nil {
		t.Fatal(err)
	}
	return h
}

// collect creates a collection and returns its id.
func (h *fixture) collect(team, name string) string {
	h.t.Helper()
	c, err := h.collections.Create(h.t.Context(), team, collection.Fields{Name: name, Description: name}, nil, collection.IdempotencyKey{})
	if err != nil {
		h.t.Fatal(err)
	}
	return c.ID
}

func anyVersion(int64) error { return nil }

// only is the Who of a key that is restricted to sources.
func only(sources ...string) document.Who {
	return document.Who{Reader: access.Everything(), Sources: append([]string{}, sources...)}
}

func wikiURI(name string) string { return "https://docs.example/" + name }

// text returns what puts a document into the wiki.
func (h *fixture) text(name, body string) document.Input {
	return document.Input{Fields: document.Fields{CollectionID: h.wiki, Title: name, URI: wikiURI(name)}, Body: body,
		Match: anyVersion, Who: everyone, RequestID: "r1"}
}

// item returns what puts an item that its provider changed at that time.
func (h *fixture) item(name, body string, changed time.Time) document.Input {
	in := h.text(name, body)
	in.CollectionID, in.Facts = h.issue, &document.Facts{Space: search.Issues, Changed: changed}
	return in
}

// put puts a document or an item and returns its id and version.
func (h *fixture) put(in document.Input) (string, int64) {
	h.t.Helper()
	id, version, err := h.Put(h.t.Context(), teamID, in)
	if err != nil {
		h.t.Fatalf("put %s: %v", in.URI, err)
	}
	return id, version
}

// read returns a document or an item.
func (h *fixture) read(id string) document.Document {
	h.t.Helper()
	d, err := h.Read(h.t.Context(), teamID, id, everyone)
	if err != nil {
		h.t.Fatalf("read %s: %v", id, err)
	}
	return d
}

// listed returns the titles of a list, in its order.
func (h *fixture) listed(f document.Filter, w table.Window) (titles string, list table.Slice[document.Entry]) {
	h.t.Helper()
	if !f.Who.Reader.All() && f.Who.Reader.UserID() == "" {
		f.Who = everyone
	}
	list, err := h.List(h.t.Context(), teamID, f, w)
	if err != nil {
		h.t.Fatalf("list: %v", err)
	}
	var all []string
	for _, e := range list.Entries {
		all = append(all, e.Value.Title)
	}
	return strings.Join(all, " "), list
}

// message returns the work of a message, counted from the first one sent.
func (h *fixture) message(n int) pending.Work {
	h.t.Helper()
	w, err := pending.Decode(h.sent.Bodies[n])
	if err != nil {
		h.t.Fatal(err)
	}
	return w
}

// pending returns the kinds of the work that would be sent again.
func (h *fixture) pending() (kinds string, all []pending.Work) {
	h.t.Helper()
	for _, partition := range pending.Partitions(table.Documents) {
		q := table.Query{Table: table.Documents, Partition: partition}
		for item, err := range table.All(h.t.Context(), h.Table, q) {
			if err != nil {
				h.t.Fatal(err)
			}
			w, err := pending.Decode(item.Body)
			if err != nil {
				h.t.Fatal(err)
			}
			all, kinds = append(all, w), strings.TrimSpace(kinds+" "+string(w.Kind))
		}
	}
	return kinds, all
}

// chunks returns how many chunks of a version are stored.
func (h *fixture) chunks(id string, version int64) int {
	h.t.Helper()
	items, err := h.Table.BatchGet(h.t.Context(), document.ChunkKeys(teamID, id, version, 1000))
	if err != nil {
		h.t.Fatal(err)
	}
	return len(items)
}

// index keeps what a worker gives to search.
type index struct {
	table     table.Store
	published []search.Document
	embedded  []search.Document
	merges    int
	stale     map[string]int // passages by source
	dropped   []string
	err       error
}

func (x *index) Publish(ctx context.Context, _ string, docs []search.Document, done []table.Op) error {
	if x.err != nil {
		return x.err
	}
	err := x.table.Write(ctx, done...)
	if err == nil {
		x.published = append(x.published, docs...)
	}
	return err
}

func (x *index) PublishMeaning(ctx context.Context, _ string, docs []search.Document, done []table.Op) error {
	if x.err != nil {
		return x.err
	}
	err := x.table.Write(ctx, done...)
	if err == nil {
		x.embedded = append(x.embedded, docs...)
	}
	return err
}

func (x *index) Merge(context.Context, string) (int, error) { x.merges++; return 0, nil }

func (x *index) Stale(_ context.Context, _, source string, _ search.Space, passages int) error {
	x.stale[source] += passages
	return x.err
}

func (x *index) DropSource(_ context.Context, _, source string) error {
	x.dropped = append(x.dropped, source)
	return x.err
}

// worker returns a worker and its index.
func (h *fixture) worker() (*document.Worker, *index) {
	x := &index{table: h.Table, stale: map[string]int{}}
	return &document.Worker{Service: h.Service, Index: x, Log: slog.New(slog.DiscardHandler)}, x
}

// deliver gives the worker one message and reports whether it failed.
func (h *fixture) deliver(w *document.Worker, work pending.Work, receives int) bool {
	h.t.Helper()
	return len(w.Batch(h.t.Context(), []queue.Message{{ID: "m", Body: work.Message(), Receives: receives}})) > 0
}
