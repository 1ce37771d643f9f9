package source_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/app/faulttest"
	"docent/shared/search"
	"docent/shared/source"
)

func settings(text string) source.Settings {
	var s source.Settings
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		panic(err)
	}
	return s
}

func (l *library) change(c source.Change) error {
	_, err := l.syncer.Update(l.t.Context(), l.team, l.id, c)
	return err
}

func (l *library) mustChange(c source.Change) {
	l.t.Helper()
	if err := l.change(c); err != nil {
		l.t.Fatalf("change: %v", err)
	}
}

// settle works until nothing is due for an hour.
func (l *library) settle() {
	l.t.Helper()
	for range 4 {
		l.work()
		l.swept()
		l.clock.Advance(20 * time.Minute)
	}
}

func pause(paused bool) source.Change { return source.Change{Paused: &paused} }

func TestChangedSettingsAreReadWithoutReadingAllAgain(t *testing.T) {
	t.Parallel()
	a, b := everything[:7], everything[7:]
	for _, tt := range []struct {
		name   string
		before string
		change source.Change
		want   []string
		asked  []string // pages of the sync that follows
		during bool     // the change comes while part a is read
	}{
		{name: "a part is added", before: `{"parts":["a"]}`, change: source.Change{Settings: settings(`{"parts":["a","b"]}`)}, want: everything, asked: []string{"a 0", "b 0", "b 3"}},
		{name: "a part is left out", before: `{"parts":["a","b"]}`, change: source.Change{Settings: settings(`{"parts":["b"]}`)}, want: b, asked: []string{"b 0"}},
		{name: "another part instead", before: `{"parts":["a"]}`, change: source.Change{Settings: settings(`{"parts":["b"]}`)}, want: b, asked: []string{"b 0", "b 3"}},
		{name: "a setting is removed", before: `{"parts":["a"]}`, change: source.Change{Without: []string{"parts"}}, want: everything, asked: []string{"a 0", "b 0", "b 3"}},
		{name: "a part is left out while it is read", before: `{"parts":["a","b"]}`, change: source.Change{Settings: settings(`{"parts":["b"]}`)}, want: b, asked: []string{"b 0", "b 3"}, during: true},
		{name: "a part is added while one is read", before: `{"parts":["a"]}`, change: source.Change{Settings: settings(`{"parts":["a","b"]}`)}, want: everything, asked: []string{"a 3", "a 6", "b 0", "b 3"}, during: true},
		{name: "a new token", before: `{"parts":["a"]}`, change: source.Change{Settings: settings(`{"token":"new"}`)}, want: a, asked: []string{"a 0"}},
		{name: "a new token while it is read", before: `{"parts":["a"]}`, change: source.Change{Settings: settings(`{"token":"new"}`)}, want: a, asked: []string{"a 3", "a 6"}, during: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t, newShelf())
			l.mustChange(source.Change{Settings: settings(tt.before)})
			if tt.during {
				l.shelf.at["a 3"] = func() error { l.mustChange(tt.change); l.shelf.asked = nil; return nil }
				l.clock.Advance(time.Second)
				l.swept()
				for range 4 {
					l.work()
				}
			} else {
				l.settle()
				l.mustChange(tt.change)
				l.shelf.asked = nil
				l.clock.Advance(time.Second)
				l.work()
			}
			l.wantItems(tt.want...)
			if !slices.Equal(l.shelf.asked, tt.asked) {
				t.Errorf("asked for %q, want %q", l.shelf.asked, tt.asked)
			}
			if tt.change.Settings.Text("token") != l.shelf.token {
				t.Errorf("read with the token %q", l.shelf.token)
			}
			if left := l.left(); slices.ContainsFunc(left, func(key string) bool { return strings.HasPrefix(key, "replaced#") }) {
				t.Errorf("left: %q", left)
			}
		})
	}
}

func TestAnotherSettingReadsAllAgain(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	l.mustSync()
	l.shelf.asked = nil
	for part := range l.shelf.parts {
		for i, uri := range l.shelf.parts[part] {
			l.shelf.parts[part][i] = strings.Replace(uri, "shelf.test", "new.test", 1)
		}
	}
	l.mustChange(source.Change{Settings: settings(`{"host":"new.test"}`)})
	l.mustSync()
	if got := l.items(); len(got) != len(everything) || !strings.HasPrefix(got[0], "https://new.test/") {
		t.Errorf("stored %v", got)
	}
}

