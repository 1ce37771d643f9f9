package team_test

import (
	"strings"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/team"
)

// TestRequireFullKey: a key that lacks a scope or expires is refused, and so is a session that it opened.
func TestRequireFullKey(t *testing.T) {
	t.Parallel()
	o := open(t)
	end := o.Now().Add(24 * time.Hour)
	for name, c := range map[string]struct {
		key        team.NewKey
		code, says string
	}{
		"no scopes":      {team.NewKey{}, "", ""},
		"all scopes":     {team.NewKey{Scopes: team.Scopes()}, "", ""},
		"manage":         {team.NewKey{Scopes: []team.Scope{team.ScopeManage}}, apierr.CodeMissingScope, "lacks the scope read. To make a user an admin, use"},
		"all but audit":  {team.NewKey{Scopes: team.Scopes()[:4]}, apierr.CodeMissingScope, "lacks the scope audit."},
		"an expiry":      {team.NewKey{ExpiresAt: &end}, apierr.CodeKeyExpiresFirst, "expires at 2026-11-22T20:00:00.123Z. To make a user an admin, use"},
		"both of them":   {team.NewKey{ExpiresAt: &end, Scopes: team.Scopes()[:1]}, apierr.CodeMissingScope, "lacks the scope ask."},
		"scopes, expiry": {team.NewKey{ExpiresAt: &end, Scopes: team.Scopes()}, apierr.CodeKeyExpiresFirst, "expires at"},
	} {
		c.key.Kind = team.KindPersonal
		_, key := o.key(t, c.key)
		_, session := o.opened(t, key)
		for who, p := range map[string]team.Principal{"a key": o.as(t, key), "its session": session} {
			err := o.RequireFullKey(team.WithPrincipal(t.Context(), p), "make a user an admin")
			switch {
			case c.code == "" && err != nil:
				t.Errorf("%s with %s: %v", who, name, err)
			case c.code != "" && (!apierr.IsCode(err, c.code) || !strings.Contains(err.Error(), c.says)):
				t.Errorf("%s with %s: %v, want %s: %s", who, name, err, c.code, c.says)
			}
		}
	}
	for name, p := range map[string]team.Principal{
		"the session of a link, which ends": {TeamID: o.team.ID, Kind: team.KindSession, ExpiresAt: &end},
		"the operator":                      {},
	} {
		ctx := t.Context()
		if p.Kind != "" {
			ctx = team.WithPrincipal(ctx, p)
		}
		if err := o.RequireFullKey(ctx, "make a user an admin"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
