package team_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
	"docent/shared/team"
)

const assistant = "client_assistant"

// agent connects a program for the admin.
func (o *fixture) agent(t *testing.T, client string) team.Tokens {
	t.Helper()
	tokens, err := o.ConnectAgent(t.Context(), o.team.ID, team.NewAgent{UserID: o.admin.ID, UserName: o.admin.UserName, Client: client, Name: "Assistant", Host: "assistant.example"})
	must(t, err)
	return tokens
}

// works reports whether an access token is accepted.
func (o *fixture) works(t *testing.T, access string) bool {
	t.Helper()
	_, err := o.Authenticate(t.Context(), access)
	if err != nil && !apierr.IsCode(err, apierr.CodeUnauthorized) {
		t.Fatal(err)
	}
	return err == nil
}

// TestATokenOfAClockThatWasAhead does not last until that time, when the clock is set right. Its program gets another one.
func TestATokenOfAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	o := open(t)
	o.clock.Advance(year)
	tokens := o.agent(t, assistant)
	if !o.works(t, tokens.Access) {
		t.Error("it does not work while the clock is ahead")
	}
	o.clock.Advance(20*time.Second - year) // longer than keys are remembered
	if o.works(t, tokens.Access) {
		t.Error("it works afterwards")
	}
	tokens, err := o.RefreshAgent(t.Context(), tokens.Refresh, assistant)
	must(t, err)
	if !o.works(t, tokens.Access) {
		t.Error("the next one does not work")
	}
	o.clock.Advance(team.AgentLife)
	if o.works(t, tokens.Access) {
		t.Error("the next one does not end")
	}
}

func TestAnAgentActsAsItsUserWithoutTheirRole(t *testing.T) {
	t.Parallel()
	o := open(t)
	tokens := o.agent(t, assistant)
	got, err := o.Authenticate(t.Context(), tokens.Access)
	must(t, err)
	if p := got.Principal; p.Kind != team.KindAgent || p.UserID != o.admin.ID || p.TeamID != o.team.ID || p.Admin || p.KeyName != "Assistant" {
		t.Errorf("%+v", p)
	}
	if len(got.Quotas) != 1 {
		t.Errorf("the call was counted against %d quotas", len(got.Quotas))
	}
	if o.works(t, tokens.Refresh) {
		t.Error("a refresh token is accepted as a key")
	}
	if _, err := o.AuthenticateSession(t.Context(), tokens.Access); !apierr.IsCode(err, apierr.CodeUnauthorized) {
		t.Errorf("a token as a session: %v", err)
	}
	if _, _, err := o.RotateKey(t.Context(), o.team.ID, tokens.AgentID, 0); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("rotate an agent as a key: %v", err)
	}
	if _, _, err := o.CreateKey(t.Context(), o.team.ID, team.NewKey{Kind: team.KindAgent, Name: "x", UserID: o.admin.ID}); !apierr.IsCode(err, apierr.CodeInvalidRequest) {
		t.Errorf("create an agent as a key: %v", err)
	}
}

func TestTokensAreRenewed(t *testing.T) {
	t.Parallel()
	o := open(t)
	first := o.agent(t, assistant)
	second, err := o.RefreshAgent(t.Context(), first.Refresh, assistant)
	must(t, err)
	if second.AgentID != first.AgentID || second.Access == first.Access || second.Refresh == first.Refresh {
		t.Errorf("%+v after %+v", second, first)
	}
	if !o.works(t, first.Access) || !o.works(t, second.Access) {
		t.Error("running requests need the old token for a minute")
	}
	o.clock.Advance(team.AgentLife - time.Second)
	if !o.works(t, second.Access) || o.works(t, first.Access) {
		t.Error("within its hour only the newer token works")
	}
	o.clock.Advance(time.Second)
	if o.works(t, second.Access) {
		t.Error("a token works after its hour")
	}
	o.clock.Advance(team.AgentIdle - team.AgentLife)
	if _, err := o.RefreshAgent(t.Context(), second.Refresh, assistant); !errors.Is(err, team.ErrBadRefresh) {
		t.Errorf("an expired refresh token: %v", err)
	}
}

