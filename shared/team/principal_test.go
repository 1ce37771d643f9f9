package team_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"docent/shared/apierr"
	"docent/shared/team"
)

func TestPrincipalInContext(t *testing.T) {
	t.Parallel()
	if p, ok := team.PrincipalFrom(context.Background()); ok || !reflect.DeepEqual(p, team.Principal{}) {
		t.Errorf("found %+v in an empty context", p)
	}
	want := team.Principal{TeamID: "t", KeyID: "k", Sources: []string{"s"}}
	if p, ok := team.PrincipalFrom(team.WithPrincipal(context.Background(), want)); !ok || !reflect.DeepEqual(p, want) {
		t.Errorf("found %+v, %v", p, ok)
	}
}

func TestMayRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sources    []string
		restricted bool
		may        bool
	}{
		{nil, false, true},
		{[]string{}, true, false},
		{[]string{"other"}, true, false},
		{[]string{"other", "wiki"}, true, true},
	} {
		p := team.Principal{Sources: c.sources}
		if p.Restricted() != c.restricted || p.MayRead("wiki") != c.may {
			t.Errorf("%v: restricted %v, may read %v", c.sources, p.Restricted(), p.MayRead("wiki"))
		}
		if err := team.RequireSource(p, "wiki"); (err == nil) != c.may || !c.may && !apierr.IsCode(err, apierr.CodeSourceNotAllowed) {
			t.Errorf("%v: RequireSource: %v", c.sources, err)
		}
	}
}

func TestRights(t *testing.T) {
	t.Parallel()
	const kind, restricted, admin = apierr.CodeWrongKeyKind, apierr.CodeKeyRestricted, apierr.CodeAdminRequired
	some := []string{"wiki"}
	for _, c := range []struct {
		name                                   string
		p                                      team.Principal
		admin, teamOrAdmin, scim, unrestricted string // codes; empty: passes
	}{
		{"admin's key", team.Principal{Kind: team.KindPersonal, Admin: true}, "", "", "", ""},
		{"restricted admin's key", team.Principal{Kind: team.KindPersonal, Admin: true, Sources: some}, restricted, restricted, restricted, restricted},
		{"member's key", team.Principal{Kind: team.KindPersonal}, admin, admin, admin, ""},
		{"restricted personal key", team.Principal{Kind: team.KindPersonal, Sources: some}, restricted, restricted, restricted, restricted},
		{"team key", team.Principal{Kind: team.KindTeam}, admin, "", "", ""},
		{"restricted team key", team.Principal{Kind: team.KindTeam, Sources: some}, restricted, restricted, restricted, restricted},
		{"scim key", team.Principal{Kind: team.KindSCIM}, kind, kind, "", ""},
		{"nobody", team.Principal{}, kind, kind, kind, ""},
	} {
		for rule, check := range map[string]struct {
			err  error
			want string
		}{
			"RequireAdmin":        {team.RequireAdmin(c.p), c.admin},
			"RequireTeamOrAdmin":  {team.RequireTeamOrAdmin(c.p), c.teamOrAdmin},
			"RequireSCIM":         {team.RequireSCIM(c.p), c.scim},
			"RequireUnrestricted": {team.RequireUnrestricted(c.p), c.unrestricted},
		} {
			var public *apierr.Error
			switch {
			case check.want == "" && check.err != nil:
				t.Errorf("%s: %s refuses: %v", c.name, rule, check.err)
			case check.want != "" && (!errors.As(check.err, &public) || public.Code != check.want || public.Kind != apierr.Forbidden):
				t.Errorf("%s: %s gives %v, want %s", c.name, rule, check.err, check.want)
			}
		}
	}
	if err := team.RequireKind(team.Principal{Kind: team.KindTeam}, team.KindPersonal, team.KindTeam); err != nil {
		t.Errorf("RequireKind refuses a named kind: %v", err)
	}
	wantCode(t, team.RequireKind(team.Principal{Kind: team.KindTeam}, team.KindSCIM), kind)
}

// TestRefusalOfAKindSaysWhatToUse: whoever reads only the text knows how to go on.
func TestRefusalOfAKindSaysWhatToUse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind    team.Kind
		allowed []team.Kind
		want    string
	}{
		{team.KindSCIM, []team.Kind{team.KindPersonal, team.KindTeam, team.KindSession, team.KindAgent}, "A scim key cannot be used here. Use a personal or team key."},
		{team.KindTeam, []team.Kind{team.KindPersonal, team.KindSession}, "A team key cannot be used here. Use a personal key."},
		{team.KindPersonal, []team.Kind{team.KindSession}, "A personal key cannot be used here. Sign in to the dashboard and do it there."},
		{team.KindSession, []team.Kind{team.KindTeam}, "A session cannot be used here. Use a team key."},
		{team.KindAgent, []team.Kind{team.KindTeam}, "The token of an agent cannot be used here. Use a team key."},
	} {
		var public *apierr.Error
		if err := team.RequireKind(team.Principal{Kind: c.kind}, c.allowed...); !errors.As(err, &public) || public.Detail != c.want {
			t.Errorf("%s where %v may: %v, want %q", c.kind, c.allowed, err, c.want)
		}
	}
}
