package team_test

import (
	"encoding/json"
	"slices"
	"testing"

	"docent/shared/apierr"
	"docent/shared/table"
	"docent/shared/team"
)

func TestScopesOfNewKeys(t *testing.T) {
	t.Parallel()
	o := open(t)
	for name, c := range map[string]struct {
		kind         team.Kind
		scopes, want []team.Scope
		refused      bool
	}{
		"none given":     {team.KindTeam, nil, nil, false},
		"one":            {team.KindTeam, []team.Scope{"ask"}, []team.Scope{"ask"}, false},
		"in their order": {team.KindPersonal, []team.Scope{"audit", "read", "audit"}, []team.Scope{"read", "audit"}, false},
		"all":            {team.KindTeam, team.Scopes(), team.Scopes(), false},
		"an empty list":  {team.KindTeam, []team.Scope{}, nil, true},
		"an unknown one": {team.KindTeam, []team.Scope{"read", "root"}, nil, true},
		"in upper case":  {team.KindTeam, []team.Scope{"READ"}, nil, true},
		"too many":       {team.KindTeam, append(team.Scopes(), "read"), nil, true},
		"of a scim key":  {team.KindSCIM, []team.Scope{"manage"}, nil, true},
	} {
		k := team.NewKey{Kind: c.kind, Name: "x", Scopes: c.scopes}
		if c.kind == team.KindPersonal {
			k.UserID = o.admin.ID
		}
		made, text, err := o.CreateKey(t.Context(), o.team.ID, k)
		if c.refused {
			if !apierr.IsCode(err, apierr.CodeInvalidRequest) || text != "" {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		must(t, err)
		got, err := o.Authenticate(t.Context(), text)
		must(t, err)
		if !slices.Equal(made.Scopes, c.want) || !slices.Equal(got.Principal.Scopes, c.want) || (made.Scopes == nil) != (c.want == nil) {
			t.Errorf("%s: scopes %v, authenticated with %v, want %v", name, made.Scopes, got.Principal.Scopes, c.want)
		}
		for _, scope := range team.Scopes() {
			want := c.want == nil || slices.Contains(c.want, scope)
			if err := team.RequireScope(got.Principal, scope); (err == nil) != want || err != nil && !apierr.IsCode(err, apierr.CodeMissingScope) {
				t.Errorf("%s: RequireScope(%s) gives %v", name, scope, err)
			}
		}
	}
}

// TestStoredKeysWithoutScopesHaveAll: keys that were stored before there were scopes keep working.
func TestStoredKeysWithoutScopesHaveAll(t *testing.T) {
	t.Parallel()
	o := open(t)
	made, text := o.key(t, team.NewKey{Kind: team.KindTeam})
	item, err := o.Table.Get(t.Context(), table.Key{Table: table.Identities, Partition: "key/" + made.ID, Sort: "key"})
	must(t, err)
	var members map[string]any
	must(t, json.Unmarshal(item.Body, &members))
	if _, ok := members["scopes"]; ok {
		t.Errorf("a key without scopes is stored as %s", item.Body)
	}
	got, err := o.another().Authenticate(t.Context(), text)
	must(t, err)
	for _, scope := range team.Scopes() {
		if !got.Principal.Has(scope) {
			t.Errorf("the key lacks %s", scope)
		}
	}
}

func TestScopesAreKeptByRotation(t *testing.T) {
	t.Parallel()
	o := open(t)
	made, _ := o.key(t, team.NewKey{Kind: team.KindTeam, Scopes: []team.Scope{"write"}})
	rotated, text, err := o.RotateKey(t.Context(), o.team.ID, made.ID, 0)
	must(t, err)
	got, err := o.Authenticate(t.Context(), text)
	must(t, err)
	if !slices.Equal(rotated.Scopes, made.Scopes) || !slices.Equal(got.Principal.Scopes, made.Scopes) {
		t.Errorf("scopes %v after a rotation, authenticated with %v", rotated.Scopes, got.Principal.Scopes)
	}
}

func TestCommonScopes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ a, b, want []team.Scope }{
		{nil, nil, nil},
		{[]team.Scope{"ask"}, nil, []team.Scope{"ask"}},
		{nil, []team.Scope{"ask"}, []team.Scope{"ask"}},
		{[]team.Scope{"ask", "read"}, []team.Scope{"write", "read"}, []team.Scope{"read"}},
		{[]team.Scope{"ask"}, []team.Scope{"write"}, []team.Scope{}},
	} {
		if got := team.CommonScopes(c.a, c.b); !slices.Equal(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("CommonScopes(%v, %v) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
