package team

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"docent/shared/apierr"
)

// Scope is a part of what the key's kind and user may do.
type Scope string

// The scopes. None contains another one.
const (
	ScopeRead   Scope = "read"   // documents, collections and data sources, and the operations of context
	ScopeAsk    Scope = "ask"    // questions, answers, chat and feedback
	ScopeWrite  Scope = "write"  // documents and items: put and delete
	ScopeManage Scope = "manage" // collections, data sources, keys, users and settings
	ScopeAudit  Scope = "audit"  // security events and usage
)

// Scopes lists every scope, in the order in which they are stored and shown.
func Scopes() []Scope { return []Scope{ScopeRead, ScopeAsk, ScopeWrite, ScopeManage, ScopeAudit} }

// Has reports whether the principal has the scope.
func (p Principal) Has(scope Scope) bool { return p.Scopes == nil || slices.Contains(p.Scopes, scope) }

// lacks returns the first of the scopes that the principal does not have; false: it has all of them.
func (p Principal) lacks(scopes []Scope) (Scope, bool) {
	i := slices.IndexFunc(scopes, func(scope Scope) bool { return !p.Has(scope) })
	if i < 0 {
		return "", false
	}
	return scopes[i], true
}

// RequireScope returns missing-scope for a principal that has none of the scopes.
func RequireScope(p Principal, anyOf ...Scope) error {
	if slices.ContainsFunc(anyOf, p.Has) {
		return nil
	}
	return apierr.New(apierr.Forbidden, apierr.CodeMissingScope,
		"This key lacks the scope %s. It has %s.", joinScopes(anyOf, " or "), joinScopes(p.Scopes, ", "))
}

func joinScopes(scopes []Scope, separator string) string {
	names := make([]string, len(scopes))
	for i, scope := range scopes {
		names[i] = string(scope)
	}
	return strings.Join(names, separator)
}

// CommonScopes returns the scopes in both lists, in their order. nil means all of them; a result
// without any is not nil.
func CommonScopes(a, b []Scope) []Scope {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	both := []Scope{}
	for _, scope := range Scopes() {
		if slices.Contains(a, scope) && slices.Contains(b, scope) {
			both = append(both, scope)
		}
	}
	return both
}

// checkScopes returns the scopes of a new key without repeats, in their order.
func checkScopes(k NewKey) ([]Scope, error) {
	if k.Scopes == nil {
		return nil, nil
	}
	if k.Kind == KindSCIM {
		return nil, apierr.BadField("/scopes", "must not be given for a scim key")
	}
	known := Scopes()
	if n := len(k.Scopes); n < 1 || n > len(known) {
		return nil, apierr.BadField("/scopes", "must have 1 to %d entries", len(known))
	}
	for i, scope := range k.Scopes {
		if !slices.Contains(known, scope) {
			return nil, apierr.BadField(fmt.Sprintf("/scopes/%d", i), "must be one of %s", joinScopes(known, ", "))
		}
	}
	return CommonScopes(known, k.Scopes), nil
}

// mayGrant returns missing-scope unless the caller in ctx has every scope that the key has. The operator,
// for whom ctx has no principal, may give any.
func mayGrant(ctx context.Context, k NewKey) error {
	p, ok := PrincipalFrom(ctx)
	if !ok || p.Scopes == nil {
		return nil
	}
	scopes := k.Scopes
	switch {
	case k.Kind == KindSCIM:
		scopes = []Scope{ScopeManage} // provisioning needs it
	case scopes == nil:
		scopes = Scopes()
	}
	if scope, ok := p.lacks(scopes); ok {
		return apierr.New(apierr.Forbidden, apierr.CodeMissingScope,
			"This key lacks the scope %s, so it cannot give it to a key. It has %s.", scope, joinScopes(p.Scopes, ", "))
	}
	return nil
}
