package team_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/team"
	"docent/shared/team/teamtest"
)

// TestOnlyATokenThatWorksEndsItsAgent: the id of an agent is no secret, and neither is the form of a token.
func TestOnlyATokenThatWorksEndsItsAgent(t *testing.T) {
	t.Parallel()
	o := open(t)
	first := o.agent(t, assistant)
	second, err := o.RefreshAgent(t.Context(), first.Refresh, assistant)
	must(t, err)
	key, keyText := o.key(t, team.NewKey{Kind: team.KindPersonal})
	session, sessionText := o.session(t, o.admin.ID)
	_, id, accessSecret, _ := team.ParseKey(second.Access)
	_, _, refreshSecret, _ := team.ParseKey(second.Refresh)
	o.clock.Advance(2 * time.Minute)
	for name, text := range map[string]string{
		"an access token that was never issued":        team.KeyText(team.KindAgent, id, strings.Repeat("1", 43)),
		"a refresh token that was never issued":        team.KeyText("refresh", id, strings.Repeat("1", 43)),
		"the secret of a refresh token as access":      team.KeyText(team.KindAgent, id, refreshSecret),
		"the secret of an access token as refresh":     team.KeyText("refresh", id, accessSecret),
		"an access token from before the last refresh": first.Access,
		"a refresh token that was exchanged":           first.Refresh,
		"an unknown agent":                             team.KeyText("refresh", strings.Repeat("1", 16), refreshSecret),
		"a personal key":                               keyText,
		"a session":                                    sessionText,
		"a refresh token with the id of a key":         team.KeyText("refresh", key.ID, refreshSecret),
		"an access token with the id of a session":     team.KeyText(team.KindAgent, session.ID, accessSecret),
	} {
		if err := o.RevokeToken(t.Context(), text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !o.works(t, second.Access) || !o.works(t, keyText) {
			t.Fatalf("%s ended something", name)
		}
		if _, err := o.AuthenticateSession(t.Context(), sessionText); err != nil {
			t.Fatalf("%s ended the session: %v", name, err)
		}
	}
	must(t, o.RevokeToken(t.Context(), second.Access))
	if o.works(t, second.Access) {
		t.Error("a revoked token works")
	}
}

func TestAnAgentIsDisconnectedByItsUserOnly(t *testing.T) {
	t.Parallel()
	o := open(t)
	tokens := o.agent(t, assistant)
	bob, err := teamtest.CreateUser(t.Context(), o.Service, o.team.ID, "bob", team.RoleAdmin)
	must(t, err)
	rival, eve, err := o.CreateTeam(t.Context(), "Rival", "eve@rival.example")
	must(t, err)
	key, _ := o.key(t, team.NewKey{Kind: team.KindPersonal})
	for name, c := range map[string]struct{ teamID, userID, id string }{
		"another admin of the team":    {o.team.ID, bob.ID, tokens.AgentID},
		"a user of another team":       {rival.ID, eve.ID, tokens.AgentID},
		"the user, from another team":  {rival.ID, o.admin.ID, tokens.AgentID},
		"a key of the user":            {o.team.ID, o.admin.ID, key.ID},
		"an unknown agent":             {o.team.ID, o.admin.ID, strings.Repeat("1", 16)},
		"what cannot be an agent's id": {o.team.ID, o.admin.ID, "../" + tokens.AgentID},
	} {
		if err := o.DisconnectAgent(t.Context(), c.teamID, c.userID, c.id); !apierr.IsCode(err, apierr.CodeNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !o.works(t, tokens.Access) {
		t.Error("the agent ended")
	}
}

// TestOnlyActiveUsersHaveAgents: the state of the user is checked in the write that makes tokens, so
// a deactivation at the same time wins.
func TestOnlyActiveUsersHaveAgents(t *testing.T) {
	t.Parallel()
	o, store := openWatched(t)
	bob, err := teamtest.CreateUser(t.Context(), o.Service, o.team.ID, "bob", team.RoleMember)
	must(t, err)
	connect := func(userID string) (team.Tokens, error) {
		return o.ConnectAgent(t.Context(), o.team.ID, team.NewAgent{UserID: userID, Client: assistant, Name: "Assistant"})
	}
	tokens, err := connect(bob.ID)
	must(t, err)
	store.write = func() {
		store.write = nil
		inactive := bob
		inactive.Active = false
		must(t, o.PutUser(t.Context(), o.team.ID, inactive))
	}
	if _, err := o.RefreshAgent(t.Context(), tokens.Refresh, assistant); !errors.Is(err, team.ErrBadRefresh) {
		t.Errorf("a refresh while the user was deactivated: %v", err)
	}
	for name, userID := range map[string]string{"an inactive user": bob.ID, "an unknown user": newID(), "no user": "", "what cannot be a user's id": "a/b"} {
		if _, err := connect(userID); !apierr.IsCode(err, apierr.CodeUnauthorized) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestARefreshDoesNotUndoARevocation: the agent ends between the refresh's read and its write.
func TestARefreshDoesNotUndoARevocation(t *testing.T) {
	t.Parallel()
	o, store := openWatched(t)
	tokens := o.agent(t, assistant)
	store.write = func() {
		store.write = nil
		must(t, o.DisconnectAgent(t.Context(), o.team.ID, o.admin.ID, tokens.AgentID))
	}
	if got, err := o.RefreshAgent(t.Context(), tokens.Refresh, assistant); !errors.Is(err, team.ErrBadRefresh) {
		t.Errorf("%+v, %v", got, err)
	}
	if o.works(t, tokens.Access) {
		t.Error("the agent works again")
	}
}

func TestOnlyAgentsThatCanRefreshAreListed(t *testing.T) {
	t.Parallel()
	o := open(t)
	listed := func() (ids []string) {
		t.Helper()
		list, err := o.Agents(t.Context(), o.team.ID, o.admin.ID)
		must(t, err)
		for _, a := range list {
			ids = append(ids, a.ID)
		}
		return ids
	}
	older := o.agent(t, assistant)
	o.clock.Advance(time.Hour)
	newer := o.agent(t, assistant)
	if got := listed(); !slices.Equal(got, []string{newer.AgentID, older.AgentID}) {
		t.Errorf("listed are %v", got)
	}
	o.clock.Advance(team.AgentIdle - time.Hour - time.Second)
	if got := listed(); len(got) != 2 {
		t.Errorf("a second before the older expires %v are listed", got)
	}
	o.clock.Advance(time.Second)
	if got := listed(); !slices.Equal(got, []string{newer.AgentID}) {
		t.Errorf("when the older has expired %v are listed", got)
	}
}
