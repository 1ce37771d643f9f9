package collection_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/clocktest"
	"docent/shared/collection"
	"docent/shared/document"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/queue/queuetest"
	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
)

const acme = "0b3f1d3e-0000-4000-8000-000000000001"

// fixture is a service over one store, with a queue that keeps what was sent.
type fixture struct {
	*collection.Service
	t     *testing.T
	clock *clocktest.Clock
	sent  *queuetest.Sent
	warns []pending.Work
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	h := &fixture{t: t, clock: clocktest.New(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)), sent: &queuetest.Sent{}}
	h.Service = &collection.Service{Table: bolttest.OpenAt(t, h.clock.Now), Work: h.sent, Now: h.clock.Now, NewID: uuid.NewString,
		Warn: func(w pending.Work, _ error) { h.warns = append(h.warns, w) }}
	return h
}

func fields(name string) collection.Fields {
	return collection.Fields{Name: name, Description: "What is in " + name, IconURL: "https://docs.example/icon.png"}
}

var once = collection.IdempotencyKey{}

func (h *fixture) create(name string) collection.Collection {
	h.t.Helper()
	c, err := h.Create(h.t.Context(), acme, fields(name), nil, once)
	if err != nil {
		h.t.Fatalf("create %s: %v", name, err)
	}
	return c
}

func anything(string) bool   { return true }
func anyVersion(int64) error { return nil }

// names returns the names of the team's collections, newest first.
func (h *fixture) names() string {
	h.t.Helper()
	all, err := h.All(h.t.Context(), acme)
	if err != nil {
		h.t.Fatal(err)
	}
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
	}
	return strings.Join(names, " ")
}

func TestCreatingACollection(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	made := h.create("wiki")
	got, err := h.Get(t.Context(), acme, made.ID)
	if err != nil || got != made || got.Fields != fields("wiki") || !got.CreatedAt.Equal(h.clock.Now()) || got.Version != 1 {
		t.Errorf("stored %+v, made %+v: %v", got, made, err)
	}
	for _, c := range []struct{ name, team, id string }{
		{"another team", uuid.NewString(), made.ID}, {"an unknown id", acme, uuid.NewString()}, {"not an id", acme, "../x"},
	} {
		if _, err := h.Get(t.Context(), c.team, c.id); !apierr.IsCode(err, apierr.CodeNotFound) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	refused := fields("icon")
	refused.IconURL = "javascript:alert(1)"
	if _, err := h.Create(t.Context(), acme, refused, nil, once); !apierr.IsCode(err, apierr.CodeInvalidRequest) {
		t.Errorf("an icon that is no web address: %v", err)
	}
	if names := h.names(); names != "wiki" {
		t.Errorf("the team has %q", names)
	}
}

func TestRepeatedCreates(t *testing.T) {
	t.Parallel()
	key := collection.IdempotencyKey{APIKey: "key", Key: "again"}
	cases := []struct {
		name   string
		repeat collection.IdempotencyKey
		fields collection.Fields
		after  time.Duration
		want   string // of the second create: same, new, or a code
	}{
		{"with the same key", key, fields("wiki"), 0, "same"},
		{"with the same key, within a day", key, fields("wiki"), 24*time.Hour - time.Second, "same"},
		{"with the same key, after a day", key, fields("wiki"), 24 * time.Hour, "new"},
		{"without a key", once, fields("wiki"), 0, "new"},
		{"with another key", collection.IdempotencyKey{APIKey: "key", Key: "other"}, fields("wiki"), 0, "new"},
		{"with the same key of another API key", collection.IdempotencyKey{APIKey: "other", Key: "again"}, fields("wiki"), 0, "new"},
		{"with another name", key, fields("guide"), 0, apierr.CodeIdempotencyConflict},
		{"without the icon", key, collection.Fields{Name: "wiki", Description: fields("wiki").Description}, 0, apierr.CodeIdempotencyConflict},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			first, err := h.Create(t.Context(), acme, fields("wiki"), nil, key)
			if err != nil {
				t.Fatal(err)
			}
			h.clock.Advance(c.after)
			second, err := h.Create(t.Context(), acme, c.fields, nil, c.repeat)
			count := 1
			switch c.want {
			case "same":
				if err != nil || second.ID != first.ID || second.Fields != first.Fields || second.Version != 1 {
					t.Errorf("%+v, want %+v: %v", second, first, err)
				}
			case "new":
				count = 2
				if err != nil || second.ID == first.ID {
					t.Errorf("%+v after %+v: %v", second, first, err)
				}
			default:
				if !apierr.IsCode(err, c.want) {
					t.Errorf("error %v, want %s", err, c.want)
				}
			}
			if ids, err := h.Defaults(t.Context(), acme); err != nil || len(ids) != count {
				t.Errorf("the team has %d collections: %v", len(ids), err)
			}
		})
	}
}