func TestAStolenRefreshTokenEndsTheAgent(t *testing.T) {
	t.Parallel()
	o := open(t)
	first := o.agent(t, assistant)
	_, err := o.RefreshAgent(t.Context(), first.Refresh, assistant)
	must(t, err)
	again, err := o.RefreshAgent(t.Context(), first.Refresh, assistant) // the reply was lost
	must(t, err)
	if !o.works(t, again.Access) {
		t.Error("the token of a repeated request does not work")
	}
	o.clock.Advance(2 * time.Minute)
	if _, err := o.RefreshAgent(t.Context(), first.Refresh, assistant); !errors.Is(err, team.ErrBadRefresh) {
		t.Errorf("a used refresh token: %v", err)
	}
	if o.works(t, again.Access) {
		t.Error("the agent works after its refresh token was used twice")
	}
	if _, err := o.RefreshAgent(t.Context(), again.Refresh, assistant); !errors.Is(err, team.ErrBadRefresh) {
		t.Errorf("the newest refresh token: %v", err)
	}
}

// TestEachReplyToARepeatedRefreshCanBeKept: a client that sent a refresh twice can continue with either reply, whenever it refreshes next.
func TestEachReplyToARepeatedRefreshCanBeKept(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]time.Duration{"at once": 0, "within the minute": 40 * time.Second, "after its access token": team.AgentLife, "days later": 72 * time.Hour} {
		for kept := range 3 {
			t.Run(fmt.Sprintf("%s, reply %d", name, kept), func(t *testing.T) {
				t.Parallel()
				o := open(t)
				first := o.agent(t, assistant)
				var replies []team.Tokens
				for range 3 {
					reply, err := o.RefreshAgent(t.Context(), first.Refresh, assistant)
					must(t, err)
					replies = append(replies, reply)
					o.clock.Advance(5 * time.Second)
				}
				o.clock.Advance(wait)
				next, err := o.RefreshAgent(t.Context(), replies[kept].Refresh, assistant)
				if err != nil || !o.works(t, next.Access) {
					t.Fatalf("the next refresh: %v", err)
				}
				// From then on all of them are used.
				o.clock.Advance(2 * time.Minute)
				if _, err := o.RefreshAgent(t.Context(), replies[(kept+1)%3].Refresh, assistant); !errors.Is(err, team.ErrBadRefresh) || o.works(t, next.Access) {
					t.Errorf("a used one: %v", err)
				}
			})
		}
	}
}

// seed returns what an agent's record has as its seed.
func (o *fixture) seed(t *testing.T, id string) string {
	t.Helper()
	item, err := o.Table.Get(t.Context(), table.Key{Table: table.Identities, Partition: "key/" + id, Sort: "key"})
	must(t, err)
	var stored struct{ Agent struct{ Seed string } }
	must(t, json.Unmarshal(item.Body, &stored))
	return stored.Agent.Seed
}

// TestARefreshTokenCannotBeMadeFromTheOneBefore: a random seed, new with each token, is the other half.
func TestARefreshTokenCannotBeMadeFromTheOneBefore(t *testing.T) {
	t.Parallel()
	o := open(t)
	tokens := o.agent(t, assistant)
	seen := map[string]bool{}
	for range 3 {
		next, err := o.RefreshAgent(t.Context(), tokens.Refresh, assistant)
		must(t, err)
		seed := o.seed(t, tokens.AgentID)
		if len(seed) != 43 || seen[seed] {
			t.Errorf("seed %q", seed)
		}
		seen[seed] = true
		tokens = next
	}
}

