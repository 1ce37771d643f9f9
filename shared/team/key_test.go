package team_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/table"
	"docent/shared/team"
	"docent/shared/team/teamtest"
)

func sources(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("11111111-0000-7000-8000-%012x", i)
	}
	return out
}

func TestBoundsOfKeys(t *testing.T) {
	t.Parallel()
	o := open(t)
	gone := team.User{ID: newID(), UserName: "gone", Role: team.RoleAdmin}
	if err := o.PutUser(t.Context(), o.team.ID, gone); err != nil {
		t.Fatal(err)
	}
	_, foreign, err := o.CreateTeam(t.Context(), "Rival", "eve")
	if err != nil {
		t.Fatal(err)
	}
	o.SourceExists = func(_ context.Context, teamID, id string) (bool, error) {
		return teamID == o.team.ID && slices.Contains(sources(100), id), nil
	}
	now := o.Now()
	past, future := now.Add(-time.Second), now.Add(time.Second)
	for _, c := range []struct {
		name    string
		key     team.NewKey
		pointer string // of the invalid field; empty: valid
	}{
		{"personal", team.NewKey{Kind: team.KindPersonal, Name: "x", UserID: o.admin.ID}, ""},
		{"team", team.NewKey{Kind: team.KindTeam, Name: strings.Repeat("ü", 100), ExpiresAt: &future, DataSourceIDs: sources(100)}, ""},
		{"scim", team.NewKey{Kind: team.KindSCIM, Name: "x"}, ""},
		{"a source twice", team.NewKey{Kind: team.KindTeam, Name: "x", DataSourceIDs: []string{sources(1)[0], sources(1)[0]}}, ""},
		{"no kind", team.NewKey{Name: "x"}, "/kind"},
		{"unknown kind", team.NewKey{Kind: "root", Name: "x"}, "/kind"},
		{"no name", team.NewKey{Kind: team.KindTeam}, "/name"},
		{"long name", team.NewKey{Kind: team.KindTeam, Name: strings.Repeat("x", 101)}, "/name"},
		{"personal without user", team.NewKey{Kind: team.KindPersonal, Name: "x"}, "/userId"},
		{"unknown user", team.NewKey{Kind: team.KindPersonal, Name: "x", UserID: newID()}, "/userId"},
		{"another team's user", team.NewKey{Kind: team.KindPersonal, Name: "x", UserID: foreign.ID}, "/userId"},
		{"inactive user", team.NewKey{Kind: team.KindPersonal, Name: "x", UserID: gone.ID}, "/userId"},
		{"malformed user", team.NewKey{Kind: team.KindPersonal, Name: "x", UserID: "a\x00"}, "/userId"},
		{"user of a team key", team.NewKey{Kind: team.KindTeam, Name: "x", UserID: o.admin.ID}, "/userId"},
		{"user of a scim key", team.NewKey{Kind: team.KindSCIM, Name: "x", UserID: o.admin.ID}, "/userId"},
		{"expiry now", team.NewKey{Kind: team.KindTeam, Name: "x", ExpiresAt: &now}, "/expiresAt"},
		{"expiry past", team.NewKey{Kind: team.KindTeam, Name: "x", ExpiresAt: &past}, "/expiresAt"},
		{"no sources in the list", team.NewKey{Kind: team.KindTeam, Name: "x", DataSourceIDs: []string{}}, "/dataSourceIds"},
		{"101 sources", team.NewKey{Kind: team.KindTeam, Name: "x", DataSourceIDs: sources(101)}, "/dataSourceIds"},
		{"sources of a scim key", team.NewKey{Kind: team.KindSCIM, Name: "x", DataSourceIDs: sources(1)}, "/dataSourceIds"},
		{"unknown source", team.NewKey{Kind: team.KindTeam, Name: "x", DataSourceIDs: []string{sources(1)[0], newID()}}, "/dataSourceIds/1"},
		{"malformed source", team.NewKey{Kind: team.KindTeam, Name: "x", DataSourceIDs: []string{strings.ToUpper(newID()) + "X"}}, "/dataSourceIds/0"},
	} {
		made, text, err := o.CreateKey(t.Context(), o.team.ID, c.key)
		if c.pointer == "" {
			if err != nil || made.Name != c.key.Name || made.Kind != c.key.Kind {
				t.Errorf("%s: %+v, %v", c.name, made, err)
			} else if kind, id, _, ok := team.ParseKey(text); !ok || kind != c.key.Kind || id != made.ID {
				t.Errorf("%s: text %s", c.name, text)
			}
			continue
		}
		var public *apierr.Error
		if !errors.As(err, &public) || len(public.Fields) != 1 || public.Fields[0].Pointer != c.pointer || text != "" {
			t.Errorf("%s: %v, want a fault at %s", c.name, err, c.pointer)
		}
	}
	_, _, err = o.CreateKey(t.Context(), newID(), team.NewKey{Kind: team.KindTeam, Name: "x"})
	wantCode(t, err, apierr.CodeNotFound)
	broken := errors.New("broken")
	o.SourceExists = func(context.Context, string, string) (bool, error) { return false, broken }
	if _, _, err := o.CreateKey(t.Context(), o.team.ID, team.NewKey{Kind: team.KindTeam, Name: "x", DataSourceIDs: sources(3)}); !errors.Is(err, broken) {
		t.Errorf("error of the look-up: %v", err)
	}
}