func TestATeamHasALimitOfCollections(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	key := collection.IdempotencyKey{APIKey: "key", Key: "last"}
	for n := range collection.MaxPerTeam - 1 {
		h.create(fmt.Sprint(n))
	}
	last, err := h.Create(t.Context(), acme, fields("last"), nil, key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Create(t.Context(), acme, fields("one more"), nil, once); !apierr.IsCode(err, apierr.CodeCollectionLimit) {
		t.Fatalf("error %v", err)
	}
	if again, err := h.Create(t.Context(), acme, fields("last"), nil, key); err != nil || again.ID != last.ID {
		t.Errorf("a repeated create at the limit: %+v, %v", again, err)
	}
	if _, err := h.Create(t.Context(), "rival", fields("first"), nil, once); err != nil {
		t.Errorf("another team: %v", err)
	}
	for range 2 { // deleting it twice frees one slot
		if err := h.Delete(t.Context(), acme, last.ID, "", access.Everything(), anyVersion); err != nil {
			t.Fatal(err)
		}
	}
	h.create("next")
	if _, err := h.Create(t.Context(), acme, fields("one more"), nil, once); !apierr.IsCode(err, apierr.CodeCollectionLimit) {
		t.Errorf("after a deletion and a creation: %v", err)
	}
}

func TestUpdatingACollection(t *testing.T) {
	t.Parallel()
	rename := func(f *collection.Collection) { f.Name = "guide" }
	cases := []struct {
		name    string
		change  func(*collection.Collection)
		match   func(int64) error
		version int64
		code    string
	}{
		{"another name", rename, anyVersion, 2, ""},
		{"a default rule", func(f *collection.Collection) { f.DefaultAccess = &access.Rule{Users: []access.Entry{{Name: "ada"}}} }, anyVersion, 2, ""},
		{"no default rule, as before", func(f *collection.Collection) { f.DefaultAccess = nil }, anyVersion, 1, ""},
		{"no change", func(f *collection.Collection) { f.Name = "wiki" }, anyVersion, 1, ""},
		{"another version than expected", rename, func(v int64) error {
			if v != 1 {
				return errors.New("not the version that is stored")
			}
			return apierr.New(apierr.Stale, apierr.CodePreconditionFailed, "Stale.")
		}, 1, apierr.CodePreconditionFailed},
		{"an icon that is no web address", func(f *collection.Collection) { f.IconURL = "ftp://x" }, anyVersion, 1, apierr.CodeInvalidRequest},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			made := h.create("wiki")
			got, err := h.Update(t.Context(), acme, made.ID, c.change, c.match)
			if c.code == "" && err != nil || c.code != "" && !apierr.IsCode(err, c.code) {
				t.Errorf("error %v, want %q", err, c.code)
			}
			stored, err := h.Get(t.Context(), acme, made.ID)
			if err != nil || stored.Version != c.version || c.code == "" && !reflect.DeepEqual(stored, got) {
				t.Errorf("stored %+v, returned %+v: %v", stored, got, err)
			}
			want := made
			if c.version == 2 {
				c.change(&want)
			}
			if stored.Fields != want.Fields || !stored.DefaultAccess.Equal(want.DefaultAccess) || !stored.CreatedAt.Equal(made.CreatedAt) {
				t.Errorf("stored %+v", stored)
			}
		})
	}
	h := newFixture(t)
	if _, err := h.Update(t.Context(), acme, uuid.NewString(), rename, anyVersion); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("an unknown id: %v", err)
	}
}

