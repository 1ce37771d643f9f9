package team_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/quota"
	"docent/shared/table"
	"docent/shared/team"
	"docent/shared/team/teamtest"
)

// session opens a session of the user.
func (o *fixture) session(t *testing.T, userID string) (team.Session, string) {
	t.Helper()
	s, text, err := o.OpenSession(t.Context(), o.team.ID, team.NewSession{UserID: userID, Name: "Firefox on Linux", SignIn: team.ByLink})
	if err != nil {
		t.Fatal(err)
	}
	return s, text
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (o *fixture) refused(t *testing.T, text string) {
	t.Helper()
	if _, err := o.AuthenticateSession(t.Context(), text); !apierr.IsCode(err, apierr.CodeUnauthorized) {
		t.Errorf("a session that has ended: %v", err)
	}
}

// TestASessionOfAClockThatWasAhead does not last until that time, when the clock is set right.
func TestASessionOfAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	for ahead, ends := range map[time.Duration]bool{time.Hour: false, 365 * 24 * time.Hour: true} {
		o := open(t)
		o.clock.Advance(ahead)
		_, text := o.session(t, o.admin.ID)
		if _, err := o.AuthenticateSession(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		o.clock.Advance(-ahead)
		o.clock.Advance(20 * time.Second) // longer than keys are remembered
		_, err := o.AuthenticateSession(t.Context(), text)
		all, listed := o.Sessions(t.Context(), o.team.ID, o.admin.ID)
		must(t, listed)
		if refused := apierr.IsCode(err, apierr.CodeUnauthorized); refused != ends || (len(all) == 0) != ends {
			t.Errorf("of a clock %s ahead: %v, %d listed", ahead, err, len(all))
		}
	}
}

func TestSessionActsAsItsUser(t *testing.T) {
	t.Parallel()
	o := open(t)
	s, text := o.session(t, o.admin.ID)
	got, err := o.AuthenticateSession(t.Context(), text)
	want := team.Principal{TeamID: o.team.ID, KeyID: s.ID, KeyName: "Firefox on Linux", Kind: team.KindSession,
		UserID: o.admin.ID, UserName: "Ada@Example.com", Admin: true}
	if p := got.Principal; err != nil || p.KeyID != want.KeyID || p.UserID != want.UserID || !p.Admin || p.Kind != want.Kind || len(got.Quotas) != 0 {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if err := team.RequireAdmin(got.Principal); err != nil {
		t.Error(err)
	}
	if _, err := o.Authenticate(t.Context(), text); !apierr.IsCode(err, apierr.CodeUnauthorized) {
		t.Errorf("a session as an API key: %v", err)
	}
	_, key := o.key(t, team.NewKey{Kind: team.KindPersonal})
	if _, err := o.AuthenticateSession(t.Context(), key); !apierr.IsCode(err, apierr.CodeUnauthorized) {
		t.Errorf("an API key as a session: %v", err)
	}
	if _, _, err := o.RotateKey(t.Context(), o.team.ID, s.ID, 0); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("rotate a session: %v", err)
	}
	if _, _, err := o.CreateKey(t.Context(), o.team.ID, team.NewKey{Kind: team.KindSession, Name: "x", UserID: o.admin.ID}); err == nil {
		t.Error("a session was created as a key")
	}
}

func TestSessionEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, o *fixture, s team.Session, user team.User){
		"idle": func(_ *testing.T, o *fixture, _ team.Session, _ team.User) {
			o.clock.Advance(team.SessionIdle + time.Minute)
		},
		"signed out": func(t *testing.T, o *fixture, s team.Session, user team.User) {
			must(t, o.EndSession(t.Context(), o.team.ID, user.ID, s.ID))
		},
		"signed out everywhere": func(t *testing.T, o *fixture, _ team.Session, user team.User) {
			must(t, o.EndSessions(t.Context(), o.team.ID, user.ID))
		},
		"its user is deactivated": func(t *testing.T, o *fixture, _ team.Session, user team.User) {
			_, err := o.RevokeUserKeys(t.Context(), o.team.ID, user.ID)
			must(t, err)
		},
		"an admin ends it": func(t *testing.T, o *fixture, s team.Session, _ team.User) {
			must(t, o.RevokeKey(t.Context(), o.team.ID, s.ID))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := open(t)
			bob, err := teamtest.CreateUser(t.Context(), o.Service, o.team.ID, "bob", team.RoleMember)
			must(t, err)
			s, text := o.session(t, bob.ID)
			if _, err := o.AuthenticateSession(t.Context(), text); err != nil {
				t.Fatal(err)
			}
			end(t, o, s, bob)
			o.refused(t, text)
		})
	}
}

func TestSessionInUseLastsTwelveHours(t *testing.T) {
	t.Parallel()
	o := open(t)
	_, text := o.session(t, o.admin.ID)
	for spent := time.Duration(0); spent < team.SessionLife; spent += 55 * time.Minute {
		got, err := o.AuthenticateSession(t.Context(), text)
		if err != nil {
			t.Fatalf("after %s: %v", spent, err)
		}
		must(t, o.Touch(t.Context(), got.Principal))
		o.clock.Advance(55 * time.Minute)
	}
	o.refused(t, text)
}

