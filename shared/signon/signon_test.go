package signon_test

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/apierr"
	"docent/shared/clocktest"
	"docent/shared/scim/scimtest"
	"docent/shared/signon"
	"docent/shared/table/bolt/bolttest"
	"docent/shared/team"
	"docent/shared/team/teamtest"
)

// provider authenticates everybody as who.
type provider struct {
	who   signon.Identity
	state string
}

func (p *provider) Begin(_ context.Context, _ signon.Party, _ *signon.Request, state string) (signon.Redirect, error) {
	p.state = state
	return signon.Redirect{URL: "https://idp.test/"}, nil
}

func (p *provider) Finish(context.Context, signon.Party, signon.Request, url.Values) (signon.Identity, error) {
	return p.who, nil
}

type fixture struct {
	*signon.Service
	*provider
	team  team.Team
	admin team.User
	clock *clocktest.Clock
}

func open(t *testing.T) *fixture {
	t.Helper()
	clock := clocktest.New(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	store := bolttest.OpenAt(t, clock.Now)
	teams := &team.Service{Table: store, Now: clock.Now, NewID: func() string { return uuid.Must(uuid.NewV7()).String() }}
	f := &fixture{provider: &provider{}, clock: clock}
	keep := func(_ context.Context, secret []byte, _ string) ([]byte, error) { return secret, nil }
	f.Service = &signon.Service{Table: store, Teams: teams, Now: clock.Now, BaseURL: "https://docent.test/v1", Seal: keep, Open: keep,
		Protocols: map[signon.Method]signon.Protocol{signon.OIDC: f.provider, signon.SAML: f.provider}}
	var err error
	if f.team, f.admin, err = teams.CreateTeam(t.Context(), "acme", "Ada@Acme.test"); err != nil {
		t.Fatal(err)
	}
	if _, err = f.SetClient(t.Context(), f.team.ID, "https://idp.test", "docent", nil); err == nil {
		_, err = f.Update(t.Context(), f.team.ID, func(s *signon.Fields) { s.Method = signon.OIDC })
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// come signs in and returns the user, or why that fails.
func (f *fixture) come(t *testing.T, who signon.Identity) (string, signon.Reason) {
	t.Helper()
	f.who = who
	browser := signon.NewSecret()
	_, err := f.Begin(t.Context(), f.team.ID, browser, "")
	if err != nil {
		return "", reason(t, err)
	}
	ticket, _, err := f.Service.Finish(t.Context(), f.team.ID, signon.OIDC, url.Values{"state": {f.state}})
	if err != nil {
		return "", reason(t, err)
	}
	opened, _, err := f.Redeem(t.Context(), f.team.ID, ticket, browser, "Firefox")
	return opened.UserID, reason(t, err)
}

func (f *fixture) Begin(ctx context.Context, teamID, browser, testBy string) (signon.Redirect, error) {
	return f.Service.Begin(ctx, teamID, browser, testBy)
}

func (f *fixture) Finish(ctx context.Context, teamID string, m signon.Method, values url.Values) (string, signon.Request, error) {
	return f.Service.Finish(ctx, teamID, m, values)
}

func reason(t *testing.T, err error) signon.Reason {
	t.Helper()
	var f *signon.Failure
	if err != nil && !errors.As(err, &f) {
		t.Fatal(err)
	}
	if f == nil {
		return ""
	}
	return f.Reason
}

func TestSubjectStaysItsUser(t *testing.T) {
	t.Parallel()
	f := open(t)
	grace, err := teamtest.CreateUser(t.Context(), f.Teams, f.team.ID, "grace@acme.test", team.RoleMember)
	if err != nil {
		t.Fatal(err)
	}
	const idp = "https://idp.test"
	unread := &signon.Failure{Reason: signon.ProviderDown}
	for _, c := range []struct {
		name   string
		who    signon.Identity
		user   string
		reason signon.Reason
	}{
		{"first, without a verified address", signon.Identity{Issuer: idp, Subject: "1"}, "", signon.EmailNotVerified},
		{"first, with an address that could not be read", signon.Identity{Issuer: idp, Subject: "1", Unnamed: unread}, "", signon.ProviderDown},
		{"first, with the address of nobody", signon.Identity{Issuer: idp, Subject: "1", Name: "eve@acme.test"}, "", signon.UserUnknown},
		{"first, in another case", signon.Identity{Issuer: idp, Subject: "1", Name: "ADA@acme.test"}, f.admin.ID, ""},
		{"later, without an address", signon.Identity{Issuer: idp, Subject: "1"}, f.admin.ID, ""},
		{"later, with an address that could not be read", signon.Identity{Issuer: idp, Subject: "1", Unnamed: unread}, f.admin.ID, ""},
		{"later, with the address of another", signon.Identity{Issuer: idp, Subject: "1", Name: "grace@acme.test"}, f.admin.ID, ""},
		{"another person with her address", signon.Identity{Issuer: idp, Subject: "2", Name: "ada@acme.test"}, "", signon.UserTaken},
		{"the same subject at another provider", signon.Identity{Issuer: "https://other.test", Subject: "1", Name: "grace@acme.test"}, grace.ID, ""},
		{"another user", signon.Identity{Issuer: idp, Subject: "3", Name: "grace@acme.test"}, grace.ID, ""},
	} {
		if user, refused := f.come(t, c.who); user != c.user || refused != c.reason {
			t.Errorf("%s: %q, %q; want %q, %q", c.name, user, refused, c.user, c.reason)
		}
	}
	p, err := f.Teams.Profile(t.Context(), f.team.ID, grace.ID)
	if err == nil {
		err = f.Teams.DeleteProfile(t.Context(), f.team.ID, p)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, refused := f.come(t, signon.Identity{Issuer: idp, Subject: "3"}); refused != signon.EmailNotVerified {
		t.Errorf("the subject of a deleted user: %q", refused)
	}
	again, err := teamtest.CreateUser(t.Context(), f.Teams, f.team.ID, "grace@acme.test", team.RoleMember)
	if err != nil {
		t.Fatal(err)
	}
	if user, refused := f.come(t, signon.Identity{Issuer: idp, Subject: "3", Name: "grace@acme.test"}); user != again.ID || refused != "" {
		t.Errorf("a user who was provisioned again: %q, %q", user, refused)
	}
}

func TestAssertionIsUsedOnce(t *testing.T) {
	t.Parallel()
	f := open(t)
	who := signon.Identity{Issuer: "https://idp.test", Name: "ada@acme.test", ProofID: "a1", ProofEnd: f.clock.Now().Add(5 * time.Minute)}
	if _, refused := f.come(t, who); refused != "" {
		t.Fatal(refused)
	}
	if _, refused := f.come(t, who); refused != signon.Replayed {
		t.Errorf("replay: %q", refused)
	}
	f.clock.Advance(4 * time.Minute)
	if _, refused := f.come(t, who); refused != signon.Replayed {
		t.Errorf("replay before it ends: %q", refused)
	}
}

// TestOneOfManyFinishes sends the same answer, and redeems the same ticket, many times at once.
func TestOneOfManyFinishes(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.who = signon.Identity{Issuer: "https://idp.test", Name: "ada@acme.test"}
	browser := signon.NewSecret()
	if _, err := f.Begin(t.Context(), f.team.ID, browser, ""); err != nil {
		t.Fatal(err)
	}
	atOnce := func(do func() error, refused signon.Reason) {
		var all sync.WaitGroup
		var good atomic.Int32
		for range 16 {
			all.Go(func() {
				err := do()
				var failure *signon.Failure
				switch {
				case err == nil:
					good.Add(1)
				case !errors.As(err, &failure) || failure.Reason != refused:
					t.Errorf("%v", err)
				}
			})
		}
		all.Wait()
		if good.Load() != 1 {
			t.Errorf("%d of 16 succeeded", good.Load())
		}
	}
	var ticket atomic.Value
	atOnce(func() error {
		text, _, err := f.Finish(t.Context(), f.team.ID, signon.OIDC, url.Values{"state": {f.state}})
		if err == nil {
			ticket.Store(text)
		}
		return err
	}, signon.RequestUnknown)
	atOnce(func() error {
		_, _, err := f.Redeem(t.Context(), f.team.ID, ticket.Load().(string), browser, "Firefox")
		return err
	}, signon.TicketUnknown)
}

func TestAnswersOfTheOtherMethod(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.who = signon.Identity{Issuer: "https://idp.test", Name: "ada@acme.test"}
	if _, err := f.Begin(t.Context(), f.team.ID, signon.NewSecret(), ""); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Finish(t.Context(), f.team.ID, signon.SAML, url.Values{"RelayState": {f.state}}); reason(t, err) != signon.RequestUnknown {
		t.Errorf("%v", err)
	}
	if err := f.RemoveClient(t.Context(), f.team.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Begin(t.Context(), f.team.ID, signon.NewSecret(), ""); reason(t, err) != signon.NotConfigured {
		t.Errorf("without a provider: %v", err)
	}
	if _, err := f.Update(t.Context(), f.team.ID, func(s *signon.Fields) { s.Required = true }); !apierr.IsCode(err, apierr.CodeSignOnNotTested) {
		t.Errorf("required without a provider: %v", err)
	}
}

// TestATicketIsOfItsTeam: a ticket opens no session at the address of another team, and is used up there.
func TestATicketIsOfItsTeam(t *testing.T) {
	t.Parallel()
	f := open(t)
	other, _, err := f.Teams.CreateTeam(t.Context(), "rival", "eve@rival.test")
	if err != nil {
		t.Fatal(err)
	}
	f.who = signon.Identity{Issuer: "https://idp.test", Name: "ada@acme.test"}
	browser := signon.NewSecret()
	if _, err := f.Begin(t.Context(), f.team.ID, browser, ""); err != nil {
		t.Fatal(err)
	}
	ticket, _, err := f.Finish(t.Context(), f.team.ID, signon.OIDC, url.Values{"state": {f.state}})
	if err != nil {
		t.Fatal(err)
	}
	for _, teamID := range []string{other.ID, f.team.ID} {
		if _, _, err := f.Redeem(t.Context(), teamID, ticket, browser, "Firefox"); reason(t, err) != signon.TicketUnknown {
			t.Errorf("%v", err)
		}
	}
}

// TestAMethodThatIsChangedMeanwhile: an answer of the provider that the team has left since signs nobody in.
func TestAMethodThatIsChangedMeanwhile(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.who = signon.Identity{Issuer: "https://idp.test", Name: "ada@acme.test"}
	if _, err := f.Begin(t.Context(), f.team.ID, signon.NewSecret(), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Teams.SetSAML(t.Context(), f.team.ID, team.SAMLProvider{EntityID: "https://idp.test/"}, []byte(scimtest.Metadata)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Update(t.Context(), f.team.ID, func(s *signon.Fields) { s.Method = signon.SAML }); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Finish(t.Context(), f.team.ID, signon.OIDC, url.Values{"state": {f.state}}); reason(t, err) != signon.RequestUnknown {
		t.Errorf("%v", err)
	}
}

// TestARequiredProviderStays: removing the provider at which everybody must sign in would leave them
// no way but the operator's link.
func TestARequiredProviderStays(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.who = signon.Identity{Issuer: "https://idp.test", Subject: "1", Name: "ada@acme.test"}
	browser := signon.NewSecret()
	if _, err := f.Begin(t.Context(), f.team.ID, browser, f.admin.ID); err != nil {
		t.Fatal(err)
	}
	ticket, _, err := f.Finish(t.Context(), f.team.ID, signon.OIDC, url.Values{"state": {f.state}})
	if err != nil {
		t.Fatal(err)
	}
	if opened, _, err := f.Redeem(t.Context(), f.team.ID, ticket, browser, "Firefox"); err != nil || !opened.Tested {
		t.Fatalf("%+v, %v", opened, err)
	}
	require := func(required bool) {
		t.Helper()
		if _, err := f.Update(t.Context(), f.team.ID, func(s *signon.Fields) { s.Required = required }); err != nil {
			t.Fatal(err)
		}
	}
	require(true)
	if err := f.RemoveClient(t.Context(), f.team.ID); !apierr.IsCode(err, apierr.CodeSignOnRequired) {
		t.Errorf("while it is required: %v", err)
	}
	if _, refused := f.come(t, f.who); refused != "" {
		t.Errorf("after the refusal: %q", refused)
	}
	choose := func(m signon.Method) error {
		_, err := f.Update(t.Context(), f.team.ID, func(s *signon.Fields) { s.Method = m })
		return err
	}
	if err := choose(signon.SAML); !apierr.IsCode(err, apierr.CodeSignOnNotConfigured) {
		t.Errorf("a method without a provider: %v", err)
	}
	if _, err := f.Teams.SetSAML(t.Context(), f.team.ID, team.SAMLProvider{EntityID: "https://idp.test/"}, []byte(scimtest.Metadata)); err != nil {
		t.Fatal(err)
	}
	if err := choose(signon.SAML); !apierr.IsCode(err, apierr.CodeSignOnNotTested) {
		t.Errorf("a method that nobody has tested, while one is required: %v", err)
	}
	if _, err := f.SetClient(t.Context(), f.team.ID, "https://idp.test", "other", nil); err != nil {
		t.Errorf("another client of the required method: %v", err)
	}
	require(false)
	if err := f.RemoveClient(t.Context(), f.team.ID); err != nil {
		t.Errorf("while it is optional: %v", err)
	}
}

// FuzzState sends any state: only the one of a sign-in in progress is known.
func FuzzState(f *testing.F) {
	for _, text := range []string{"", "state", "../../x", signon.NewSecret(), signon.NewSecret() + "=", "\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		x := open(t)
		x.who = signon.Identity{Issuer: "https://idp.test", Name: "ada@acme.test"}
		if _, err := x.Begin(t.Context(), x.team.ID, signon.NewSecret(), ""); err != nil {
			t.Fatal(err)
		}
		if _, _, err := x.Finish(t.Context(), x.team.ID, signon.OIDC, url.Values{"state": {text}}); reason(t, err) != signon.RequestUnknown {
			t.Fatalf("%q: %v", text, err)
		}
		if _, _, err := x.Redeem(t.Context(), x.team.ID, text, signon.NewSecret(), ""); reason(t, err) != signon.TicketUnknown {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
