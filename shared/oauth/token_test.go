package oauth_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/clocktest"
	"docent/shared/oauth"
	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
	"docent/shared/team"
)

// interrupted is a store that calls after, once, when an authorization code has been read.
type interrupted struct {
	table.Store
	after func()
}

func (s *interrupted) Get(ctx context.Context, k table.Key, options ...table.ReadOption) (table.Item, error) {
	item, err := s.Store.Get(ctx, k, options...)
	if after := s.after; after != nil && strings.HasPrefix(k.Partition, "oauth-code/") {
		s.after = nil
		after()
	}
	return item, err
}

const redirect = "https://assistant.example/callback"

type fixture struct {
	*oauth.Service
	store  *interrupted
	client oauth.Client
	person team.Principal
}

func open(t *testing.T) *fixture {
	t.Helper()
	clock := clocktest.New(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	store := &interrupted{Store: bolttest.OpenAt(t, clock.Now)}
	teams := &team.Service{Table: store, Now: clock.Now, NewID: func() string { return uuid.Must(uuid.NewV7()).String() }}
	of, admin, err := teams.CreateTeam(t.Context(), "acme", "ada@acme.test")
	if err != nil {
		t.Fatal(err)
	}
	client, err := oauth.Register("Assistant", []string{redirect})
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{&oauth.Service{Table: store, Teams: teams, Now: clock.Now, Issuer: "https://docent.test/v1"}, store, client,
		team.Principal{TeamID: of.ID, UserID: admin.ID, UserName: admin.UserName}}
}

// exchange redeems the code of allow with the verifier.
func (f *fixture) exchange(t *testing.T, code, verifier string) error {
	t.Helper()
	_, err := f.Exchange(t.Context(), url.Values{"grant_type": {"authorization_code"}, "client_id": {f.client.ID()},
		"redirect_uri": {redirect}, "code": {code}, "code_verifier": {verifier}})
	return err
}

// allow returns the code for the consent of the person, to a program that has the verifier.
func (f *fixture) allow(t *testing.T, verifier string) string {
	t.Helper()
	sum := sha256.Sum256([]byte(verifier))
	to, err := f.Allow(t.Context(), f.person, oauth.Request{ResponseType: "code", ClientID: f.client.ID(), RedirectURI: redirect,
		Challenge: base64.RawURLEncoding.EncodeToString(sum[:]), ChallengeKind: "S256"})
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	return address.Query().Get("code")
}

func isRefused(err error) bool {
	var e *oauth.Error
	return errors.As(err, &e) && e.Code == oauth.InvalidGrant
}

func TestOneOfTwoExchangesOfACode(t *testing.T) {
	t.Parallel()
	f := open(t)
	verifier := strings.Repeat("v", 43)
	code := f.allow(t, verifier)
	f.store.after = func() {
		if err := f.exchange(t, code, verifier); err != nil {
			t.Errorf("the exchange in between: %v", err)
		}
	}
	if err := f.exchange(t, code, verifier); !isRefused(err) {
		t.Errorf("an exchange that read the code before it was taken: %v", err)
	}
	agents, err := f.Teams.Agents(t.Context(), f.person.TeamID, f.person.UserID)
	if err != nil || len(agents) != 1 {
		t.Errorf("agents %+v, %v; want the one of the first exchange", agents, err)
	}
}

// TestLengthsOfVerifiers: RFC 7636 section 4.1. A shorter verifier may be guessed from its challenge.
func TestLengthsOfVerifiers(t *testing.T) {
	t.Parallel()
	f := open(t)
	for length, want := range map[int]bool{42: false, 43: true, 128: true, 129: false} {
		verifier := strings.Repeat("v", length)
		err := f.exchange(t, f.allow(t, verifier), verifier)
		if want && err != nil || !want && !isRefused(err) {
			t.Errorf("a verifier of %d characters: %v", length, err)
		}
	}
}