func TestSessionOfAKeyCanDoNoMoreThanTheKey(t *testing.T) {
	t.Parallel()
	o := open(t)
	expires := o.Now().Add(2 * time.Hour)
	k, text := o.key(t, team.NewKey{Kind: team.KindPersonal, DataSourceIDs: sources(2), ExpiresAt: &expires})
	s, session, _, err := o.SignInWithKey(t.Context(), text, "Chrome")
	if err != nil || s.ExpiresAt.Sub(expires).Abs() > time.Second {
		t.Fatal(s, err)
	}
	got, err := o.AuthenticateSession(t.Context(), session)
	if err != nil || got.Principal.Admin || len(got.Principal.Sources) != 2 {
		t.Errorf("%+v, %v", got.Principal, err)
	}
	must(t, o.RevokeKey(t.Context(), o.team.ID, k.ID))
	o.clock.Advance(10 * time.Second)
	o.refused(t, session)
	_, other := o.key(t, team.NewKey{Kind: team.KindTeam})
	if _, _, _, err := o.SignInWithKey(t.Context(), other, "Chrome"); !apierr.IsCode(err, apierr.CodeWrongKeyKind) {
		t.Errorf("sign in with a team key: %v", err)
	}
}

func TestSessionsAreListedAndBounded(t *testing.T) {
	t.Parallel()
	o := open(t)
	_, first := o.session(t, o.admin.ID)
	for range team.MaxSessions {
		o.clock.Advance(time.Second)
		o.session(t, o.admin.ID)
	}
	o.clock.Advance(10 * time.Second)
	o.refused(t, first)
	listed, err := o.Sessions(t.Context(), o.team.ID, o.admin.ID)
	if err != nil || len(listed) != team.MaxSessions || !listed[0].CreatedAt.After(listed[1].CreatedAt) || listed[0].SignIn != team.ByLink {
		t.Errorf("%d sessions, %v: %+v", len(listed), err, listed)
	}
	if keys, err := o.Keys(t.Context(), o.team.ID, table.Window{Limit: 200}); err != nil || len(keys.Entries) != 0 {
		t.Errorf("sessions are listed as keys: %+v, %v", keys, err)
	}
	if err := o.EndSession(t.Context(), o.team.ID, "00000000-0000-0000-0000-000000000000", listed[0].ID); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("end the session of another: %v", err)
	}
	must(t, o.EndSession(t.Context(), o.team.ID, o.admin.ID, listed[0].ID))
	err = o.EndSession(t.Context(), o.team.ID, o.admin.ID, listed[0].ID)
	if !apierr.IsCode(err, apierr.CodeNotFound) || !strings.Contains(err.Error(), "session") {
		t.Errorf("end an ended session: %v", err)
	}
}

// TestSessionsAndAgentsAtOnceAreBounded: what is opened at the same time does not exceed the limits.
func TestSessionsAndAgentsAtOnceAreBounded(t *testing.T) {
	t.Parallel()
	o := open(t)
	var all sync.WaitGroup
	for n := range team.MaxAgents + 10 {
		all.Go(func() {
			if _, err := o.ConnectAgent(t.Context(), o.team.ID, team.NewAgent{UserID: o.admin.ID, UserName: o.admin.UserName, Client: fmt.Sprint(n)}); err != nil {
				t.Errorf("connect agent: %v", err)
			}
		})
		if n >= team.MaxSessions+10 {
			continue
		}
		all.Go(func() {
			if _, _, err := o.OpenSession(t.Context(), o.team.ID, team.NewSession{UserID: o.admin.ID, SignIn: team.ByLink}); err != nil {
				t.Errorf("open session: %v", err)
			}
		})
	}
	all.Wait()
	sessions, err := o.Sessions(t.Context(), o.team.ID, o.admin.ID)
	if err != nil || len(sessions) == 0 || len(sessions) > team.MaxSessions {
		t.Errorf("%d sessions, %v", len(sessions), err)
	}
	agents, err := o.Agents(t.Context(), o.team.ID, o.admin.ID)
	if err != nil || len(agents) == 0 || len(agents) > team.MaxAgents {
		t.Errorf("%d agents, %v", len(agents), err)
	}
}

func TestSessionHasItsOwnQuota(t *testing.T) {
	t.Parallel()
	o := open(t)
	s, text := o.session(t, o.admin.ID)
	day := quota.Day(o.Now())
	add := quota.Step(quota.CallsKey(o.team.ID, s.ID, day), day, quota.SessionCallsPerDay)
	for name := range add.By {
		add.By[name] = quota.SessionCallsPerDay
	}
	add.If = table.Condition{}
	if _, err := o.Table.Add(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	var exceeded *quota.ExceededError
	if _, err := o.AuthenticateSession(t.Context(), text); !errors.As(err, &exceeded) || exceeded.Name != quota.SessionDay {
		t.Errorf("beyond the quota: %v", err)
	}
}

func TestSignInLinkWorksOnce(t *testing.T) {
	t.Parallel()
	o := open(t)
	code, i, err := o.Invite(t.Context(), o.team.ID, o.admin.ID)
	if err != nil || i.ExpiresAt.Sub(o.Now()).Round(time.Second) != team.LinkLife {
		t.Fatal(i, err)
	}
	s, text, who, err := o.SignInWithLink(t.Context(), code, "Safari")
	if err != nil || s.SignIn != team.ByLink || who.UserID != o.admin.ID {
		t.Fatal(s, who, err)
	}
	if _, err := o.AuthenticateSession(t.Context(), text); err != nil {
		t.Error(err)
	}
	late, _, err := o.Invite(t.Context(), o.team.ID, o.admin.ID)
	must(t, err)
	o.clock.Advance(team.LinkLife)
	for name, code := range map[string]string{"used": code, "expired": late, "unknown": team.NewCode(), "empty": "", "other text": "../../etc"} {
		if _, _, _, err := o.SignInWithLink(t.Context(), code, "Safari"); !apierr.IsCode(err, apierr.CodeLinkExpired) {
			t.Errorf("%s link: %v", name, err)
		}
	}
	if _, _, err := o.Invite(t.Context(), o.team.ID, "00000000-0000-0000-0000-000000000000"); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("a link for nobody: %v", err)
	}
}
