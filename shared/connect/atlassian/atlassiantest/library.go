package atlassiantest

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/app/faulttest"
	"docent/shared/blob"
	"docent/shared/blob/dir"
	"docent/shared/clocktest"
	"docent/shared/collection"
	"docent/shared/document"
	"docent/shared/pending"
	"docent/shared/queue/local"
	"docent/shared/search"
	"docent/shared/source"
	"docent/shared/table/bolt/bolttest"
)

// Day is when the clocks of tests start.
var Day = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// Library is a team with one data source on a temporary file.
type Library struct {
	t      testing.TB
	syncer *source.Syncer
	Plan   *faulttest.Plan // of the calls of the store
	Clock  *clocktest.Clock
	Blobs  blob.Store // the original files
	team   string
	id     string
}

// NewLibrary connects a data source of p, which c reads.
func NewLibrary(t testing.TB, p source.Provider, c source.Connector, clock *clocktest.Clock, a source.Access) *Library {
	t.Helper()
	l := &Library{t: t, Plan: &faulttest.Plan{}, Clock: clock, team: uuid.NewString()}
	store := faulttest.Table{Store: bolttest.OpenAt(t, clock.Now), Plan: l.Plan}
	queues := local.Options{Visibility: 5 * time.Minute, Now: clock.Now}
	work := local.New(queues)
	warn := func(pending.Work, error) {}
	objects, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l.Blobs = objects
	newID := func() string { return uuid.Must(uuid.NewV7()).String() }
	collections := &collection.Service{Table: store, Work: work, Now: clock.Now, NewID: newID, Warn: warn}
	sealer, err := source.NewSealer(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	s := &source.Service{Providers: []source.Provider{p}, Table: store, Collections: collections, Work: work, Syncs: local.New(queues), Now: clock.Now,
		NewID: newID, Seal: sealer.Seal, Open: sealer.Open, Warn: warn, Resolve: unresolved,
		Documents: &document.Service{Table: store, Blobs: faulttest.Blob{Store: objects, Plan: l.Plan}, Work: work, Extractions: work, Now: clock.Now, Random: func() uint16 { return 0 }, Warn: warn, SourceKey: collection.Key,
			Connected: collection.IsConnected, Sources: collections.Sources, Collections: collections.Defaults, DefaultAccess: collection.DefaultAccess}}
	l.syncer = &source.Syncer{Service: s, Log: slog.New(slog.DiscardHandler), Connections: map[source.ProviderName]source.Connection{
		p.Name: {Connector: c, SyncEvery: p.SyncEvery, FullScanEvery: p.FullScanEvery}}}
	d, _, err := s.Create(t.Context(), l.team, source.DataSource{Provider: p.Name, Name: "test", Settings: a.Settings}, a.Secrets)
	if err != nil {
		t.Fatal(err)
	}
	l.id = d.ID
	return l
}

// Sync syncs the source until its end.
func (l *Library) Sync() (source.Progress, error) {
	return l.syncer.Sync(l.t.Context(), l.team, l.id, nil)
}

// MustSync is Sync and fails the test on an error.
func (l *Library) MustSync() source.Progress {
	l.t.Helper()
	p, err := l.Sync()
	if err != nil {
		l.t.Fatalf("sync: %v", err)
	}
	return p
}

// Recover syncs until a sync after a failure succeeds, as the schedule does.
func (l *Library) Recover() {
	l.t.Helper()
	for range 5 {
		l.Clock.Advance(20 * time.Minute)
		_, err := l.Sync()
		if err == nil && l.Shown().LastError == nil {
			return
		}
		var held *source.LeaseHeldError
		if err != nil && !errors.As(err, &held) {
			l.t.Logf("a sync: %v", err)
		}
	}
	l.t.Errorf("the source does not recover: %+v", l.Shown().LastError)
}

// Items returns the stored items of both kinds with their bodies, by uri.
func (l *Library) Items() map[string]document.Found {
	l.t.Helper()
	out := map[string]document.Found{}
	for _, space := range []search.Space{search.Documentation, search.Issues} {
		for e, err := range l.syncer.Documents.Items(l.t.Context(), l.team, l.id, space, true) {
			if err != nil {
				l.t.Fatal(err)
			}
			found, err := l.syncer.Documents.Find(l.t.Context(), l.team, []string{e.ID}, true)
			if err != nil {
				l.t.Fatal(err)
			}
			out[e.URI] = found[e.ID]
		}
	}
	return out
}

// Shown returns the source as the API lists it.
func (l *Library) Shown() source.DataSource {
	l.t.Helper()
	d, err := l.syncer.Update(l.t.Context(), l.team, l.id, source.Change{})
	if err != nil {
		l.t.Fatal(err)
	}
	return d
}

// unresolved resolves names in a team without people.
func unresolved(_ context.Context, _ string, names ...*access.Names) ([]*access.Rule, error) {
	entries := func(all []string) []access.Entry {
		out := make([]access.Entry, len(all))
		for i, name := range all {
			out[i].Name = name
		}
		return out
	}
	rules := make([]*access.Rule, len(names))
	for i, n := range names {
		if n != nil {
			rules[i] = &access.Rule{Users: entries(n.Users), Groups: entries(n.Groups)}
		}
	}
	return rules, nil
}
