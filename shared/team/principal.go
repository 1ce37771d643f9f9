package team

import (
	"context"
	"slices"
	"strings"
	"time"

	"docent/shared/access"
	"docent/shared/apierr"
)

// Principal is the caller of a request: an authenticated key and, for a personal key, its user.
type Principal struct {
	TeamID           string
	KeyID, KeyName   string
	Kind             Kind
	UserID, UserName string   // of a personal key, a session or an agent
	Admin            bool     // a personal key or a session, not restricted, of an active admin
	Sources          []string // the data sources that it may read; nil: all
	Scopes           []Scope  // what it may do; nil: all that its kind may do
	Opener                    // of a session
	// ExpiresAt is when the key, the session or the agent's token ends, or before that the secret in use, if it was
	// rotated; nil: never.
	ExpiresAt *time.Time
	// Reader decides which documents it may read. It is the zero Reader, which reads
	// none, if the caller of Authenticate did not ask for it.
	Reader access.Reader
	// MayActFor is the right of a team key to act for people.
	MayActFor bool
	// ActsFor says that a team key acts for the user. The key then has no rights beyond
	// the user's, except that it is a team key to the quotas.
	ActsFor bool
}

// Restricted reports whether the key can read only some data sources.
func (p Principal) Restricted() bool { return p.Sources != nil }

// MayRead reports whether the key can read the data source.
func (p Principal) MayRead(sourceID string) bool {
	return !p.Restricted() || slices.Contains(p.Sources, sourceID)
}

type principalKey struct{}

// WithPrincipal returns a context that carries p.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalFrom returns the principal in ctx, or false if there is none. Then the caller must
// deny everything.
func PrincipalFrom(ctx context.Context) (Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(Principal)
	return p, ok
}

// RequireKind returns wrong-key-kind for keys of other kinds. It names the kinds that a caller can choose, in their order.
func RequireKind(p Principal, kinds ...Kind) error {
	if slices.Contains(kinds, p.Kind) {
		return nil
	}
	return apierr.New(apierr.Forbidden, apierr.CodeWrongKeyKind, "%s cannot be used here. %s.", aKey(p.Kind), useInstead(kinds))
}

// aKey returns a name for a secret of the kind.
func aKey(k Kind) string {
	switch k {
	case KindSession:
		return "A session"
	case KindAgent:
		return "The token of an agent"
	}
	return "A " + string(k) + " key"
}

// useInstead says which of the kinds to use. A session is named only if nothing else works, because one works only in
// requests of the dashboard's own pages.
func useInstead(kinds []Kind) string {
	var keys []string
	for _, k := range kinds {
		if k != KindSession && k != KindAgent {
			keys = append(keys, string(k))
		}
	}
	if len(keys) == 0 {
		return "Sign in to the dashboard and do it there"
	}
	return "Use a " + strings.Join(keys, " or ") + " key"
}

// RequireUnrestricted returns key-restricted for a key that is restricted to some data sources.
// It is for replies about the whole team.
func RequireUnrestricted(p Principal) error {
	if !p.Restricted() {
		return nil
	}
	return apierr.New(apierr.Forbidden, apierr.CodeKeyRestricted,
		"This key is restricted to some data sources. Use an unrestricted key.")
}

// RequireSource returns source-not-allowed for a key that may not read the data source, which
// the request names.
func RequireSource(p Principal, sourceID string) error {
	if p.MayRead(sourceID) {
		return nil
	}
	return apierr.New(apierr.Forbidden, apierr.CodeSourceNotAllowed, "This key is not allowed to use this data source. Use a key that is.")
}

// RequireAdmin accepts only an unrestricted personal key or session of an admin. It returns wrong-key-kind
// for a scim key, key-restricted for a restricted key, and otherwise admin-required.
func RequireAdmin(p Principal) error {
	if err := RequireKind(p, KindPersonal, KindTeam, KindSession); err != nil {
		return err
	}
	if err := RequireUnrestricted(p); err != nil {
		return err
	}
	if !p.Admin {
		return apierr.New(apierr.Forbidden, apierr.CodeAdminRequired, "A team admin's personal key is required.")
	}
	return nil
}

// RequireTeamOrAdmin accepts an unrestricted team key or an admin's unrestricted personal key.
// It is for what concerns the whole team but may run unattended, such as the security event
// feed.
func RequireTeamOrAdmin(p Principal) error {
	if p.Kind == KindTeam && !p.ActsFor {
		return RequireUnrestricted(p)
	}
	return RequireAdmin(p)
}

// RequireSCIM accepts scim keys and what RequireTeamOrAdmin accepts.
func RequireSCIM(p Principal) error {
	if p.Kind == KindSCIM {
		return nil
	}
	return RequireTeamOrAdmin(p)
}