// Two updates that overlap are both kept, and each sees the version it changes.
func TestOverlappingUpdates(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	id := h.create("wiki").ID
	var seen []int64
	got, err := h.Update(t.Context(), acme, id, func(f *collection.Collection) {
		if f.Name == "wiki" {
			_, err := h.Update(t.Context(), acme, id, func(f *collection.Collection) { f.Name = "guide" }, anyVersion)
			if err != nil {
				t.Error(err)
			}
		}
		f.Description = "Changed"
	}, func(v int64) error { seen = append(seen, v); return nil })
	if err != nil || got.Name != "guide" || got.Description != "Changed" || got.Version != 3 || !slices.Equal(seen, []int64{1, 2}) {
		t.Errorf("%+v after %v: %v", got, seen, err)
	}
}

// TestNamesHaveNoControlCharacters: a name of an earlier version that has some is kept until it is changed.
func TestNamesHaveNoControlCharacters(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, name := range []string{"a\x00b", "a\nb", "\x1b[2J", "a\u0085"} {
		if _, err := h.Create(t.Context(), acme, fields(name), nil, once); !apierr.IsCode(err, apierr.CodeInvalidRequest) {
			t.Errorf("create %q: %v", name, err)
		}
	}
	wiki := h.create("wiki")
	item, err := h.Table.Get(t.Context(), collection.Key(acme, wiki.ID))
	if err != nil {
		t.Fatal(err)
	}
	item.Body = bytes.Replace(item.Body, []byte(`"wiki"`), []byte(`"wi\u0007ki"`), 1)
	if err := h.Table.Write(t.Context(), table.Put{Item: item}); err != nil {
		t.Fatal(err)
	}
	rename := func(name string) error {
		_, err := h.Update(t.Context(), acme, wiki.ID, func(c *collection.Collection) { c.Name = name }, anyVersion)
		return err
	}
	got, err := h.Update(t.Context(), acme, wiki.ID, func(c *collection.Collection) { c.Description = "Changed" }, anyVersion)
	if err != nil || got.Name != "wi\aki" || got.Description != "Changed" {
		t.Errorf("%+v, %v", got, err)
	}
	if err := rename("wi\tki"); !apierr.IsCode(err, apierr.CodeInvalidRequest) {
		t.Errorf("another control character: %v", err)
	}
	if err := rename("wiki"); err != nil {
		t.Error(err)
	}
	if err := rename("wi\aki"); !apierr.IsCode(err, apierr.CodeInvalidRequest) {
		t.Errorf("back to the earlier name: %v", err)
	}
}

func TestListsAreNewestFirst(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ids := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		ids[name] = h.create(name).ID
		h.clock.Advance(time.Second)
	}
	connected := table.Item{Key: collection.Key(acme, uuid.NewString()), Version: 1, Strings: map[string]string{collection.ProviderField: "tracker"}}
	if err := h.Table.Write(t.Context(), table.Put{Item: connected}); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name   string
		team   string
		window table.Window
		see    func(string) bool
		want   string
	}{
		{"all", acme, table.Window{Limit: 10}, anything, "c b a"},
		{"a page", acme, table.Window{Limit: 2}, anything, "c b"},
		{"what the key may see", acme, table.Window{Limit: 10}, func(id string) bool { return id != ids["b"] }, "c a"},
		{"another team", "rival", table.Window{Limit: 10}, anything, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			list, err := h.List(t.Context(), c.team, c.window, c.see)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, e := range list.Entries {
				got = strings.TrimSpace(got + " " + e.Value.Name)
			}
			if got != c.want {
				t.Errorf("listed %q, want %q", got, c.want)
			}
		})
	}
	// A connected source is a source, not a collection.
	if _, err := h.Get(t.Context(), acme, connected.Sort); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("a connected source is read as a collection: %v", err)
	}
	if err := h.Delete(t.Context(), acme, connected.Sort, "", access.Everything(), anyVersion); err != nil || len(h.sent.Bodies) != 0 {
		t.Errorf("a connected source is deleted as a collection: %v", err)
	}
	sources, err := h.Sources(t.Context(), acme)
	if err != nil || len(sources) != 4 {
		t.Errorf("sources %v: %v", sources, err)
	}
	for id, want := range map[string]bool{connected.Sort: true, ids["a"]: true, uuid.NewString(): false, "../x": false} {
		if got, err := h.SourceExists(t.Context(), acme, id); err != nil || got != want {
			t.Errorf("%s is a source: %t, %v", id, got, err)
		}
	}
}

