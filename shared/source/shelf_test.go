package source_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/app/faulttest"
	"docent/shared/clocktest"
	"docent/shared/collection"
	"docent/shared/document"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/queue/local"
	"docent/shared/search"
	"docent/shared/source"
	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
)

// shelf is a provider of parts with items, three per page.
type shelf struct {
	mu      sync.Mutex
	parts   map[string][]string     // uris by part
	asked   []string                // calls so far: "part index" for a page, a uri for IsDeleted
	at      map[string]func() error // called once, by "part index"
	changed map[string][]string     // uris of changes, by part
	removed map[string][]string
	exact   bool
	hide    map[string]bool             // uris that exist but are not listed
	unsaid  map[string]bool             // uris of which IsDeleted fails
	during  func(first bool)            // called with each page of a reading; nil: nothing
	ask     func(context.Context) error // called by IsDeleted; nil: nothing
	lost    bool                        // the next checkpoint is answered with ErrFullScanNeeded
	notice  *source.SyncError           // on every page of part a
	token   string                      // that it was last read with
	before  []string                    // Access.Before of each reading of part a
	labels  map[string]string           // by uri
	edited  time.Time                   // when all items were changed; zero: unknown
	made    func(*source.Item)          // changes each item that is read; nil: nothing
}

func newShelf() *shelf {
	return &shelf{parts: map[string][]string{"a": uris("a", 7), "b": uris("b", 4)}, at: map[string]func() error{},
		changed: map[string][]string{}, removed: map[string][]string{}, hide: map[string]bool{}}
}

func uris(part string, n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("https://shelf.test/%s/%d", part, i+1))
	}
	return out
}

const shelfPage = 3

// Parts returns the parts that the settings list, or all.
func (p *shelf) Parts(s source.Settings) []string {
	if list := s.List("parts"); list != nil {
		return list
	}
	return slices.Sorted(maps.Keys(p.parts))
}

func (p *shelf) PartContains(s source.Settings, part, uri string) bool {
	return strings.HasPrefix(uri, "https://"+cmp.Or(s.Text("host"), "shelf.test")+"/"+part+"/")
}

func (p *shelf) IsDeleted(ctx context.Context, _ source.Access, part, uri string) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, uri)
	if p.ask != nil {
		if err := p.ask(ctx); err != nil {
			return false, err
		}
	}
	if p.unsaid[uri] {
		return false, &source.SyncError{Code: source.Unreadable, Detail: "Broken."}
	}
	return !slices.Contains(p.parts[part], uri), nil
}

type shelfCheckpoint struct {
	Next int
	Done bool
}

// page returns the page at a checkpoint and the next checkpoint.
func (p *shelf) page(part string, at shelfCheckpoint) (source.SyncPage, shelfCheckpoint, error) {
	page, next := p.read(part, at)
	p.mu.Lock()
	from := at.Next
	if at.Done {
		from = 0
	}
	name := fmt.Sprintf("%s %d", part, from)
	fail := p.at[name]
	delete(p.at, name)
	p.mu.Unlock()
	if fail != nil {
		return page, next, fail()
	}
	return page, next, nil
}

func (p *shelf) read(part string, at shelfCheckpoint) (source.SyncPage, shelfCheckpoint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	for _, uri := range p.parts[part] {
		if !p.hide[uri] {
			all = append(all, uri)
		}
	}
	page := source.SyncPage{}
	if part == "a" {
		page.Notice = p.notice
	}
	if at.Done {
		all, page.Removed = p.changed[part], p.removed[part]
		at.Next = 0
	}
	end := min(at.Next+shelfPage, len(all))
	p.asked = append(p.asked, fmt.Sprintf("%s %d", part, at.Next))
	for _, uri := range all[min(at.Next, end):end] {
		i := source.Item{URI: uri, Title: uri, Body: "Text of " + uri + ".", SourceType: "documentation", UpdatedAt: p.edited}
		if label, ok := p.labels[uri]; ok {
			i.Labels = []string{label}
		}
		if p.made != nil {
			p.made(&i)
		}
		page.Items = append(page.Items, i)
	}
	next := shelfCheckpoint{Next: end, Done: end == len(all)}
	page.Last, page.Exact = next.Done, p.exact && next.Done
	page.Checkpoint, _ = json.Marshal(next)
	return page, next
}

func (p *shelf) Read(_ context.Context, a source.Access, part string, checkpoint []byte) iter.Seq2[source.SyncPage, error] {
	return func(yield func(source.SyncPage, error) bool) {
		p.mu.Lock()
		p.token = a.Secrets["token"]
		p.mu.Unlock()
		if part == "a" {
			p.before = append(p.before, string(a.Before))
		}
		var at shelfCheckpoint
		if checkpoint != nil && json.Unmarshal(checkpoint, &at) != nil {
			panic("an invalid checkpoint")
		}
		if p.lost && checkpoint != nil {
			p.lost = false
			yield(source.SyncPage{}, source.ErrFullScanNeeded)
			return
		}
		for first := true; ; first = false {
			if p.during != nil {
				p.during(first)
			}
			page, next, err := p.page(part, at)
			if err != nil {
				yield(source.SyncPage{}, err)
				return
			}
			if !yield(page, nil) || next.Done {
				return
			}
			at = next
		}
	}
}

// library is a Syncer on a temporary file with one source of the shelf.
type library struct {
	t      *testing.T
	shelf  *shelf
	plan   *faulttest.Plan
	store  table.Store
	due    *local.Queue
	syncer *source.Syncer
	sweep  *pending.Sweeper
	team   string
	id     string
	clock  *clocktest.Clock
}