func TestAPartThatComesBackIsReadCompletely(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	l.mustSync()
	for range 2 {
		l.mustChange(source.Change{Settings: settings(`{"parts":["a"]}`)})
		l.mustSync()
		l.wantItems(everything[:7]...)
		l.mustChange(source.Change{Without: []string{"parts"}})
		l.mustSync()
		l.wantItems(everything...)
	}
	l.mustChange(source.Change{Settings: settings(`{"parts":["a"]}`)}) // twice before a sync
	l.mustChange(source.Change{Settings: settings(`{"parts":["b"]}`)})
	l.mustSync()
	l.wantItems(everything[7:]...)
}

// TestChangesHoldWhereverTheyStop stops the change, and the sync that applies it, at each
// call of the store.
func TestChangesHoldWhereverTheyStop(t *testing.T) {
	t.Parallel()
	change := source.Change{Settings: settings(`{"parts":["b"],"token":"new"}`)}
	count := newLibrary(t, newShelf())
	count.mustSync()
	count.plan.Watch()
	count.mustChange(change)
	changed := len(count.plan.Seen())
	count.mustSync()
	calls := count.plan.Seen()
	if changed < 4 || len(calls) < changed+10 {
		t.Fatalf("%d calls of the change, %d in all", changed, len(calls))
	}
	kills := 0
	for at, name := range calls {
		for _, mode := range faulttest.ModesOf(name) {
			kills++
			t.Run(fmt.Sprintf("%d %s %s", at+1, name, mode), func(t *testing.T) {
				t.Parallel()
				l := newLibrary(t, newShelf())
				l.mustSync()
				l.plan.Arm(mode, at+1)
				err := l.change(change)
				if err == nil {
					_ = l.sync()
				}
				l.plan.Disarm()
				if d := l.shown(); err != nil && len(d.Settings.List("parts")) == 0 {
					l.settle()
					l.wantItems(everything...) // nothing was changed
					l.mustChange(change)
				}
				l.clock.Advance(3 * time.Minute)
				l.settle()
				l.wantItems(everything[7:]...)
				if d := l.shown(); d.State != source.Ready || d.LastError != nil || d.Sync.State != source.SyncWaiting || l.shelf.token != "new" {
					t.Errorf("after %v: %+v %+v", err, d, d.Sync)
				}
				if left := l.left(); slices.ContainsFunc(left, func(key string) bool { return strings.HasPrefix(key, "replaced#") || strings.HasPrefix(key, "part#a") }) {
					t.Errorf("left: %q", left)
				}
			})
		}
	}
	t.Logf("%d kills", kills)
}

func TestAPausedSourceIsNotRead(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	l.shelf.at["a 3"] = func() error { l.mustChange(pause(true)); return nil }
	l.settle()
	l.wantItems(everything[:6]...) // the page that was being read
	if d := l.shown(); !d.Paused || d.Sync.State != source.SyncWaiting || !d.Sync.Next.IsZero() {
		t.Errorf("paused: %+v %+v", d, d.Sync)
	}
	l.shelf.asked = nil
	if err := l.syncer.SyncSoon(t.Context(), l.team, l.id); err != nil {
		t.Error(err)
	}
	if err := l.syncer.PlanMissing(t.Context(), l.team); err != nil {
		t.Error(err)
	}
	l.mustChange(source.Change{Settings: settings(`{"token":"new"}`)})
	l.clock.Advance(25 * time.Hour)
	l.settle()
	if len(l.shelf.asked) > 0 {
		t.Errorf("asked for %q", l.shelf.asked)
	}
	l.mustChange(pause(true)) // changes nothing
	l.mustChange(pause(false))
	l.clock.Advance(time.Second)
	l.work()
	l.wantItems(everything...)
	if d := l.shown(); d.Paused || d.State != source.Ready || d.Sync.Next.IsZero() {
		t.Errorf("resumed: %+v %+v", d, d.Sync)
	}
	if want := []string{"a 3", "a 6", "b 0", "b 3"}; !slices.Equal(l.shelf.asked, want) {
		t.Errorf("asked for %q, want %q", l.shelf.asked, want)
	}
}

