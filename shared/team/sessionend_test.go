package team_test

import (
	"strings"
	"testing"

	"docent/shared/apierr"
	"docent/shared/team"
	"docent/shared/team/teamtest"
)

func TestASessionIsEndedByItsUserOnly(t *testing.T) {
	t.Parallel()
	o := open(t)
	session, text := o.session(t, o.admin.ID)
	bob, err := teamtest.CreateUser(t.Context(), o.Service, o.team.ID, "bob", team.RoleAdmin)
	must(t, err)
	rival, eve, err := o.CreateTeam(t.Context(), "Rival", "eve@rival.example")
	must(t, err)
	key, keyText := o.key(t, team.NewKey{Kind: team.KindPersonal})
	agent := o.agent(t, assistant)
	for name, c := range map[string]struct{ teamID, userID, id string }{
		"another admin of the team":     {o.team.ID, bob.ID, session.ID},
		"a user of another team":        {rival.ID, eve.ID, session.ID},
		"the user, from another team":   {rival.ID, o.admin.ID, session.ID},
		"a key of the user":             {o.team.ID, o.admin.ID, key.ID},
		"an agent of the user":          {o.team.ID, o.admin.ID, agent.AgentID},
		"an unknown session":            {o.team.ID, o.admin.ID, strings.Repeat("1", 16)},
		"what cannot be a session's id": {o.team.ID, o.admin.ID, "../" + session.ID},
	} {
		if err := o.EndSession(t.Context(), c.teamID, c.userID, c.id); !apierr.IsCode(err, apierr.CodeNotFound) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := o.AuthenticateSession(t.Context(), text); err != nil || !o.works(t, keyText) || !o.works(t, agent.Access) {
			t.Fatalf("%s ended something: %v", name, err)
		}
	}
	must(t, o.EndSession(t.Context(), o.team.ID, o.admin.ID, session.ID))
	o.refused(t, text)
}

// TestOnlyActiveUsersHaveSessions: the user is deactivated between the check of a link and the write of its session.
func TestOnlyActiveUsersHaveSessions(t *testing.T) {
	t.Parallel()
	o, store := openWatched(t)
	bob, err := teamtest.CreateUser(t.Context(), o.Service, o.team.ID, "bob", team.RoleMember)
	must(t, err)
	opened := func(userID string) error {
		_, _, err := o.OpenSession(t.Context(), o.team.ID, team.NewSession{UserID: userID, Name: "Safari", SignIn: team.ByLink})
		return err
	}
	must(t, opened(bob.ID))
	for name, userID := range map[string]string{"an unknown user": newID(), "no user": "", "what cannot be a user's id": "a/b"} {
		if err := opened(userID); !apierr.IsCode(err, apierr.CodeUnauthorized) {
			t.Errorf("%s: %v", name, err)
		}
	}
	store.write = func() {
		store.write = nil
		inactive := bob
		inactive.Active = false
		must(t, o.PutUser(t.Context(), o.team.ID, inactive))
	}
	for _, when := range []string{"while the user is deactivated", "of an inactive user"} {
		if err := opened(bob.ID); !apierr.IsCode(err, apierr.CodeUnauthorized) {
			t.Errorf("a session %s: %v", when, err)
		}
	}
}

// TestOneOfTwoUsesOfALink: the second use reads the link before the first one has taken it.
func TestOneOfTwoUsesOfALink(t *testing.T) {
	t.Parallel()
	o, store := openWatched(t)
	code, _, err := o.Invite(t.Context(), o.team.ID, o.admin.ID)
	must(t, err)
	use := func() error {
		_, _, _, err := o.SignInWithLink(t.Context(), code, "Safari")
		return err
	}
	store.write = func() {
		store.write = nil
		must(t, use())
	}
	if err := use(); !apierr.IsCode(err, apierr.CodeLinkExpired) {
		t.Errorf("the second use: %v", err)
	}
	sessions, err := o.Sessions(t.Context(), o.team.ID, o.admin.ID)
	if err != nil || len(sessions) != 1 {
		t.Errorf("%d sessions, %v", len(sessions), err)
	}
}