func newLibrary(t *testing.T, p *shelf) *library {
	t.Helper()
	l := &library{t: t, shelf: p, plan: &faulttest.Plan{}, team: uuid.NewString(), clock: clocktest.New(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))}
	l.store = bolttest.OpenAt(t, l.clock.Now)
	store := faulttest.Table{Store: l.store, Plan: l.plan}
	queues := local.Options{Visibility: 5 * time.Minute, Now: l.clock.Now}
	documents := local.New(queues)
	l.due = local.New(queues)
	warn := func(pending.Work, error) {}
	newID := func() string { return uuid.Must(uuid.NewV7()).String() }
	collections := &collection.Service{Table: store, Work: documents, Now: l.clock.Now, NewID: newID, Warn: warn}
	sealer, err := source.NewSealer(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	s := &source.Service{Providers: []source.Provider{{Name: "shelf", Opener: p, Settings: []source.Setting{
		{Name: "parts", Kind: source.List, Parts: true}, {Name: "host"}, {Name: "token", Kind: source.Secret}}}}, Table: store, Collections: collections, Work: documents, Syncs: l.due, Now: l.clock.Now, NewID: newID,
		Seal: sealer.Seal, Open: sealer.Open, Warn: warn, Resolve: unresolved,
		Documents: &document.Service{Table: store, Work: documents, Now: l.clock.Now, Random: func() uint16 { return 0 }, Warn: warn,
			SourceKey: collection.Key, Connected: collection.IsConnected, Sources: collections.Sources, Collections: collections.Defaults, DefaultAccess: collection.DefaultAccess}}
	l.syncer = &source.Syncer{Service: s, Log: slog.New(slog.DiscardHandler), Connections: map[source.ProviderName]source.Connection{
		"shelf": {Connector: p, SyncEvery: 15 * time.Minute, FullScanEvery: 24 * time.Hour}}}
	l.sweep = &pending.Sweeper{Table: l.store, Queues: map[string]queue.Queue{table.Collections: l.due}, Now: l.clock.Now,
		Patience: func(pending.Kind) time.Duration { return 0 }}
	d, _, err := s.Create(t.Context(), l.team, source.DataSource{Provider: "shelf", Name: "shelf",
		Settings: source.Settings{}}, source.Secrets{})
	if err != nil {
		t.Fatal(err)
	}
	l.id = d.ID
	return l
}

// sync syncs until it is finished and returns its error.
func (l *library) sync() error {
	_, err := l.syncer.Sync(l.t.Context(), l.team, l.id, nil)
	return err
}

func (l *library) mustSync() {
	l.t.Helper()
	if err := l.sync(); err != nil {
		l.t.Fatalf("sync: %v", err)
	}
}

// items returns the sorted uris of the stored items, shortened.
func (l *library) items() []string {
	l.t.Helper()
	out := []string{}
	for e, err := range l.syncer.Documents.Items(l.t.Context(), l.team, l.id, search.Documentation, true) {
		if err != nil {
			l.t.Fatal(err)
		}
		out = append(out, strings.TrimPrefix(e.URI, "https://shelf.test/"))
	}
	slices.Sort(out)
	return out
}

func (l *library) wantItems(want ...string) {
	l.t.Helper()
	if got := l.items(); !slices.Equal(got, want) {
		l.t.Errorf("stored %v, want %v", got, want)
	}
}

// shown returns the source as List shows it.
func (l *library) shown() source.DataSource {
	l.t.Helper()
	list, err := l.syncer.List(l.t.Context(), l.team, table.Window{Limit: 10}, func(string) bool { return true })
	if err != nil || len(list.Entries) != 1 {
		l.t.Fatalf("list: %v %v", list, err)
	}
	return list.Entries[0].Value
}

func code(d source.DataSource) string {
	if d.LastError == nil {
		return ""
	}
	return d.LastError.Code
}

// work handles one batch of the queue and returns its size.
func (l *library) work() int {
	l.t.Helper()
	batch, err := l.due.Receive(l.t.Context(), queue.MaxBatch, 0)
	if err != nil {
		l.t.Fatal(err)
	}
	if failed := l.syncer.Batch(l.t.Context(), batch); len(failed) > 0 {
		l.t.Errorf("failed: %v", failed)
	}
	if len(batch) > 0 {
		if err := l.due.Done(l.t.Context(), batch...); err != nil {
			l.t.Fatal(err)
		}
	}
	return len(batch)
}

// swept sweeps once and returns the number of messages sent.
func (l *library) swept() int {
	l.t.Helper()
	result, err := l.sweep.Sweep(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return result.Sent
}

// left returns the sort keys of the source's partition and of all pending work.
func (l *library) left() []string {
	l.t.Helper()
	var keys []string
	for _, partition := range append(pending.Partitions(table.Collections), l.team+"/source/"+l.id) {
		for item, err := range table.All(l.t.Context(), l.store, table.Query{Table: table.Collections, Partition: partition}) {
			if err != nil {
				l.t.Fatal(err)
			}
			keys = append(keys, cmp.Or(strings.TrimPrefix(item.Sort, " "), "?"))
		}
	}
	return keys
}

// unresolved resolves names in a team without people.
func unresolved(_ context.Context, _ string, names ...*access.Names) ([]*access.Rule, error) {
	rules := make([]*access.Rule, len(names))
	for i, n := range names {
		if n == nil {
			continue
		}
		rules[i] = &access.Rule{Users: []access.Entry{}, Groups: []access.Entry{}}
		for _, name := range n.Users {
			rules[i].Users = append(rules[i].Users, access.Entry{Name: name})
		}
		for _, name := range n.Groups {
			rules[i].Groups = append(rules[i].Groups, access.Entry{Name: name})
		}
	}
	return rules, nil
}