// TestAPauseDuringAnotherChangeHolds pauses or resumes a source while the provider is asked about new settings.
func TestAPauseDuringAnotherChangeHolds(t *testing.T) {
	t.Parallel()
	for _, pauses := range []bool{true, false} {
		t.Run(fmt.Sprintf("paused %t", pauses), func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t, newShelf())
			l.settle()
			if !pauses {
				l.mustChange(pause(true))
			}
			asked := 0
			l.syncer.Probe = func(context.Context, source.ProviderName, source.Access) error {
				if asked++; asked == 1 {
					l.mustChange(pause(pauses))
				}
				return nil
			}
			l.shelf.asked = nil
			l.mustChange(source.Change{Settings: settings(`{"token":"new","parts":["b"]}`)})
			l.clock.Advance(time.Hour)
			l.settle()
			if d := l.shown(); d.Paused != pauses || d.Sync.Next.IsZero() != pauses {
				t.Errorf("%+v %+v", d, d.Sync)
			}
			if read := len(l.shelf.asked) > 0; read == pauses {
				t.Errorf("asked for %q", l.shelf.asked)
			}
		})
	}
}

func TestBadChangesChangeNothing(t *testing.T) {
	t.Parallel()
	blank, long := " ", strings.Repeat("n", source.MaxName+1)
	name := "renamed"
	l := newLibrary(t, newShelf())
	l.syncer.Providers = append(l.syncer.Providers, source.Provider{Name: "post"})
	l.mustChange(source.Change{Name: &name})
	for what, c := range map[string]struct {
		change source.Change
		field  string
	}{
		"a blank name":          {source.Change{Name: &blank}, "/name"},
		"a long name":           {source.Change{Name: &long}, "/name"},
		"a list as a text":      {source.Change{Settings: settings(`{"parts":"a"}`)}, "/settings/parts"},
		"a token with a blank":  {source.Change{Settings: settings(`{"token":"a b"}`)}, "/settings/token"},
		"a good and a bad part": {source.Change{Name: &long, Settings: settings(`{"parts":["a"]}`)}, "/name"},
	} {
		err := l.change(c.change)
		if !apierr.IsCode(err, apierr.CodeInvalidRequest) || !strings.Contains(err.Error(), c.field) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if d := l.shown(); d.Name != name || d.Settings.List("parts") != nil {
		t.Errorf("got %+v", d)
	}
	d, _, err := l.syncer.Create(t.Context(), l.team, source.DataSource{Provider: "post", Name: "post"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	if _, err := l.syncer.Update(t.Context(), l.team, d.ID, source.Change{Paused: &yes}); !apierr.IsCode(err, apierr.CodeInvalidRequest) {
		t.Errorf("a source without a connector was paused: %v", err)
	}
}

// TestASecretStaysWithItsHost checks that a secret is not sent to another host than it was given for.
func TestASecretStaysWithItsHost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, before, change string
		without              []string
		refused              bool
	}{
		{name: "another host", before: `{"address":"https://hub.test","token":"t"}`, change: `{"address":"https://evil.test"}`, refused: true},
		{name: "another port", before: `{"address":"https://hub.test","token":"t"}`, change: `{"address":"https://hub.test:8443"}`, refused: true},
		{name: "an address at last", before: `{"token":"t"}`, change: `{"address":"https://evil.test"}`, refused: true},
		{name: "the provider's own address again", before: `{"address":"https://hub.test","token":"t"}`, without: []string{"address"}, refused: true},
		{name: "with the secret", before: `{"address":"https://hub.test","token":"t"}`, change: `{"address":"https://new.test","token":"t"}`},
		{name: "without the secret", before: `{"address":"https://hub.test","token":"t"}`, change: `{"address":"https://new.test"}`, without: []string{"token"}},
		{name: "another path", before: `{"address":"https://hub.test/a","token":"t"}`, change: `{"address":"https://HUB.test/b"}`},
		{name: "no secret", before: `{"address":"https://hub.test"}`, change: `{"address":"https://new.test"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t, newShelf())
			l.syncer.Providers[0].Settings = append(l.syncer.Providers[0].Settings, source.Setting{Name: "address", Kind: source.URL})
			l.mustChange(source.Change{Settings: settings(c.before)})
			asked := 0
			l.syncer.Probe = func(context.Context, source.ProviderName, source.Access) error { asked++; return nil }
			change := source.Change{Without: c.without}
			if c.change != "" {
				change.Settings = settings(c.change)
			}
			err := l.change(change)
			if refused := err != nil; refused != c.refused || refused && (!apierr.IsCode(err, apierr.CodeInvalidRequest) || !strings.Contains(err.Error(), "/settings/token")) {
				t.Errorf("%v", err)
			}
			if c.refused == (asked > 0) {
				t.Errorf("the provider was asked %d times", asked)
			}
		})
	}
}

// TestItemsAreClosedBeforeTheyAreReadAgain, also if the provider does not answer then.
func TestItemsAreClosedBeforeTheyAreReadAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before string
		change source.Change
		closed bool
	}{
		"the source no longer decides": {`{"access":"source"}`, source.Change{Settings: settings(`{"access":"members"}`)}, true},
		"the setting is removed":       {`{"access":"source"}`, source.Change{Without: []string{"access"}}, true},
		"the source decides":           {`{"access":"members"}`, source.Change{Settings: settings(`{"access":"source"}`)}, false},
		"another setting":              {`{"access":"source"}`, source.Change{Settings: settings(`{"other":"b"}`)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t, newShelf())
			l.syncer.Providers[0].Settings = append(l.syncer.Providers[0].Settings, source.Setting{Name: "access", Opens: "source"}, source.Setting{Name: "other"})
			l.mustChange(source.Change{Settings: settings(tt.before)})
			l.settle()
			l.wantItems(everything...)
			l.mustChange(tt.change)
			l.shelf.at["a 0"] = func() error {
				return &source.SyncError{Code: source.RateLimited, RetryAt: l.clock.Now().Add(time.Hour), AllParts: true}
			}
			closed := func() (n int) {
				t.Helper()
				for e, err := range l.syncer.Documents.Items(t.Context(), l.team, l.id, search.Documentation, true) {
					if err != nil {
						t.Fatal(err)
					}
					if e.Access != nil && len(e.Access.Users)+len(e.Access.Groups) == 0 {
						n++
					}
				}
				return n
			}
			l.mustSync()
			l.wantItems(everything...)
			if n := closed(); n != map[bool]int{true: len(everything)}[tt.closed] {
				t.Errorf("%d items are closed", n)
			}
			l.clock.Advance(2 * time.Hour)
			l.mustSync()
			if n := closed(); n != 0 {
				t.Errorf("%d items are still closed when they were read again", n)
			}
		})
	}
}

// TestASecretCanConnectASource: without a token nothing reads it.
func TestASecretCanConnectASource(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	l.settle()
	l.syncer.Providers[0].Connected = func(_ source.Settings, secrets source.Secrets) bool { return secrets["token"] != "" }
	d, _, err := l.syncer.Create(t.Context(), l.team, source.DataSource{Provider: "shelf", Name: "second"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.syncer.Delete(t.Context(), l.team, l.id, ""); err != nil { // the first one
		t.Fatal(err)
	}
	l.shelf.parts = map[string][]string{"second": uris("second", 1)}
	l.id = d.ID
	syncs := func(want bool) {
		t.Helper()
		if err := l.syncer.PlanMissing(t.Context(), l.team); err != nil {
			t.Fatal(err)
		}
		l.shelf.token = ""
		l.clock.Advance(20 * time.Minute)
		l.settle()
		if got := l.shelf.token != ""; got != want {
			t.Errorf("synced: %t, want %t", got, want)
		}
	}
	if err := l.change(pause(true)); !apierr.IsCode(err, apierr.CodeInvalidRequest) {
		t.Errorf("a source that nothing reads was paused: %v", err)
	}
	syncs(false)
	l.mustChange(source.Change{Settings: settings(`{"token":"new"}`)})
	syncs(true)
	l.wantItems("second/1")
	l.mustChange(pause(true))
	syncs(false)
	l.mustChange(pause(false))
	syncs(true)
	l.mustChange(source.Change{Without: []string{"token"}})
	syncs(false)
	l.wantItems("second/1")
}