// TestARefreshOfTheReleaseBeforeIsRepeated: its records have no seed.
func TestARefreshOfTheReleaseBeforeIsRepeated(t *testing.T) {
	t.Parallel()
	o := open(t)
	first := o.agent(t, assistant)
	_, err := o.RefreshAgent(t.Context(), first.Refresh, assistant)
	must(t, err)
	key := table.Key{Table: table.Identities, Partition: "key/" + first.AgentID, Sort: "key"}
	item, err := o.Table.Get(t.Context(), key)
	must(t, err)
	item.Body = bytes.Replace(item.Body, []byte(`"seed":"`+o.seed(t, first.AgentID)+`",`), nil, 1)
	must(t, o.Table.Write(t.Context(), table.Put{Item: item}))
	if o.seed(t, first.AgentID) != "" {
		t.Fatalf("%s", item.Body)
	}
	second, err := o.RefreshAgent(t.Context(), first.Refresh, assistant)
	must(t, err)
	third, err := o.RefreshAgent(t.Context(), first.Refresh, assistant)
	must(t, err)
	if second.Refresh != third.Refresh || o.seed(t, first.AgentID) == "" {
		t.Error("the requests after it get different refresh tokens")
	}
	o.clock.Advance(team.AgentLife)
	if _, err := o.RefreshAgent(t.Context(), second.Refresh, assistant); err != nil {
		t.Error(err)
	}
}

// TestAnOldRefreshTokenEndsTheAgent: whoever stole a token cannot hide it by renewing twice.
func TestAnOldRefreshTokenEndsTheAgent(t *testing.T) {
	t.Parallel()
	o := open(t)
	first := o.agent(t, assistant)
	newest := first
	for range 3 {
		var err error
		newest, err = o.RefreshAgent(t.Context(), newest.Refresh, assistant)
		must(t, err)
		o.clock.Advance(team.AgentLife)
	}
	other := o.agent(t, assistant)
	if _, err := o.RefreshAgent(t.Context(), first.Refresh, assistant); !errors.Is(err, team.ErrBadRefresh) {
		t.Errorf("a refresh token of three renewals ago: %v", err)
	}
	if _, err := o.RefreshAgent(t.Context(), newest.Refresh, assistant); !errors.Is(err, team.ErrBadRefresh) {
		t.Errorf("the newest refresh token after it: %v", err)
	}
	if !o.works(t, other.Access) {
		t.Error("another agent ended")
	}
}

// TestAnUnknownRefreshTokenEndsNothing: the id of an agent is no secret.
func TestAnUnknownRefreshTokenEndsNothing(t *testing.T) {
	t.Parallel()
	o := open(t)
	tokens := o.agent(t, assistant)
	forged := team.KeyText("refresh", tokens.AgentID, strings.Repeat("1", 43))
	if _, err := o.RefreshAgent(t.Context(), forged, assistant); !errors.Is(err, team.ErrBadRefresh) {
		t.Errorf("a token that was never issued: %v", err)
	}
	if _, err := o.RefreshAgent(t.Context(), tokens.Refresh, assistant); err != nil {
		t.Errorf("the token of the agent after it: %v", err)
	}
}

// TestARepeatedRefreshHasTheTimeOfTheFirst: repeating a request does not keep a used token alive.
func TestARepeatedRefreshHasTheTimeOfTheFirst(t *testing.T) {
	t.Parallel()
	o := open(t)
	first := o.agent(t, assistant)
	for range 3 {
		_, err := o.RefreshAgent(t.Context(), first.Refresh, assistant)
		must(t, err)
		o.clock.Advance(25 * time.Second)
	}
	if _, err := o.RefreshAgent(t.Context(), first.Refresh, assistant); !errors.Is(err, team.ErrBadRefresh) {
		t.Errorf("a refresh token 75 seconds after its use: %v", err)
	}
}

