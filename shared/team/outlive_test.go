package team_test

import (
	"context"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/team"
)

// TestNoKeyOutlivesTheOneThatMakesIt: a key that expires, or a session that it opened, gives no key a longer life,
// and learns no secret of one that has it.
func TestNoKeyOutlivesTheOneThatMakesIt(t *testing.T) {
	t.Parallel()
	o := open(t)
	end := o.Now().Add(time.Hour)
	earlier, later, same := end.Add(-time.Minute), end.Add(time.Millisecond), end.Truncate(time.Millisecond)
	_, expiring := o.key(t, team.NewKey{Kind: team.KindPersonal, ExpiresAt: &end})
	_, lasting := o.key(t, team.NewKey{Kind: team.KindPersonal})
	replaced, rotated := o.key(t, team.NewKey{Kind: team.KindPersonal})
	_, current, err := o.RotateKey(t.Context(), o.team.ID, replaced.ID, time.Hour)
	must(t, err)
	short, _ := o.key(t, team.NewKey{Kind: team.KindTeam, ExpiresAt: &earlier})
	long, _ := o.key(t, team.NewKey{Kind: team.KindTeam, ExpiresAt: &later})
	forever, _ := o.key(t, team.NewKey{Kind: team.KindTeam})
	_, ofExpiring := o.opened(t, expiring)
	_, ofLasting := o.opened(t, lasting)
	for name, c := range map[string]struct {
		caller  team.Principal
		expires bool
	}{
		"a key that expires":         {o.as(t, expiring), true},
		"its session":                {ofExpiring, true},
		"the secret before":          {o.as(t, rotated), true},
		"the secret after":           {o.as(t, current), false},
		"a key that does not expire": {o.as(t, lasting), false},
		"the session of that":        {ofLasting, false},
		"the session of a link":      {team.Principal{TeamID: o.team.ID, Kind: team.KindSession, ExpiresAt: &earlier}, false},
	} {
		ctx := team.WithPrincipal(t.Context(), c.caller)
		for what, wanted := range map[string]struct {
			expires *time.Time
			longer  bool
		}{"earlier": {&earlier, false}, "at the same time": {&same, false}, "within the same millisecond": {&end, false}, "later": {&later, true}, "never": {nil, true}} {
			made, _, err := o.CreateKey(ctx, o.team.ID, team.NewKey{Kind: team.KindTeam, Name: "x", ExpiresAt: wanted.expires})
			refused := apierr.IsCode(err, apierr.CodeInvalidRequest)
			if refused != (wanted.longer && c.expires) || err != nil && !refused {
				t.Errorf("%s creates one that expires %s: %+v, %v", name, what, made.ExpiresAt, err)
			}
		}
		for id, longer := range map[string]bool{short.ID: false, long.ID: true, forever.ID: true} {
			_, _, err := o.RotateKey(ctx, o.team.ID, id, time.Hour)
			refused := apierr.IsCode(err, apierr.CodeKeyExpiresFirst)
			if refused != (longer && c.expires) || err != nil && !refused {
				t.Errorf("%s rotates one that lasts longer (%t): %v", name, longer, err)
			}
		}
	}
	if _, _, err := o.RotateKey(context.Background(), o.team.ID, forever.ID, 0); err != nil {
		t.Errorf("the operator: %v", err)
	}
}

// as returns who calls with a key.
func (o *fixture) as(t *testing.T, key string) team.Principal {
	t.Helper()
	got, err := o.Authenticate(t.Context(), key)
	must(t, err)
	return got.Principal
}
