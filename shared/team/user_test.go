package team_test

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"

	"docent/shared/apierr"
	"docent/shared/table"
	"docent/shared/team"
	"docent/shared/team/teamtest"
)

func TestCreateTeam(t *testing.T) {
	t.Parallel()
	o := open(t)
	if o.team.Name != "Acme" || o.team.WebFetch || o.admin.Role != team.RoleAdmin || !o.admin.Active {
		t.Errorf("made %+v with %+v", o.team, o.admin)
	}
	if got, err := o.Team(t.Context(), o.team.ID); err != nil || got != o.team {
		t.Errorf("Team = %+v, %v; want %+v", got, err, o.team)
	}
	if got, err := o.User(t.Context(), o.team.ID, o.admin.ID); err != nil || got != o.admin {
		t.Errorf("User = %+v, %v; want %+v", got, err, o.admin)
	}
	other, _, err := o.CreateTeam(t.Context(), "Acme", "ada@example.com")
	if err != nil {
		t.Fatalf("a second team with the same names: %v", err)
	}
	teams, err := o.Teams(t.Context())
	if err != nil || len(teams) != 2 || teams[0] != o.team || teams[1] != other {
		t.Errorf("Teams = %+v, %v", teams, err)
	}
}

// TestUpdateThatChangesNothingWritesNothing: repeating an update records no event.
func TestUpdateThatChangesNothingWritesNothing(t *testing.T) {
	t.Parallel()
	o, store := openWatched(t)
	writes := 0
	store.write = func() { writes++ }
	const name = "Acme Inc."
	for range 2 {
		got, err := o.UpdateTeam(t.Context(), o.team.ID, func(f *team.Fields) { f.Name, f.WebFetch = name, true })
		if err != nil || got.Name != name || !got.WebFetch {
			t.Fatalf("UpdateTeam = %+v, %v", got, err)
		}
	}
	if writes != 1 {
		t.Errorf("%d writes, want 1", writes)
	}
}

