package team_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/quota"
	"docent/shared/table"
	"docent/shared/table/bolt"
	"docent/shared/team"
	"docent/shared/team/teamtest"
)

func TestPrincipals(t *testing.T) {
	t.Parallel()
	o := open(t)
	bob, err := teamtest.CreateUser(t.Context(), o.Service, o.team.ID, "bob", team.RoleMember)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		key  team.NewKey
		want team.Principal
	}{
		{"admin", team.NewKey{Kind: team.KindPersonal}, team.Principal{UserID: o.admin.ID, UserName: "Ada@Example.com", Admin: true}},
		{"admin, restricted", team.NewKey{Kind: team.KindPersonal, DataSourceIDs: sources(2)},
			team.Principal{UserID: o.admin.ID, UserName: "Ada@Example.com", Sources: sources(2)}},
		{"member", team.NewKey{Kind: team.KindPersonal, UserID: bob.ID}, team.Principal{UserID: bob.ID, UserName: "bob"}},
		{"team", team.NewKey{Kind: team.KindTeam}, team.Principal{}},
		{"scim", team.NewKey{Kind: team.KindSCIM}, team.Principal{}},
	} {
		k, text := o.key(t, c.key)
		c.want.TeamID, c.want.KeyID, c.want.KeyName, c.want.Kind = o.team.ID, k.ID, "laptop", c.key.Kind
		for _, memory := range []string{"read", "remembered"} {
			got, err := o.Authenticate(t.Context(), text)
			if err != nil || !reflect.DeepEqual(got.Principal, c.want) {
				t.Errorf("%s, %s: %+v, %v; want %+v", c.name, memory, got.Principal, err, c.want)
			}
			if counted := len(got.Quotas) == 1; counted != (c.key.Kind == team.KindPersonal) {
				t.Errorf("%s, %s: quotas %+v", c.name, memory, got.Quotas)
			}
		}
	}
}