func TestRandomnessThatEnds(t *testing.T) {
	t.Parallel()
	o := open(t)
	for _, n := range []int{0, 31, 40, 63} {
		o.Random = strings.NewReader(strings.Repeat("a", n))
		if k, text, err := o.CreateKey(t.Context(), o.team.ID, team.NewKey{Kind: team.KindTeam, Name: "x"}); err == nil {
			t.Errorf("%d random bytes made the key %s, %s", n, k.ID, text)
		}
	}
}

func TestKeyAsJSON(t *testing.T) {
	t.Parallel()
	o := open(t)
	k, text := o.key(t, team.NewKey{Kind: team.KindSCIM, Name: "okta"})
	want := `{"id":"` + k.ID + `","kind":"scim","name":"okta","hint":"` + text[len(text)-4:] + `","userId":null,"dataSourceIds":null,"scopes":null,` +
		`"createdAt":"2026-11-21T20:00:00.123Z","expiresAt":null,"lastUsedAt":null,"previousSecretExpiresAt":null}`
	if got, err := json.Marshal(k); err != nil || string(got) != want {
		t.Errorf("%s, %v; want\n%s", got, err, want)
	}
	expires := o.Now().Add(time.Hour)
	k, text = o.key(t, team.NewKey{Kind: team.KindPersonal, DataSourceIDs: sources(1), ExpiresAt: &expires})
	a, err := o.Authenticate(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Touch(t.Context(), a.Principal); err != nil {
		t.Fatal(err)
	}
	if _, text, err = o.RotateKey(t.Context(), o.team.ID, k.ID, time.Minute); err != nil {
		t.Fatal(err)
	}
	if k, err = o.Key(t.Context(), o.team.ID, k.ID); err != nil {
		t.Fatal(err)
	}
	want = `{"id":"` + k.ID + `","kind":"personal","name":"laptop","hint":"` + text[len(text)-4:] + `","userId":"` + o.admin.ID + `","dataSourceIds":["` + sources(1)[0] +
		`"],"scopes":null,"createdAt":"2026-11-21T20:00:00.123Z","expiresAt":"2026-11-21T21:00:00.123Z",` +
		`"lastUsedAt":"2026-11-21T20:00:00.123Z","previousSecretExpiresAt":"2026-11-21T20:01:00.123Z"}`
	if got, err := json.Marshal(k); err != nil || string(got) != want {
		t.Errorf("%s, %v; want\n%s", got, err, want)
	}
}

func TestKeysAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	o := open(t)
	var want []team.APIKey
	for i := range 7 {
		k, _ := o.key(t, team.NewKey{Kind: team.KindTeam, Name: fmt.Sprint(i)})
		want = append(want, k)
		if i%2 == 1 { // so that two have the same time
			o.clock.Advance(time.Millisecond)
		}
	}
	slices.SortFunc(want, func(a, b team.APIKey) int {
		if c := b.CreatedAt.Compare(a.CreatedAt); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	names := func(s table.Slice[team.APIKey]) (out []string) {
		for _, e := range s.Entries {
			out = append(out, e.Value.Name)
		}
		return out
	}
	var all, expected []string
	for _, k := range want {
		expected = append(expected, k.Name)
	}
	page, err := o.Keys(t.Context(), o.team.ID, table.Window{Limit: 3})
	for ; err == nil && page.Next; page, err = o.Keys(t.Context(), o.team.ID, table.Window{Limit: 3, After: page.Last}) {
		all = append(all, names(page)...)
	}
	if err != nil {
		t.Fatal(err)
	}
	if all = append(all, names(page)...); !slices.Equal(all, expected) {
		t.Errorf("listed %v, want %v", all, expected)
	}
	back, err := o.Keys(t.Context(), o.team.ID, table.Window{Limit: 3, Before: page.First})
	if err != nil || !slices.Equal(names(back), expected[3:6]) {
		t.Errorf("the page before the last: %v, %v; want %v", names(back), err, expected[3:6])
	}
	if err := o.RevokeKey(t.Context(), o.team.ID, want[1].ID); err != nil {
		t.Fatal(err)
	}
	rest, err := o.Keys(t.Context(), o.team.ID, table.Window{Limit: 200})
	if err != nil || rest.Next || !slices.Equal(names(rest), slices.Delete(slices.Clone(expected), 1, 2)) {
		t.Errorf("after one is revoked: %v, %v", names(rest), err)
	}
	if none, err := o.Keys(t.Context(), newID(), table.Window{Limit: 200}); err != nil || len(none.Entries) != 0 {
		t.Errorf("keys of another team: %v, %v", names(none), err)
	}
}

func TestKeysOfAnotherTeamAreAbsent(t *testing.T) {
	t.Parallel()
	o := open(t)
	k, text := o.key(t, team.NewKey{Kind: team.KindPersonal})
	revoked, _ := o.key(t, team.NewKey{Kind: team.KindTeam})
	if err := o.RevokeKey(t.Context(), o.team.ID, revoked.ID); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{newID(), k.ID}, {o.team.ID, "0000000000000000"}, {o.team.ID, ""}, {o.team.ID, k.ID + "0"},
		{o.team.ID, "000000000000000\x00"}, {o.team.ID, revoked.ID},
	} {
		_, err := o.Key(t.Context(), c[0], c[1])
		wantCode(t, err, apierr.CodeNotFound)
		_, _, err = o.RotateKey(t.Context(), c[0], c[1], 0)
		wantCode(t, err, apierr.CodeNotFound)
		wantCode(t, o.RevokeKey(t.Context(), c[0], c[1]), apierr.CodeNotFound)
	}
	if _, err := o.Authenticate(t.Context(), text); err != nil {
		t.Errorf("the key suffered: %v", err)
	}
	for _, overlap := range []time.Duration{-time.Second, team.MaxOverlap + 1} {
		_, _, err := o.RotateKey(t.Context(), o.team.ID, k.ID, overlap)
		wantCode(t, err, apierr.CodeInvalidRequest)
	}
}

// TestRacingChangesOfAKey delays the first two writes until both changes have read the same
// record.
func TestRacingChangesOfAKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		with func(t *testing.T, o *fixture, id string) error
	}{
		{"revoke", func(t *testing.T, o *fixture, id string) error {
			return o.RevokeKey(t.Context(), o.team.ID, id)
		}},
		{"rotate", func(t *testing.T, o *fixture, id string) error {
			_, _, err := o.RotateKey(t.Context(), o.team.ID, id, time.Hour)
			return err
		}},
	} {
		o, w := openWatched(t)
		k, text := o.key(t, team.NewKey{Kind: team.KindPersonal})
		var reached atomic.Int64
		both := make(chan struct{})
		w.write = func() {
			if reached.Add(1) == 2 {
				close(both)
			}
			<-both
		}
		var wg sync.WaitGroup
		var revoke, other error
		wg.Go(func() { revoke = o.RevokeKey(t.Context(), o.team.ID, k.ID) })
		wg.Go(func() { other = c.with(t, o, k.ID) })
		wg.Wait()
		if n := reached.Load(); n < 2 || n > 3 {
			t.Errorf("%s: %d writes, want one each and one more for a change that is retried", c.name, n)
		}
		switch {
		case c.name == "revoke" && (revoke == nil) == (other == nil):
			t.Errorf("not one of two revoked the key: %v, %v", revoke, other)
		case c.name == "rotate" && revoke != nil:
			t.Errorf("a parallel rotation kept the key from being revoked: %v", revoke)
		}
		for _, err := range []error{revoke, other} {
			if err != nil {
				wantCode(t, err, apierr.CodeNotFound)
			}
		}
		_, err := o.Authenticate(t.Context(), text)
		wantCode(t, err, apierr.CodeUnauthorized)
		_, err = o.Key(t.Context(), o.team.ID, k.ID)
		wantCode(t, err, apierr.CodeNotFound)
	}
}

