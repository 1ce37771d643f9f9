package team_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/table"
	"docent/shared/team"
)

// opened signs the admin in with the text of a key and returns the session's text, and who it is.
func (o *fixture) opened(t *testing.T, key string) (string, team.Principal) {
	t.Helper()
	_, session, _, err := o.SignInWithKey(t.Context(), key, "Chrome")
	must(t, err)
	got, err := o.AuthenticateSession(t.Context(), session)
	must(t, err)
	return session, got.Principal
}

// agentOf connects a program in the session of p.
func (o *fixture) agentOf(t *testing.T, p team.Principal) (team.Tokens, error) {
	t.Helper()
	return o.ConnectAgent(t.Context(), p.TeamID, team.NewAgent{UserID: p.UserID, UserName: p.UserName, Client: assistant, Opener: p.Opener})
}

// agentEnded fails unless nothing of the agent works any more, nor gets another one access in the session of p.
func (o *fixture) agentEnded(t *testing.T, tokens team.Tokens, p team.Principal) {
	t.Helper()
	if _, err := o.RefreshAgent(t.Context(), tokens.Refresh, assistant); !errors.Is(err, team.ErrBadRefresh) {
		t.Errorf("refresh: %v", err)
	}
	if _, err := o.agentOf(t, p); !apierr.IsCode(err, apierr.CodeUnauthorized) {
		t.Errorf("connect another: %v", err)
	}
	if list, err := o.Agents(t.Context(), p.TeamID, p.UserID); err != nil || len(list) != 0 {
		t.Errorf("listed agents: %+v, %v", list, err)
	}
	if list, err := o.Sessions(t.Context(), p.TeamID, p.UserID); err != nil || len(list) != 0 {
		t.Errorf("listed sessions: %+v, %v", list, err)
	}
	o.clock.Advance(team.KnownFor)
	if o.works(t, tokens.Access) {
		t.Error("the access token works")
	}
}

func TestAnAgentEndsWhenTheKeyOfItsSessionIsRevoked(t *testing.T) {
	t.Parallel()
	o := open(t)
	k, text := o.key(t, team.NewKey{Kind: team.KindPersonal})
	_, p := o.opened(t, text)
	tokens, err := o.agentOf(t, p)
	must(t, err)
	if list, err := o.Agents(t.Context(), p.TeamID, p.UserID); err != nil || len(list) != 1 || !o.works(t, tokens.Access) {
		t.Errorf("before: %+v, %v", list, err)
	}
	must(t, o.RevokeKey(t.Context(), o.team.ID, k.ID))
	if _, err := o.another().Authenticate(t.Context(), tokens.Access); !apierr.IsCode(err, apierr.CodeUnauthorized) {
		t.Errorf("another service, which has not cached it: %v", err)
	}
	o.agentEnded(t, tokens, p)
}

func TestAnAgentEndsWhenTheKeyOfItsSessionExpires(t *testing.T) {
	t.Parallel()
	o := open(t)
	expires := o.Now().Add(90 * time.Minute)
	_, text := o.key(t, team.NewKey{Kind: team.KindPersonal, ExpiresAt: &expires})
	_, p := o.opened(t, text)
	first, err := o.agentOf(t, p)
	must(t, err)
	o.clock.Advance(time.Hour - time.Second)
	second, err := o.RefreshAgent(t.Context(), first.Refresh, assistant)
	must(t, err)
	if first.ExpiresIn != team.AgentLife || second.ExpiresIn.Round(time.Second) != 30*time.Minute+time.Second {
		t.Errorf("tokens for %s, then for %s", first.ExpiresIn, second.ExpiresIn)
	}
	o.clock.Advance(30*time.Minute - time.Second)
	if !o.works(t, second.Access) {
		t.Error("the token ends before the key")
	}
	o.clock.Advance(2 * time.Second)
	if o.works(t, second.Access) {
		t.Error("the token ends after the key")
	}
	o.agentEnded(t, second, p)
}

// TestOnlyAgentsOfAKeyReadIt: other agents take the calls of a personal key.
func TestOnlyAgentsOfAKeyReadIt(t *testing.T) {
	t.Parallel()
	o := open(t)
	_, text := o.key(t, team.NewKey{Kind: team.KindPersonal})
	_, p := o.opened(t, text)
	ofKey, err := o.agentOf(t, p)
	must(t, err)
	for name, c := range map[string]struct {
		access string
		calls  int
	}{"no key": {o.agent(t, "client_other").Access, 3}, "a key": {ofKey.Access, 4}} {
		for _, want := range []int{c.calls, 1} {
			ctx, meter := table.WithMeter(t.Context())
			if _, err := o.Authenticate(ctx, c.access); err != nil {
				t.Fatal(err)
			}
			if got := meter.Read(); got.Calls != want {
				t.Errorf("an agent of a session that %s opened: %+v, want %d calls", name, got, want)
			}
		}
	}
}