func TestOnlyTheClientRefreshes(t *testing.T) {
	t.Parallel()
	o := open(t)
	tokens := o.agent(t, assistant)
	for name, text := range map[string]string{"an access token": tokens.Access, "nothing": "", "a text": "docent_refresh_x"} {
		if _, err := o.RefreshAgent(t.Context(), text, assistant); !errors.Is(err, team.ErrBadRefresh) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := o.RefreshAgent(t.Context(), tokens.Refresh, "client_other"); !errors.Is(err, team.ErrBadRefresh) {
		t.Errorf("another client: %v", err)
	}
	if _, err := o.RefreshAgent(t.Context(), tokens.Refresh, assistant); err != nil {
		t.Errorf("after attempts of others: %v", err)
	}
}

func TestAgentsAreListedAndEnd(t *testing.T) {
	t.Parallel()
	o := open(t)
	one, two := o.agent(t, "client_1"), o.agent(t, "client_2")
	list, err := o.Agents(t.Context(), o.team.ID, o.admin.ID)
	must(t, err)
	if len(list) != 2 || list[0].Host != "assistant.example" || list[0].Name != "Assistant" {
		t.Errorf("%+v", list)
	}
	must(t, o.DisconnectAgent(t.Context(), o.team.ID, o.admin.ID, one.AgentID))
	if err := o.DisconnectAgent(t.Context(), o.team.ID, o.admin.ID, one.AgentID); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("a second time: %v", err)
	}
	s, _ := o.session(t, o.admin.ID)
	if err := o.DisconnectAgent(t.Context(), o.team.ID, o.admin.ID, s.ID); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("a session: %v", err)
	}
	if o.works(t, one.Access) || !o.works(t, two.Access) {
		t.Error("one of two agents was disconnected")
	}
	must(t, o.RevokeToken(t.Context(), two.Refresh))
	must(t, o.RevokeToken(t.Context(), two.Refresh))
	must(t, o.RevokeToken(t.Context(), "nonsense"))
	if o.works(t, two.Access) {
		t.Error("a revoked token works")
	}
	three := o.agent(t, "client_3")
	if _, err := o.RevokeUserKeys(t.Context(), o.team.ID, o.admin.ID); err != nil || o.works(t, three.Access) {
		t.Errorf("an agent works after its user's keys ended: %v", err)
	}
}

func TestAgentsOfAUserAreBounded(t *testing.T) {
	t.Parallel()
	o := open(t)
	var first team.Tokens
	for n := range team.MaxAgents + 1 {
		tokens := o.agent(t, fmt.Sprintf("client_%d", n))
		if n == 0 {
			first = tokens
		}
		o.clock.Advance(time.Second)
	}
	list, err := o.Agents(t.Context(), o.team.ID, o.admin.ID)
	must(t, err)
	if len(list) != team.MaxAgents || o.works(t, first.Access) {
		t.Errorf("%d agents, the oldest works: %v", len(list), o.works(t, first.Access))
	}
}

// TestTwoRefreshesAtOnce: both succeed, because either reply may be lost, and have the same refresh token.
func TestTwoRefreshesAtOnce(t *testing.T) {
	t.Parallel()
	o := open(t)
	tokens := o.agent(t, assistant)
	replies := make([]team.Tokens, 4)
	var all sync.WaitGroup
	for i := range replies {
		all.Go(func() {
			var err error
			if replies[i], err = o.RefreshAgent(t.Context(), tokens.Refresh, assistant); err != nil && !errors.Is(err, team.ErrBadRefresh) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	working := 0
	for _, r := range replies {
		if r.Refresh != "" && r.Refresh != replies[0].Refresh {
			t.Error("two refresh tokens")
		}
		if r.Access != "" && o.works(t, r.Access) {
			working++
		}
	}
	if working == 0 {
		t.Error("no reply has a token that works")
	}
}

// TestAgentsThatExpiredLeaveNothing: a program that connects anew every few weeks, for years, does not lengthen the list of its user's keys.
func TestAgentsThatExpiredLeaveNothing(t *testing.T) {
	t.Parallel()
	c := newClock("2026-11-21T20:00:00.123456Z")
	store := bolttest.OpenAt(t, c.Now)
	o := openOn(t, store, c)
	items := func() (n int) {
		t.Helper()
		for _, err := range store.Scan(t.Context(), table.Identities) {
			must(t, err)
			n++
		}
		return n
	}
	connect := func() {
		t.Helper()
		got, err := o.Authenticate(t.Context(), o.agent(t, assistant).Access)
		must(t, err)
		must(t, o.Touch(t.Context(), got.Principal))
	}
	connect()
	before := items()
	for range 5 {
		c.Advance(team.AgentIdle + 48*time.Hour)
		connect()
	}
	if after := items(); after > before {
		t.Errorf("%d items became %d", before, after)
	}
}