func TestEveryBadKeyGetsTheSameAnswer(t *testing.T) {
	t.Parallel()
	o := open(t)
	ctx := t.Context()
	expires := o.Now().Add(time.Second)
	_, expiring := o.key(t, team.NewKey{Kind: team.KindPersonal, ExpiresAt: &expires})
	revokedKey, revoked := o.key(t, team.NewKey{Kind: team.KindTeam})
	if err := o.RevokeKey(ctx, o.team.ID, revokedKey.ID); err != nil {
		t.Fatal(err)
	}
	bob, err := teamtest.CreateUser(ctx, o.Service, o.team.ID, "bob", team.RoleAdmin)
	if err != nil {
		t.Fatal(err)
	}
	_, inactive := o.key(t, team.NewKey{Kind: team.KindPersonal, UserID: bob.ID})
	bob.Active = false
	if err := o.PutUser(ctx, o.team.ID, bob); err != nil {
		t.Fatal(err)
	}
	good, text := o.key(t, team.NewKey{Kind: team.KindPersonal})
	_, _, secret, _ := team.ParseKey(text)
	if _, err := o.Authenticate(ctx, expiring); err != nil {
		t.Fatalf("the key before its expiry: %v", err)
	}
	o.clock.Advance(time.Second)
	for _, c := range []struct{ name, text, reason string }{
		{"no key", "", ""},
		{"malformed", strings.TrimSuffix(text, text[len(text)-1:]), ""},
		{"unknown", team.KeyText(team.KindPersonal, "0000000000000000", secret), ""},
		{"wrong secret", team.KeyText(team.KindPersonal, good.ID, team.GreatestSecret), ""},
		{"another kind's prefix", team.KeyText(team.KindTeam, good.ID, secret), ""},
		{"revoked, wrong secret", team.KeyText(team.KindTeam, revokedKey.ID, secret), ""},
		{"revoked", revoked, team.ReasonRevoked},
		{"expired, and still in memory", expiring, team.ReasonExpired},
		{"inactive user", inactive, team.ReasonInactive},
	} {
		got, err := o.Authenticate(ctx, c.text)
		var public *apierr.Error
		if !errors.As(err, &public) || public.Kind != apierr.Unauthenticated || public.Error() != "unauthorized: A valid API key is required." {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := o.Recheck(ctx, c.text, team.Principal{}); !apierr.IsCode(err, apierr.CodeUnauthorized) {
			t.Errorf("%s, checked again: %v", c.name, err)
		}
		if !reflect.DeepEqual(got, team.Authentication{}) {
			t.Errorf("%s: refused, and yet %+v", c.name, got)
		}
		var rejected *team.RejectedError
		if known := errors.As(err, &rejected); known != (c.reason != "") {
			t.Errorf("%s: rejected %+v", c.name, rejected)
		} else if known && (rejected.Reason != c.reason || rejected.Key.TeamID != o.team.ID || rejected.Key.ID == "") {
			t.Errorf("%s: rejected %+v, want reason %s", c.name, rejected, c.reason)
		}
	}
	if _, err := o.Recheck(ctx, text, team.Principal{}); err != nil {
		t.Errorf("the good key, checked again: %v", err)
	}
	got, err := o.Authenticate(ctx, text)
	if err != nil || got.Quotas[0].Used != 1 {
		t.Errorf("the good key: %+v, %v; none of the refused calls may count", got, err)
	}
}

func TestWhatEndsIsDeadWithinTenSeconds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		end  func(t *testing.T, o *fixture, k team.APIKey) error
		dead bool
	}{
		{"revoked", func(t *testing.T, o *fixture, k team.APIKey) error {
			return o.RevokeKey(t.Context(), o.team.ID, k.ID)
		}, true},
		{"rotated without overlap", func(t *testing.T, o *fixture, k team.APIKey) error {
			_, _, err := o.RotateKey(t.Context(), o.team.ID, k.ID, 0)
			return err
		}, true},
		{"deactivated", func(t *testing.T, o *fixture, k team.APIKey) error {
			o.admin.Active = false
			return o.PutUser(t.Context(), o.team.ID, o.admin)
		}, true},
		{"user deleted", func(t *testing.T, o *fixture, k team.APIKey) error {
			return o.Table.Write(t.Context(), table.Delete{Key: table.Key{
				Table: table.Identities, Partition: o.team.ID + "/users", Sort: o.admin.ID}})
		}, true},
		{"demoted", func(t *testing.T, o *fixture, k team.APIKey) error {
			o.admin.Role = team.RoleMember
			return o.PutUser(t.Context(), o.team.ID, o.admin)
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := open(t)
			k, text := o.key(t, team.NewKey{Kind: team.KindPersonal})
			elsewhere := o.another()
			if a, err := elsewhere.Authenticate(t.Context(), text); err != nil || !a.Principal.Admin {
				t.Fatalf("before: %+v, %v", a, err)
			}
			if err := c.end(t, o, k); err != nil {
				t.Fatal(err)
			}
			if _, err := elsewhere.Authenticate(t.Context(), text); err != nil {
				t.Fatalf("the key is not read from memory: %v", err)
			}
			o.clock.Advance(10 * time.Second)
			a, err := elsewhere.Authenticate(t.Context(), text)
			if c.dead {
				wantCode(t, err, apierr.CodeUnauthorized)
			} else if err != nil || a.Principal.Admin {
				t.Errorf("10 seconds later: %+v, %v", a, err)
			}
		})
	}
}