// use fails unless the session works, and records its use, so that it is not idle.
func (o *fixture) use(t *testing.T, session string) {
	t.Helper()
	got, err := o.AuthenticateSession(t.Context(), session)
	must(t, err)
	must(t, o.Touch(t.Context(), got.Principal))
}

func TestASessionEndsWithTheSecretThatOpenedIt(t *testing.T) {
	t.Parallel()
	o := open(t)
	k, leaked := o.key(t, team.NewKey{Kind: team.KindPersonal})
	session, p := o.opened(t, leaked)
	tokens, err := o.agentOf(t, p)
	must(t, err)
	other := o.another()
	_, err = other.Authenticate(t.Context(), leaked)
	must(t, err)
	_, fresh, err := o.RotateKey(t.Context(), o.team.ID, k.ID, 0)
	must(t, err)
	if _, _, _, err := other.SignInWithKey(t.Context(), leaked, "Chrome"); !apierr.IsCode(err, apierr.CodeUnauthorized) {
		t.Errorf("sign in with the old secret, which a service has in memory: %v", err)
	}
	o.agentEnded(t, tokens, p)
	o.refused(t, session)
	session, p = o.opened(t, fresh)
	_, err = o.agentOf(t, p)
	must(t, err)
	o.use(t, session)
}

func TestASessionLastsForTheOverlapOfItsSecret(t *testing.T) {
	t.Parallel()
	o := open(t)
	k, old := o.key(t, team.NewKey{Kind: team.KindPersonal})
	before, p := o.opened(t, old)
	_, fresh, err := o.RotateKey(t.Context(), o.team.ID, k.ID, 30*time.Minute)
	must(t, err)
	during, _, _, err := o.SignInWithKey(t.Context(), old, "Safari")
	must(t, err)
	if life := during.ExpiresAt.Sub(o.Now()).Round(time.Second); life != 30*time.Minute {
		t.Errorf("a session of the old secret lasts %s", life)
	}
	after, _ := o.opened(t, fresh)
	tokens, err := o.agentOf(t, p)
	must(t, err)
	if tokens.ExpiresIn.Round(time.Second) != 30*time.Minute {
		t.Errorf("a token of the old secret lasts %s", tokens.ExpiresIn)
	}
	o.clock.Advance(29 * time.Minute)
	o.use(t, before)
	o.use(t, after)
	o.clock.Advance(time.Minute + team.KnownFor)
	o.refused(t, before)
	o.use(t, after)
	if _, err := o.RefreshAgent(t.Context(), tokens.Refresh, assistant); o.works(t, tokens.Access) || !errors.Is(err, team.ErrBadRefresh) {
		t.Errorf("the agent of the old secret works: %v", err)
	}
	if list, err := o.Sessions(t.Context(), o.team.ID, o.admin.ID); err != nil || len(list) != 1 {
		t.Errorf("listed sessions: %+v, %v", list, err)
	}
}

// TestASessionOfBeforeSecretsWereStored: such a session survives a rotation, and ends with the key.
func TestASessionOfBeforeSecretsWereStored(t *testing.T) {
	t.Parallel()
	o := open(t)
	k, text := o.key(t, team.NewKey{Kind: team.KindPersonal})
	session, p := o.opened(t, text)
	item, err := o.Table.Get(t.Context(), table.Key{Table: table.Identities, Partition: "key/" + p.KeyID, Sort: "key"})
	must(t, err)
	stored := map[string]any{}
	must(t, json.Unmarshal(item.Body, &stored))
	if stored["openedWith"] == nil {
		t.Fatalf("stored %s", item.Body)
	}
	delete(stored, "openedWith")
	item.Body, err = json.Marshal(stored)
	must(t, err)
	must(t, o.Table.Write(t.Context(), table.Put{Item: item}))
	_, _, err = o.RotateKey(t.Context(), o.team.ID, k.ID, 0)
	must(t, err)
	o.clock.Advance(team.KnownFor)
	o.use(t, session)
	must(t, o.RevokeKey(t.Context(), o.team.ID, k.ID))
	o.clock.Advance(team.KnownFor)
	o.refused(t, session)
}
