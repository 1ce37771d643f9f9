package team

import (
	"context"
	"slices"

	"docent/shared/apierr"
)

// Principal is who makes a request: an authenticated key and, for a personal
// one, its user.
type Principal struct {
	TeamID           string
	KeyID, KeyName   string
	Kind             Kind
	UserID, UserName string   // of a personal key
	Admin            bool     // a personal key, not restricted, of an active admin
	Sources          []string // the data sources it may see; nil: all
}

// Restricted tells whether the key sees only chosen data sources.
func (p Principal) Restricted() bool { return p.Sources != nil }

// MayRead tells whether the key sees the data source.
func (p Principal) MayRead(sourceID string) bool {
	return !p.Restricted() || slices.Contains(p.Sources, sourceID)
}

type principalKey struct{}

// WithPrincipal returns a context that carries p.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalFrom returns the principal of ctx; false when there is none, in which
// case nothing may be granted.
func PrincipalFrom(ctx context.Context) (Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(Principal)
	return p, ok
}

// RequireKind refuses keys of other kinds with wrong-key-kind.
func RequireKind(p Principal, kinds ...Kind) error {
	if slices.Contains(kinds, p.Kind) {
		return nil
	}
	return apierr.New(apierr.Forbidden, apierr.CodeWrongKeyKind, "A %s key cannot be used here.", p.Kind)
}

// RequireUnrestricted refuses keys that are limited to data sources with
// key-restricted: for answers about the whole team.
func RequireUnrestricted(p Principal) error {
	if !p.Restricted() {
		return nil
	}
	return apierr.New(apierr.Forbidden, apierr.CodeKeyRestricted,
		"This key is limited to chosen data sources; this needs a key without that limit.")
}

// RequireSource refuses a key that may not see the data source, named directly,
// with source-not-allowed.
func RequireSource(p Principal, sourceID string) error {
	if p.MayRead(sourceID) {
		return nil
	}
	return apierr.New(apierr.Forbidden, apierr.CodeSourceNotAllowed, "This key is not allowed to use this data source.")
}

// RequireAdmin lets only a personal key pass that is not restricted and belongs
// to an admin: wrong-key-kind for a scim key, key-restricted for a restricted
// one, admin-required for all others.
func RequireAdmin(p Principal) error {
	if err := RequireKind(p, KindPersonal, KindTeam); err != nil {
		return err
	}
	if err := RequireUnrestricted(p); err != nil {
		return err
	}
	if !p.Admin {
		return apierr.New(apierr.Forbidden, apierr.CodeAdminRequired, "This needs the personal key of a team admin.")
	}
	return nil
}

// RequireTeamOrAdmin is for what concerns the whole team but may run unattended,
// as the security event feed: a team key or an admin's personal key, neither
// restricted.
func RequireTeamOrAdmin(p Principal) error {
	if p.Kind == KindTeam {
		return RequireUnrestricted(p)
	}
	return RequireAdmin(p)
}

// RequireSCIM lets scim keys pass, and whatever passes RequireTeamOrAdmin.
func RequireSCIM(p Principal) error {
	if p.Kind == KindSCIM {
		return nil
	}
	return RequireTeamOrAdmin(p)
}