// index drops sources, and nothing else of it is needed here.
type index struct {
	document.Index
	dropped []string
}

func (x *index) DropSource(_ context.Context, _, source string) error {
	x.dropped = append(x.dropped, source)
	return nil
}

func TestDeletingACollection(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	id, kept := h.create("wiki").ID, h.create("guide").ID
	documents := &document.Service{Table: h.Table, Work: &queuetest.Sent{}, Now: h.clock.Now, Random: func() uint16 { return 0 },
		SourceKey: collection.Key, Connected: collection.IsConnected, Sources: h.Sources, Collections: h.Defaults, DefaultAccess: collection.DefaultAccess}
	for n, in := range []string{id, id, kept} {
		_, _, err := documents.Put(t.Context(), acme, document.Input{Fields: document.Fields{CollectionID: in, Title: "t", URI: fmt.Sprintf("https://docs.example/%d", n)},
			Match: anyVersion, Who: document.Anyone()})
		if err != nil {
			t.Fatal(err)
		}
	}
	stale := func(int64) error { return apierr.New(apierr.Stale, apierr.CodePreconditionFailed, "Stale.") }
	if err := h.Delete(t.Context(), acme, id, "", access.Everything(), stale); !apierr.IsCode(err, apierr.CodePreconditionFailed) {
		t.Errorf("another version than expected: %v", err)
	}
	if err := h.Delete(t.Context(), "rival", id, "", access.Everything(), anyVersion); err != nil || h.names() == "guide" {
		t.Errorf("another team deletes it: %v", err)
	}
	h.sent.Err = errors.New("down") // which only delays
	if err := h.Delete(t.Context(), acme, id, "r1", access.Everything(), anyVersion); err != nil {
		t.Fatal(err)
	}
	if names := h.names(); names != "guide" || len(h.sent.Bodies) != 1 || len(h.warns) != 1 {
		t.Fatalf("the team has %q, %d messages, warned of %v", names, len(h.sent.Bodies), h.warns)
	}
	w, err := pending.Decode(h.sent.Bodies[0])
	if err != nil || w.Kind != pending.RemoveCollection || w.TeamID != acme || w.ID != id || w.RequestID != "r1" {
		t.Errorf("sent %+v: %v", w, err)
	}
	if _, err := h.Table.Get(t.Context(), w.Key()); err != nil {
		t.Errorf("nothing is pending: %v", err)
	}
	x := &index{}
	worker := &document.Worker{Service: documents, Index: x, Log: slog.New(slog.DiscardHandler)}
	if failed := worker.Batch(t.Context(), []queue.Message{{ID: "m", Body: h.sent.Bodies[0], Receives: 1}}); failed != nil {
		t.Errorf("failed %v", failed)
	}
	for source, want := range map[string]int64{id: 0, kept: 1} {
		if n, err := documents.Count(t.Context(), acme, source); err != nil || n != want {
			t.Errorf("%d documents, want %d: %v", n, want, err)
		}
	}
	if _, err := h.Table.Get(t.Context(), w.Key()); !errors.Is(err, table.ErrNotFound) || !slices.Equal(x.dropped, []string{id}) {
		t.Errorf("dropped %v, still pending: %v", x.dropped, err)
	}
	if err := h.Delete(t.Context(), acme, id, "", access.Everything(), anyVersion); err != nil || len(h.sent.Bodies) != 1 {
		t.Errorf("deleted twice: %v", err)
	}
}

// A deletion and an update that overlap: the deletion is of the version it has seen.
func TestADeletionChecksTheVersionItDeletes(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	id := h.create("wiki").ID
	var seen []int64
	err := h.Delete(t.Context(), acme, id, "", access.Everything(), func(v int64) error {
		if seen = append(seen, v); len(seen) > 1 {
			return apierr.New(apierr.Stale, apierr.CodePreconditionFailed, "Stale.")
		}
		_, err := h.Update(t.Context(), acme, id, func(f *collection.Collection) { f.Name = "guide" }, anyVersion)
		return err
	})
	if !apierr.IsCode(err, apierr.CodePreconditionFailed) || !slices.Equal(seen, []int64{1, 2}) || h.names() != "guide" {
		t.Errorf("saw %v, left %q: %v", seen, h.names(), err)
	}
}