func TestBoundsOfTeamsAndUsers(t *testing.T) {
	t.Parallel()
	o := open(t)
	for _, c := range []struct {
		name, team, user string
		ok               bool
	}{
		{"shortest", "x", "x", true},
		{"longest, in code points", strings.Repeat("ü", 100), strings.Repeat("𝄞", 256), true},
		{"empty team", "", "x", false},
		{"long team", strings.Repeat("x", 101), "x", false},
		{"team with NUL", "a\x00", "x", false},
		{"team not UTF-8", "\xff", "x", false},
		{"empty user", "x", "", false},
		{"blank user", "x", " \u00a0", false},
		{"long user", "x", strings.Repeat("x", 257), false},
		{"user not UTF-8", "x", "a\xff", false},
		{"user with NUL", "x", "a\x00", false},
		{"user with newline", "x", "a\nb", false},
	} {
		_, _, err := o.CreateTeam(t.Context(), c.team, c.user)
		if c.ok != (err == nil) || !c.ok && !apierr.IsCode(err, apierr.CodeInvalidRequest) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestTeamKeepsANameWithControlCharacters: earlier versions took them. Another field can be changed.
func TestTeamKeepsANameWithControlCharacters(t *testing.T) {
	t.Parallel()
	o := open(t)
	item, err := o.Table.Get(t.Context(), table.Key{Table: table.Identities, Partition: o.team.ID, Sort: "team"})
	if err != nil {
		t.Fatal(err)
	}
	item.Body = bytes.Replace(item.Body, []byte(`"Acme"`), []byte(`"Ac\u0007me"`), 1)
	if err := o.Table.Write(t.Context(), table.Put{Item: item}); err != nil {
		t.Fatal(err)
	}
	got, err := o.UpdateTeam(t.Context(), o.team.ID, func(f *team.Fields) { f.WebFetch = true })
	if err != nil || got.Name != "Ac\ame" || !got.WebFetch {
		t.Errorf("UpdateTeam = %+v, %v", got, err)
	}
	if _, err := o.UpdateTeam(t.Context(), o.team.ID, func(f *team.Fields) { f.Name = "Ac\nme" }); !apierr.IsCode(err, apierr.CodeInvalidRequest) {
		t.Errorf("another name: %v", err)
	}
}

func TestUserNamesAreUniqueWithoutCase(t *testing.T) {
	t.Parallel()
	o := open(t)
	if _, err := teamtest.CreateUser(t.Context(), o.Service, o.team.ID, "ADA@example.COM", team.RoleMember); !errors.Is(err, team.ErrUserNameTaken) {
		t.Errorf("second Ada: %v", err)
	}
	if got, err := o.UserByName(t.Context(), o.team.ID, "aDA@eXAMPLE.com"); err != nil || got != o.admin {
		t.Errorf("UserByName = %+v, %v", got, err)
	}
}

func TestRacingUsersOfOneName(t *testing.T) {
	t.Parallel()
	o := open(t)
	var wg sync.WaitGroup
	made := make([]team.User, 32)
	errs := make([]error, 32)
	for i := range 32 {
		wg.Go(func() {
			name := []string{"grace", "GRACE", "Grace", "gRACe"}[i%4]
			made[i], errs[i] = teamtest.CreateUser(t.Context(), o.Service, o.team.ID, name, team.RoleMember)
		})
	}
	wg.Wait()
	won := 0
	for i, err := range errs {
		if err == nil {
			won++
			if got, err := o.UserByName(t.Context(), o.team.ID, "grace"); err != nil || got != made[i] {
				t.Errorf("UserByName = %+v, %v; want %+v", got, err, made[i])
			}
		} else if !errors.Is(err, team.ErrUserNameTaken) {
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d of 32 created the user", won)
	}
}

func TestUnknownTeamsAndUsers(t *testing.T) {
	t.Parallel()
	o := open(t)
	rival, _, err := o.CreateTeam(t.Context(), "Rival", "eve")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", "x", "\x00", "teams", newID()} {
		_, err := o.Team(t.Context(), id)
		wantCode(t, err, apierr.CodeNotFound)
		_, err = o.User(t.Context(), o.team.ID, id)
		wantCode(t, err, apierr.CodeNotFound)
	}
	_, err = o.User(t.Context(), rival.ID, o.admin.ID)
	wantCode(t, err, apierr.CodeNotFound)
	for _, name := range []string{"", "nobody", "a\x00", o.admin.UserName} {
		_, err = o.UserByName(t.Context(), rival.ID, name)
		wantCode(t, err, apierr.CodeNotFound)
	}
}

// TestFirstAdminHasWhatImportersNeed: a user of whom only the name is known gets a given name,
// a family name and an address made from it.
func TestFirstAdminHasWhatImportersNeed(t *testing.T) {
	t.Parallel()
	o := open(t)
	for userName, want := range map[string]string{
		"ada@acme.test": `{"emails":[{"primary":true,"type":"work","value":"ada@acme.test"}],"name":{"familyName":"Ada","givenName":"Ada"},"roles":[{"value":"admin"}],"userName":"ada@acme.test"}`,
		"élise.de-la_tour@x.test": `{"emails":[{"primary":true,"type":"work","value":"élise.de-la_tour@x.test"}],` +
			`"name":{"familyName":"Tour","givenName":"Élise"},"roles":[{"value":"admin"}],"userName":"élise.de-la_tour@x.test"}`,
		"root":   `{"name":{"familyName":"Root","givenName":"Root"},"roles":[{"value":"admin"}],"userName":"root"}`,
		"@x":     `{"roles":[{"value":"admin"}],"userName":"@x"}`,
		"a@":     `{"name":{"familyName":"A","givenName":"A"},"roles":[{"value":"admin"}],"userName":"a@"}`,
		"\\..\"": `{"roles":[{"value":"admin"}],"userName":"\\..\""}`,
	} {
		made, u, err := o.CreateTeam(t.Context(), "Rival", userName)
		if err != nil {
			t.Fatal(err)
		}
		p, err := o.Profile(t.Context(), made.ID, u.ID)
		if err != nil || string(p.Attributes) != want {
			t.Errorf("%s: %s, %v", userName, p.Attributes, err)
		}
	}
}