// TestARequestInProgressEndsWithItsPerson: with the person for whom its key acts, and with what that person may read.
func TestARequestInProgressEndsWithItsPerson(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(o *fixture, bob *team.User, groups *[]access.Group)
		acting string // code while acting for bob, empty for none
		own    string // code of bob's own key
	}{
		"nothing":      {func(*fixture, *team.User, *[]access.Group) {}, "", ""},
		"deactivated":  {func(_ *fixture, bob *team.User, _ *[]access.Group) { bob.Active = false }, apierr.CodeUserNotActive, apierr.CodeUnauthorized},
		"left a group": {func(_ *fixture, _ *team.User, groups *[]access.Group) { *groups = (*groups)[1:] }, apierr.CodeAccessChanged, apierr.CodeAccessChanged},
		"joined one": {func(_ *fixture, _ *team.User, groups *[]access.Group) {
			*groups = append(*groups, access.Group{ID: "c"})
		}, "", ""},
		"group renamed": {func(_ *fixture, _ *team.User, groups *[]access.Group) { (*groups)[0].DisplayName = "Sales" }, apierr.CodeAccessChanged, apierr.CodeAccessChanged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := open(t)
			groups := []access.Group{{ID: "a", DisplayName: "Engineering"}, {ID: "b"}}
			o.Groups = func(context.Context, string, string) ([]access.Group, error) { return slices.Clone(groups), nil }
			bob, err := teamtest.CreateUser(t.Context(), o.Service, o.team.ID, "bob", team.RoleMember)
			must(t, err)
			_, bot := o.key(t, team.NewKey{Kind: team.KindTeam, ActFor: true})
			_, own := o.key(t, team.NewKey{Kind: team.KindPersonal, UserID: bob.ID})
			was, err := o.Authenticate(t.Context(), bot, team.Reading)
			must(t, err)
			acting, err := o.ActFor(t.Context(), was.Principal, "bob", true, func(context.Context, string) error { return nil })
			must(t, err)
			unread, err := o.ActFor(t.Context(), was.Principal, "bob", false, func(context.Context, string) error { return nil })
			must(t, err)
			his, err := o.Authenticate(t.Context(), own, team.Reading)
			must(t, err)
			c.change(o, &bob, &groups)
			must(t, o.PutUser(t.Context(), o.team.ID, bob))
			ofUnread := c.acting
			if ofUnread == apierr.CodeAccessChanged {
				ofUnread = ""
			}
			for who, r := range map[string]struct {
				text string
				was  team.Principal
				want string
			}{"acting": {bot, acting, c.acting}, "acting without reading": {bot, unread, ofUnread}, "his own": {own, his.Principal, c.own}, "the team": {bot, was.Principal, ""}} {
				_, err := o.Recheck(t.Context(), r.text, r.was)
				if r.want == "" && err != nil || r.want != "" && !apierr.IsCode(err, r.want) {
					t.Errorf("%s: %v, want %q", who, err, r.want)
				}
			}
		})
	}
}

// TestACallerWhoKeepsItsRightsIsTheSameAgain: also what it may read, which a request goes on with.
func TestACallerWhoKeepsItsRightsIsTheSameAgain(t *testing.T) {
	t.Parallel()
	o := open(t)
	o.Groups = func(context.Context, string, string) ([]access.Group, error) {
		return []access.Group{{ID: "a", DisplayName: "Engineering"}}, nil
	}
	bob, err := teamtest.CreateUser(t.Context(), o.Service, o.team.ID, "bob", team.RoleMember)
	must(t, err)
	_, bot := o.key(t, team.NewKey{Kind: team.KindTeam, ActFor: true})
	_, own := o.key(t, team.NewKey{Kind: team.KindPersonal, UserID: bob.ID})
	for _, options := range [][]team.Option{nil, {team.Reading}} {
		reads := len(options) > 0
		theTeam, err := o.Authenticate(t.Context(), bot, options...)
		must(t, err)
		acting, err := o.ActFor(t.Context(), theTeam.Principal, "bob", reads, func(context.Context, string) error { return nil })
		must(t, err)
		his, err := o.Authenticate(t.Context(), own, options...)
		must(t, err)
		for name, c := range map[string]struct {
			text string
			was  team.Principal
		}{"the team": {bot, theTeam.Principal}, "acting": {bot, acting}, "his own": {own, his.Principal}} {
			if now, err := o.Recheck(t.Context(), c.text, c.was); err != nil || !reflect.DeepEqual(now, c.was) {
				t.Errorf("%s, reading %v: %+v, %v; was %+v", name, reads, now, err, c.was)
			}
		}
	}
}

