package source_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/apierr"
	"docent/shared/collection"
	"docent/shared/source"
	"docent/shared/table"
)

// listed returns a source of the team as lists show it.
func (l *library) listed(id string) source.DataSource {
	l.t.Helper()
	list, err := l.syncer.List(l.t.Context(), l.team, table.Window{Limit: 10}, func(other string) bool { return other == id })
	if err != nil || len(list.Entries) != 1 {
		l.t.Fatalf("list: %+v, %v", list, err)
	}
	return list.Entries[0].Value
}

// create connects another source of the shelf and returns its id.
func (l *library) create(name string) string {
	l.t.Helper()
	d, _, err := l.syncer.Create(l.t.Context(), l.team, source.DataSource{Provider: "shelf", Name: name}, nil)
	if err != nil {
		l.t.Fatalf("create %s: %v", name, err)
	}
	return d.ID
}

// other returns the id of another source of the team.
func (l *library) other() string { return l.create("other") }

func TestCreating(t *testing.T) {
	t.Parallel()
	bound := source.Secrets{"token": strings.Repeat("t", 1024)}
	cases := []struct {
		name    string
		d       source.DataSource
		secrets source.Secrets
		field   string // that is refused; empty: none
	}{
		{"a name of the greatest length", source.DataSource{Provider: "post", Name: strings.Repeat("ä", source.MaxName)}, nil, ""},
		{"a longer name", source.DataSource{Provider: "post", Name: strings.Repeat("ä", source.MaxName+1)}, nil, "/name"},
		{"no name", source.DataSource{Provider: "post"}, nil, "/name"},
		{"a blank name", source.DataSource{Provider: "post", Name: " \u3000"}, nil, "/name"},
		{"a name with a line break", source.DataSource{Provider: "post", Name: "a\nb"}, nil, "/name"},
		{"a name that is not UTF-8", source.DataSource{Provider: "post", Name: "\xff"}, nil, "/name"},
		{"an unknown provider", source.DataSource{Provider: "pigeon", Name: "p"}, nil, "/provider"},
		{"the provider of collections", source.DataSource{Provider: source.Custom, Name: "p"}, nil, "/provider"},
		{"a secret of the greatest length", source.DataSource{Provider: "post", Name: "p"}, bound, ""},
		{"a longer secret", source.DataSource{Provider: "post", Name: "p"}, source.Secrets{"token": bound["token"] + "t"}, "/settings/token"},
		{"a secret with a space", source.DataSource{Provider: "post", Name: "p"}, source.Secrets{"token": "a b"}, "/settings/token"},
		{"settings that the provider refuses", source.DataSource{Provider: "post", Name: "p",
			Settings: source.NewSettings(map[string]any{"street": "none"})}, nil, "/settings/street"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t, newShelf())
			p := post()
			p.Check = func(s source.Settings, _ source.Secrets) error {
				if s.Text("street") == "none" {
					return apierr.BadField("/settings/street", "must be a street")
				}
				return nil
			}
			l.syncer.Providers = append(l.syncer.Providers, p)
			d, _, err := l.syncer.Create(t.Context(), l.team, c.d, c.secrets)
			if c.field == "" {
				if err != nil || l.listed(d.ID).Name != c.d.Name {
					t.Errorf("%+v, %v", d, err)
				}
				return
			}
			if !isField(err, c.field) {
				t.Errorf("error %v, want one of %s", err, c.field)
			}
			if d := l.shown(); d.ID != l.id { // fails if there is another one
				t.Errorf("a source that is refused exists: %+v", d)
			}
		})
	}
}

// Docent's own secret is made also for a caller without secrets, and is returned once.
func TestSecretsAreStoredEncryptedAndNeverShown(t *testing.T) {
	t.Parallel()
	const token = "a-token-of-the-provider"
	for name, given := range map[string]source.Secrets{"with secrets": {"token": token}, "with an empty map": {}, "without secrets": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t, newShelf())
			l.syncer.Providers = append(l.syncer.Providers, post())
			d, made, err := l.syncer.Create(t.Context(), l.team, source.DataSource{Provider: "post", Name: "post",
				Settings: source.NewSettings(map[string]any{"street": "Main"})}, given)
			if err != nil || len(made) < 32 {
				t.Fatalf("made the secret %q: %v", made, err)
			}
			if _, ok := given["signing"]; ok {
				t.Error("the caller's map has the new secret")
			}
			shown, err := json.Marshal(l.listed(d.ID))
			if err != nil || !strings.Contains(string(shown), `"Settings":{"street":"Main"}`) {
				t.Errorf("listed %s: %v", shown, err)
			}
			stored := string(shown)
			for _, partition := range []string{l.team, l.team + "/source/" + d.ID, "source/" + d.ID} {
				n := 0
				for item, err := range table.All(t.Context(), l.store, table.Query{Table: table.Collections, Partition: partition}) {
					if err != nil {
						t.Fatal(err)
					}
					n++
					stored += fmt.Sprintf("%s %v", item.Body, item.Strings)
				}
				if n == 0 {
					t.Errorf("nothing in %s", partition)
				}
			}
			if strings.Contains(stored, made) || strings.Contains(stored, token) {
				t.Errorf("a secret can be read in %q", stored)
			}
		})
	}
}