// TestChangeThatNeverGetsThrough lets another writer win every time.
func TestChangeThatNeverGetsThrough(t *testing.T) {
	t.Parallel()
	o, w := openWatched(t)
	k, _ := o.key(t, team.NewKey{Kind: team.KindTeam})
	at := table.Key{Table: table.Identities, Partition: "key/" + k.ID, Sort: "key"}
	w.write = func() {
		item, err := w.Store.Get(t.Context(), at)
		if err == nil {
			item.Version++
			err = w.Store.Write(t.Context(), table.Put{Item: item})
		}
		if err != nil {
			t.Error(err)
		}
	}
	if err := o.RevokeKey(t.Context(), o.team.ID, k.ID); !errors.Is(err, table.ErrConflict) {
		t.Errorf("RevokeKey = %v, want a conflict", err)
	}
}

// TestUserKeysEndWithTheUser deactivates a user while keys are created: in any order, no key
// outlives the deactivation.
func TestUserKeysEndWithTheUser(t *testing.T) {
	t.Parallel()
	o := open(t)
	bob, err := teamtest.CreateUser(t.Context(), o.Service, o.team.ID, "bob", team.RoleMember)
	if err != nil {
		t.Fatal(err)
	}
	_, adas := o.key(t, team.NewKey{Kind: team.KindPersonal})
	var mu sync.Mutex
	var texts []string
	made := make(chan struct{}, 40)
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			_, text, err := o.CreateKey(t.Context(), o.team.ID, team.NewKey{Kind: team.KindPersonal, Name: "x", UserID: bob.ID})
			made <- struct{}{}
			if err != nil {
				if !apierr.IsCode(err, apierr.CodeInvalidRequest) {
					t.Error(err)
				}
				return
			}
			mu.Lock()
			defer mu.Unlock()
			texts = append(texts, text)
		})
	}
	for range 10 {
		<-made
	}
	bob.Active = false
	if err := o.PutUser(t.Context(), o.team.ID, bob); err != nil {
		t.Fatal(err)
	}
	revoked, err := o.RevokeUserKeys(t.Context(), o.team.ID, bob.ID)
	if err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if len(texts) < 10 || len(revoked) != len(texts) {
		t.Errorf("%d keys were made and %d revoked", len(texts), len(revoked))
	}
	if again, err := o.RevokeUserKeys(t.Context(), o.team.ID, bob.ID); err != nil || len(again) != 0 {
		t.Errorf("a second time: %d, %v", len(again), err)
	}
	bob.Active = true
	if err := o.PutUser(t.Context(), o.team.ID, bob); err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		_, err := o.Authenticate(t.Context(), text)
		wantCode(t, err, apierr.CodeUnauthorized)
	}
	if _, err := o.Authenticate(t.Context(), adas); err != nil {
		t.Errorf("another user's key suffered: %v", err)
	}
}