// TestARequestInProgressOutlivesItsKey: also that of a secret that was rotated before it began, but not one that was withdrawn.
func TestARequestInProgressOutlivesItsKey(t *testing.T) {
	t.Parallel()
	const life = time.Minute
	revoke := func(o *fixture, k team.APIKey) error { return o.RevokeKey(context.Background(), o.team.ID, k.ID) }
	rotate := func(overlap time.Duration) func(*fixture, team.APIKey) error {
		return func(o *fixture, k team.APIKey) error {
			_, _, err := o.RotateKey(context.Background(), o.team.ID, k.ID, overlap)
			return err
		}
	}
	nothing := func(*fixture, team.APIKey) error { return nil }
	for name, c := range map[string]struct {
		expires        bool
		before, during func(*fixture, team.APIKey) error
		ends           bool
	}{
		"expired":                       {true, nothing, nothing, false},
		"rotated before":                {false, rotate(life), nothing, false},
		"revoked":                       {true, nothing, revoke, true},
		"rotated before, and revoked":   {false, rotate(life), revoke, true},
		"rotated without overlap":       {true, nothing, rotate(0), true},
		"rotated before, and once more": {false, rotate(life), rotate(life), true},
		"rotated during it":             {false, nothing, rotate(life / 2), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := open(t)
			key := team.NewKey{Kind: team.KindTeam}
			if c.expires {
				end := o.clock.Now().Add(life)
				key.ExpiresAt = &end
			}
			k, text := o.key(t, key)
			must(t, c.before(o, k))
			was, err := o.Authenticate(t.Context(), text)
			must(t, err)
			o.clock.Advance(life / 4)
			must(t, c.during(o, k))
			o.clock.Advance(life)
			if _, err := o.Recheck(t.Context(), text, was.Principal); apierr.IsCode(err, apierr.CodeUnauthorized) != c.ends {
				t.Errorf("in progress: %v", err)
			}
			if _, err := o.Authenticate(t.Context(), text); !apierr.IsCode(err, apierr.CodeUnauthorized) {
				t.Errorf("a new request: %v", err)
			}
		})
	}
}

func TestRotation(t *testing.T) {
	t.Parallel()
	o := open(t)
	ctx := t.Context()
	k, first := o.key(t, team.NewKey{Kind: team.KindTeam})
	elsewhere := o.another()
	works := func(text string) bool {
		a, err := o.Authenticate(ctx, text)
		b, elseErr := elsewhere.Authenticate(ctx, text)
		if (err == nil) != (elseErr == nil) || err == nil && (a.Principal.KeyID != k.ID || b.Principal.KeyID != k.ID) {
			t.Fatalf("two services differ: %v, %v", err, elseErr)
		}
		if err != nil {
			wantCode(t, err, apierr.CodeUnauthorized)
		}
		return err == nil
	}
	if !works(first) {
		t.Fatal("a new key does not work")
	}
	shown, second, err := o.RotateKey(ctx, o.team.ID, k.ID, time.Hour)
	if err != nil || shown.ID != k.ID || shown.PreviousSecretExpiresAt == nil ||
		!shown.PreviousSecretExpiresAt.Equal(o.Now().Truncate(time.Millisecond).Add(time.Hour)) {
		t.Fatalf("RotateKey = %+v, %v", shown, err)
	}
	if !works(second) || !works(first) {
		t.Error("within the overlap both secrets work, the new one at once")
	}
	o.clock.Advance(time.Hour - time.Millisecond)
	if !works(first) {
		t.Error("the old secret ended early")
	}
	o.clock.Advance(time.Millisecond)
	if works(first) || !works(second) {
		t.Error("after the overlap only the new secret works")
	}
	if shown, err = o.Key(ctx, o.team.ID, k.ID); err != nil || shown.PreviousSecretExpiresAt != nil {
		t.Errorf("after the overlap: %+v, %v", shown, err)
	}
	_, third, err := o.RotateKey(ctx, o.team.ID, k.ID, team.MaxOverlap)
	if err != nil {
		t.Fatal(err)
	}
	_, fourth, err := o.RotateKey(ctx, o.team.ID, k.ID, team.MaxOverlap)
	if err != nil {
		t.Fatal(err)
	}
	o.clock.Advance(10 * time.Second)
	if works(second) || !works(third) || !works(fourth) {
		t.Error("two rotations leave the last two secrets")
	}
}

