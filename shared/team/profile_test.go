package team_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"docent/shared/apierr"
	"docent/shared/table"
	"docent/shared/team"
)

// profile stores a user with these attributes.
func (o *fixture) profile(t *testing.T, attributes string) team.Profile {
	t.Helper()
	p, err := o.NewProfile(json.RawMessage(attributes))
	if err == nil {
		err = o.InsertProfile(t.Context(), o.team.ID, p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// change gives a user other attributes.
func (o *fixture) change(t *testing.T, p team.Profile, attributes string) (team.Profile, error) {
	t.Helper()
	after, err := o.Changed(p, json.RawMessage(attributes))
	if err != nil {
		t.Fatal(err)
	}
	return after, o.ReplaceProfile(t.Context(), o.team.ID, p, after)
}

// found fails unless the field finds exactly these users.
func (o *fixture) found(t *testing.T, by team.Field, value string, want ...string) {
	t.Helper()
	got, err := o.FindUsers(t.Context(), o.team.ID, by, value)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("by %s %q: %v, %v, want %v", by, value, got, err, want)
	}
}

func TestUserIsReadFromAttributes(t *testing.T) {
	t.Parallel()
	o := open(t)
	for attributes, want := range map[string]team.User{
		`{"userName":"a"}`: {UserName: "a", DisplayName: "a", Role: team.RoleMember, Active: true},
		`{"userName":"b","displayName":"B","active":false,"roles":[{"value":"x"},{"value":"ADMIN"}]}`: {UserName: "b", DisplayName: "B", Role: team.RoleAdmin},
	} {
		p := o.profile(t, attributes)
		want.ID, want.CreatedAt = p.ID, p.CreatedAt
		got, err := o.User(t.Context(), o.team.ID, p.ID)
		whole, errWhole := o.Profile(t.Context(), o.team.ID, p.ID)
		if err != nil || errWhole != nil || got != want || whole.User != want || string(whole.Attributes) != attributes || whole.Version != 1 {
			t.Errorf("%s: %+v %v, %+v %v", attributes, got, err, whole, errWhole)
		}
	}
	for _, attributes := range []string{`{}`, `{"userName":" "}`, `{"userName":"a\u0000"}`, `{"userName":"` + strings.Repeat("a", 257) + `"}`} {
		_, err := o.NewProfile(json.RawMessage(attributes))
		wantCode(t, err, apierr.CodeInvalidRequest)
	}
	_, err := o.NewProfile(json.RawMessage(`{"userName":"a","title":"` + strings.Repeat("a", team.MaxAttributes) + `"}`))
	wantCode(t, err, apierr.CodeTooLarge)
}

func TestUsersAreFoundByValue(t *testing.T) {
	t.Parallel()
	o := open(t)
	p := o.profile(t, `{"userName":"Grace","externalId":"X1","displayName":"G. H.","emails":[{"value":"G@x.test"},{"value":"h@x.test"}]}`)
	long := strings.Repeat("long", 2000)
	q := o.profile(t, `{"userName":"g. h.","externalId":"X1","displayName":"`+long+`"}`)
	o.found(t, team.ByUserName, "GRACE", p.ID)
	o.found(t, team.ByExternalID, "X1", p.ID, q.ID)
	o.found(t, team.ByExternalID, "x1")
	o.found(t, team.ByEmail, "g@X.test", p.ID)
	o.found(t, team.ByDisplayName, "g. H.", p.ID, q.ID) // q by its userName, which its own displayName hides from users but not from the index
	o.found(t, team.ByDisplayName, strings.ToUpper(long), q.ID)
	o.found(t, team.ByUserName, "\x00")

	p, err := o.change(t, p, `{"userName":"GRACE","displayName":"Hopper","active":false,"emails":[{"value":"h@x.test"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	o.found(t, team.ByUserName, "grace", p.ID)
	o.found(t, team.ByExternalID, "X1", q.ID)
	o.found(t, team.ByEmail, "g@x.test")
	o.found(t, team.ByEmail, "h@x.test", p.ID)
	if got, err := o.InactiveUsers(t.Context(), o.team.ID); err != nil || !slices.Equal(got, []string{p.ID}) {
		t.Errorf("inactive: %v, %v", got, err)
	}
	names, err := o.UserNames(t.Context(), o.team.ID)
	if err != nil || len(names) != 3 || names[0].ID != o.admin.ID || names[1].ID != p.ID || names[2].ID != q.ID {
		t.Errorf("names: %v, %v", names, err)
	}
	if err := o.DeleteProfile(t.Context(), o.team.ID, p); err != nil {
		t.Fatal(err)
	}
	o.found(t, team.ByUserName, "grace")
	o.found(t, team.ByEmail, "h@x.test")
	if got, _ := o.InactiveUsers(t.Context(), o.team.ID); got != nil {
		t.Errorf("inactive: %v", got)
	}
	_, err = o.Profile(t.Context(), o.team.ID, p.ID)
	wantCode(t, err, apierr.CodeNotFound)
	if departed, err := o.DeletionPending(t.Context(), o.team.ID, p.ID); !departed || err != nil {
		t.Errorf("departed: %v, %v", departed, err)
	}
	if err := o.FinishDeletion(t.Context(), o.team.ID, p.ID); err != nil {
		t.Fatal(err)
	}
	if departed, err := o.DeletionPending(t.Context(), o.team.ID, p.ID); departed || err != nil {
		t.Errorf("departed: %v, %v", departed, err)
	}
	o.profile(t, `{"userName":"grace"}`) // the name is free
}

func TestRenames(t *testing.T) {
	t.Parallel()
	o := open(t)
	a, b := o.profile(t, `{"userName":"a"}`), o.profile(t, `{"userName":"b"}`)
	if _, err := o.change(t, a, `{"userName":"B"}`); !errors.Is(err, team.ErrUserNameTaken) {
		t.Errorf("a taken name: %v", err)
	}
	renamed, err := o.change(t, a, `{"userName":"c"}`)
	if err != nil || renamed.Version != 2 {
		t.Fatal(renamed, err)
	}
	if _, err := o.change(t, a, `{"userName":"d"}`); !errors.Is(err, table.ErrConflict) {
		t.Errorf("a change of an old version: %v", err)
	}
	if _, err := o.change(t, b, `{"userName":"A"}`); err != nil {
		t.Errorf("the freed name: %v", err)
	}
	// Two parallel creates of one name: one succeeds.
	var wg sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		p := o.profile(t, fmt.Sprintf(`{"userName":"n%d"}`, i))
		wg.Go(func() { _, errs[i] = o.change(t, p, `{"userName":"same"}`) })
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else if !errors.Is(err, team.ErrUserNameTaken) {
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d of 16 got the name", won)
	}
}

// TestLastAdminStays: however two admins are demoted, deactivated or deleted in parallel, one
// stays.
func TestLastAdminStays(t *testing.T) {
	t.Parallel()
	o := open(t)
	boss, err := o.Profile(t.Context(), o.team.ID, o.admin.ID)
	if err != nil {
		t.Fatal(err)
	}
	ways := map[string]func(p team.Profile) error{
		"demote": func(p team.Profile) error { _, err := o.change(t, p, `{"userName":"`+p.UserName+`"}`); return err },
		"deactivate": func(p team.Profile) error {
			_, err := o.change(t, p, `{"userName":"`+p.UserName+`","active":false,"roles":[{"value":"admin"}]}`)
			return err
		},
		"delete": func(p team.Profile) error { return o.DeleteProfile(t.Context(), o.team.ID, p) },
	}
	for name, way := range ways {
		if err := way(boss); !errors.Is(err, team.ErrLastAdmin) {
			t.Errorf("%s the only admin: %v", name, err)
		}
	}
	o.profile(t, `{"userName":"off","active":false,"roles":[{"value":"admin"}]}`)
	if err := ways["delete"](boss); !errors.Is(err, team.ErrLastAdmin) {
		t.Errorf("an inactive admin counts: %v", err)
	}
	for name, way := range ways {
		second := o.profile(t, `{"userName":"second `+name+`","roles":[{"value":"admin"}]}`)
		if err := way(second); err != nil {
			t.Errorf("%s one of two admins: %v", name, err)
		}
	}
	second := o.profile(t, `{"userName":"second","roles":[{"value":"admin"}]}`)
	var wg sync.WaitGroup
	var errs [2]error
	for i, p := range []team.Profile{boss, second} {
		wg.Go(func() { errs[i] = ways["delete"](p) })
	}
	wg.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs[:]...), team.ErrLastAdmin) {
		t.Errorf("two admins deleted at once: %v", errs)
	}
}

func TestDeactivationEndsKeysForGood(t *testing.T) {
	t.Parallel()
	o := open(t)
	p := o.profile(t, `{"userName":"grace"}`)
	_, text := o.key(t, team.NewKey{Kind: team.KindPersonal, UserID: p.ID})
	off, err := o.change(t, p, `{"userName":"grace","active":false}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.change(t, off, `{"userName":"grace","active":true}`); err != nil {
		t.Fatal(err)
	}
	_, err = o.another().Authenticate(t.Context(), text)
	wantCode(t, err, apierr.CodeUnauthorized)
}

// TestActivationEndsTheKeysThatACutOffDeactivationLeft: the user was stored as
// inactive, and the process died before its keys were revoked.
func TestActivationEndsTheKeysThatACutOffDeactivationLeft(t *testing.T) {
	t.Parallel()
	o := open(t)
	p := o.profile(t, `{"userName":"grace"}`)
	_, text := o.key(t, team.NewKey{Kind: team.KindPersonal, UserID: p.ID})
	off := p.User
	off.Active = false
	if err := o.PutUser(t.Context(), o.team.ID, off); err != nil {
		t.Fatal(err)
	}
	stored, err := o.Profile(t.Context(), o.team.ID, p.ID)
	if err != nil || stored.Active {
		t.Fatalf("stored %+v, %v", stored, err)
	}
	if _, err := o.change(t, stored, `{"userName":"grace","active":true}`); err != nil {
		t.Fatal(err)
	}
	_, err = o.another().Authenticate(t.Context(), text)
	wantCode(t, err, apierr.CodeUnauthorized)
}