func TestEachSourceHasASecretOfItsOwn(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	l.syncer.Providers = append(l.syncer.Providers, post())
	made := map[string]bool{}
	for range 3 {
		_, secret, err := l.syncer.Create(t.Context(), l.team, source.DataSource{Provider: "post", Name: "post"}, nil)
		if err != nil || made[secret] {
			t.Fatalf("%q, %v", secret, err)
		}
		made[secret] = true
	}
}

func TestATeamHasALimitOfSources(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf()) // has one
	last := ""
	for range source.MaxPerTeam - 1 {
		last = l.other()
	}
	one := source.DataSource{Provider: "shelf", Name: "one more"}
	if _, _, err := l.syncer.Create(t.Context(), l.team, one, nil); !apierr.IsCode(err, apierr.CodeDataSourceLimit) {
		t.Fatalf("error %v", err)
	}
	if _, _, err := l.syncer.Create(t.Context(), uuid.NewString(), one, nil); err != nil {
		t.Errorf("another team: %v", err)
	}
	if err := l.syncer.Delete(t.Context(), l.team, last, ""); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.syncer.Create(t.Context(), l.team, one, nil); err != nil {
		t.Errorf("after a deletion: %v", err)
	}
}

func TestListsShowCollectionsAndSourcesNewestFirst(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	l.clock.Advance(time.Second)
	wiki, err := l.syncer.Collections.Create(t.Context(), l.team, collection.Fields{Name: "wiki", Description: "Wiki"}, nil, collection.IdempotencyKey{})
	if err != nil {
		t.Fatal(err)
	}
	l.clock.Advance(time.Second)
	newest := l.create("newest")
	all := func(string) bool { return true }
	cases := []struct {
		name   string
		team   string
		window table.Window
		see    func(string) bool
		want   string
	}{
		{"all", l.team, table.Window{Limit: 10}, all, "newest wiki shelf"},
		{"a page", l.team, table.Window{Limit: 2}, all, "newest wiki"},
		{"what the key may see", l.team, table.Window{Limit: 10}, func(id string) bool { return id != wiki.ID }, "newest shelf"},
		{"another team", uuid.NewString(), table.Window{Limit: 10}, all, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			list, err := l.syncer.List(t.Context(), c.team, c.window, c.see)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, e := range list.Entries {
				names = append(names, e.Value.Name)
				if (e.Value.Provider == source.Custom) != (e.Value.ID == wiki.ID) {
					t.Errorf("%s is of %s", e.Value.Name, e.Value.Provider)
				}
			}
			if got := strings.Join(names, " "); got != c.want {
				t.Errorf("listed %q, want %q", got, c.want)
			}
		})
	}
	byID, err := l.syncer.Shelves(t.Context(), l.team)
	if err != nil || len(byID) != 3 || byID[wiki.ID].Provider != source.Custom || byID[newest].Provider != "shelf" {
		t.Errorf("providers %v: %v", byID, err)
	}
}

func TestDeletingASource(t *testing.T) {
	t.Parallel()
	o := newPostOffice(t, post())
	o.mustDeliver("1", parcel{URI: "https://shelf.test/p/1", Title: "One"})
	wiki, err := o.syncer.Collections.Create(t.Context(), o.team, collection.Fields{Name: "wiki", Description: "Wiki"}, nil, collection.IdempotencyKey{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, team, id, code string }{
		{"of another team", uuid.NewString(), o.at, apierr.CodeNotFound},
		{"an unknown id", o.team, uuid.NewString(), apierr.CodeNotFound},
		{"not an id", o.team, "x", apierr.CodeNotFound},
		{"a collection", o.team, wiki.ID, apierr.CodeInvalidRequest},
	} {
		if err := o.syncer.Delete(t.Context(), c.team, c.id, ""); !apierr.IsCode(err, c.code) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	sender, err := o.syncer.Sender(t.Context(), o.at, "post")
	if err != nil {
		t.Fatal(err)
	}
	if err := o.syncer.Delete(t.Context(), o.team, o.at, "r1"); err != nil {
		t.Fatal(err)
	}
	if _, err := o.syncer.ProviderOf(t.Context(), o.team, o.at); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("it is still there: %v", err)
	}
	if err := o.syncer.Delete(t.Context(), o.team, o.at, "r1"); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	if keys := o.stored("source/" + o.at); len(keys) > 0 {
		t.Errorf("its secrets are still there: %v", keys)
	}
	// Neither a delivery in progress nor a late status update recreates it.
	body := `{"URI":"https://shelf.test/p/2","Title":"Two"}`
	_, err = o.syncer.Deliver(t.Context(), sender, source.Delivery{Body: []byte(body),
		Header: func(string) string { return signed(o.secret, []byte(body)) }})
	if !apierr.IsCode(err, apierr.CodeUnauthorized) {
		t.Errorf("a delivery: %v", err)
	}
	if err := o.syncer.Fail(t.Context(), o.team, o.at, source.SyncFailure{Code: source.Unreadable}); err != nil {
		t.Error(err)
	}
	if _, err := o.syncer.ProviderOf(t.Context(), o.team, o.at); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("it is back: %v", err)
	}
}

// stored returns the sort keys of a partition.
func (l *library) stored(partition string) (keys []string) {
	l.t.Helper()
	for item, err := range table.All(l.t.Context(), l.store, table.Query{Table: table.Collections, Partition: partition}) {
		if err != nil {
			l.t.Fatal(err)
		}
		keys = append(keys, item.Sort)
	}
	return keys
}