func TestTouch(t *testing.T) {
	t.Parallel()
	o := open(t)
	ctx := t.Context()
	k, text := o.key(t, team.NewKey{Kind: team.KindTeam})
	elsewhere := o.another()
	var last time.Time
	for _, c := range []struct {
		name    string
		at      time.Duration // since the first use
		service *team.Service
		written bool
		calls   int // maximum of calls to the store
	}{
		{"first", 0, o.Service, true, 1},
		{"a moment later", time.Millisecond, o.Service, false, 0},
		{"elsewhere", 30 * time.Second, elsewhere, false, 1},
		{"just within the minute", time.Minute - time.Millisecond, o.Service, false, 0},
		{"after a minute", time.Minute, o.Service, true, 1},
		{"elsewhere, within that minute", 90 * time.Second, elsewhere, false, 1},
		{"elsewhere, after it", 151 * time.Second, elsewhere, true, 1},
	} {
		o.clock.Advance(start.Add(c.at).Sub(o.Now()))
		a, err := c.service.Authenticate(ctx, text)
		if err != nil {
			t.Fatal(err)
		}
		metered, meter := table.WithMeter(ctx)
		if err := c.service.Touch(metered, a.Principal); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if calls := meter.Read().Calls; calls != c.calls {
			t.Errorf("%s: %d calls to the store, want %d", c.name, calls, c.calls)
		}
		if c.written {
			last = o.Now()
		}
		shown, err := o.Key(ctx, o.team.ID, k.ID)
		if err != nil || shown.LastUsedAt == nil || !shown.LastUsedAt.Equal(last) {
			t.Errorf("%s: last use %v, %v; want %v", c.name, shown.LastUsedAt, err, last)
		}
	}
	if err := o.RevokeKey(ctx, o.team.ID, k.ID); err != nil {
		t.Fatal(err)
	}
	if err := elsewhere.Touch(ctx, team.Principal{KeyID: k.ID}); err != nil {
		t.Fatal(err)
	}
	_, err := o.Key(ctx, o.team.ID, k.ID)
	wantCode(t, err, apierr.CodeNotFound)
}

func TestSecretsAreNotStored(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "docent.db")
	c := newClock("2026-11-21T20:00:00Z")
	store, err := bolt.Open(path, bolt.Options{Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	o := openOn(t, store, c)
	var texts []string
	for _, kind := range []team.Kind{team.KindPersonal, team.KindTeam, team.KindSCIM} {
		k, text := o.key(t, team.NewKey{Kind: kind, Name: "a name to find"})
		_, rotated, err := o.RotateKey(t.Context(), o.team.ID, k.ID, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if texts = append(texts, text, rotated); kind == team.KindSCIM {
			err = o.RevokeKey(t.Context(), o.team.ID, k.ID)
		} else {
			_, err = o.Authenticate(t.Context(), text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(raw), "a name to find") {
		t.Fatal("the file is not as it was written, so this test finds nothing")
	}
	for _, text := range texts {
		_, _, secret, ok := team.ParseKey(text)
		if !ok {
			t.Fatalf("malformed key %s", text)
		}
		for from := 0; from+12 <= len(secret); from++ {
			if strings.Contains(string(raw), secret[from:from+12]) {
				t.Fatal("a part of a secret is in the file")
			}
		}
	}
}

func TestDayOfAPersonalKey(t *testing.T) {
	t.Parallel()
	o := open(t)
	o.clock.Advance(time.Date(2026, 11, 22, 7, 59, 50, 0, time.UTC).Sub(o.Now()))
	today := quota.Day(o.Now())
	_, text := o.key(t, team.NewKey{Kind: team.KindPersonal})
	_, second := o.key(t, team.NewKey{Kind: team.KindPersonal})
	for i := range int64(1000) {
		a, err := o.Authenticate(t.Context(), text)
		if err != nil || len(a.Quotas) != 1 || a.Quotas[0] != quota.Calls(today, i+1) {
			t.Fatalf("call %d: %+v, %v", i+1, a, err)
		}
	}
	for range 2 {
		_, err := o.Authenticate(t.Context(), text)
		var exceeded *quota.ExceededError
		if !errors.As(err, &exceeded) || exceeded.State != quota.Calls(today, 1000) || !apierr.IsCode(err, apierr.CodeQuotaExceeded) {
			t.Fatalf("call beyond 1,000: %v", err)
		}
	}
	if _, err := o.another().Authenticate(t.Context(), text); !apierr.IsCode(err, apierr.CodeQuotaExceeded) {
		t.Errorf("call beyond 1,000, read again: %v", err)
	}
	if a, err := o.Authenticate(t.Context(), second); err != nil || a.Quotas[0].Used != 1 {
		t.Errorf("the user's other key: %+v, %v", a, err)
	}
	o.clock.Advance(10*time.Second - time.Nanosecond)
	if _, err := o.Authenticate(t.Context(), text); !apierr.IsCode(err, apierr.CodeQuotaExceeded) {
		t.Errorf("just before midnight: %v", err)
	}
	o.clock.Advance(time.Nanosecond)
	tomorrow := quota.Day(today.Reset)
	if a, err := o.Authenticate(t.Context(), text); err != nil || a.Quotas[0] != quota.Calls(tomorrow, 1) {
		t.Errorf("at midnight: %+v, %v", a, err)
	}
}

// What Admit refuses is not counted, and a wrong secret never asks it, so that nobody uses up
// another team's limit.
func TestAdmitDecidesBeforeTheCount(t *testing.T) {
	t.Parallel()
	o := open(t)
	refusal := errors.New("too many")
	limit := quota.State{Name: "limit"}
	asked, refuse := 0, false
	var key team.APIKey
	o.Admit = func(teamID, keyID string) ([]quota.State, error) {
		asked++
		if teamID != o.team.ID || keyID != key.ID {
			t.Errorf("asked for %s, %s", teamID, keyID)
		}
		if refuse {
			return nil, refusal
		}
		return []quota.State{limit}, nil
	}
	key, text := o.key(t, team.NewKey{Kind: team.KindPersonal})
	for n := range 3 {
		refuse = n == 1
		got, err := o.Authenticate(t.Context(), text)
		if refuse {
			if !errors.Is(err, refusal) || got.Principal.TeamID != o.team.ID || got.Principal.KeyID != key.ID {
				t.Errorf("refused: %+v, %v", got.Principal, err)
			}
			continue
		}
		if err != nil || len(got.Quotas) != 2 || got.Quotas[0].Used != int64(1+n/2) || got.Quotas[1] != limit {
			t.Errorf("call %d: %+v, %v", n, got.Quotas, err)
		}
	}
	if _, err := o.Authenticate(t.Context(), text+"x"); !apierr.IsCode(err, apierr.CodeUnauthorized) || asked != 3 {
		t.Errorf("a wrong secret: %v, asked %d times", err, asked)
	}
}
