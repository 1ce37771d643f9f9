package team

import (
	"context"
	"time"

	"docent/shared/apierr"
)

// RequireFullKey returns an error unless the caller in ctx has all scopes and a key that does not expire, or a
// session that such a key opened or none did: missing-scope or key-expires-first. It is for changes by which a
// person can get a session with all scopes that no key ends. Otherwise a key could get by them what CreateKey
// refuses it. purpose says what the caller wants, such as "make a user an admin". The operator, for whom ctx has
// no principal, may do everything.
func (s *Service) RequireFullKey(ctx context.Context, purpose string) error {
	const advice = "To %s, use an admin's personal key that has all scopes and no expiry, or sign in to the dashboard with such a key, a link or the identity provider."
	p, _ := PrincipalFrom(ctx)
	if scope, ok := p.lacks(Scopes()); ok {
		return apierr.New(apierr.Forbidden, apierr.CodeMissingScope, "This key lacks the scope %s. "+advice, scope, purpose)
	}
	end, err := s.endOfCaller(ctx)
	if err == nil && end != nil {
		return apierr.New(apierr.Forbidden, apierr.CodeKeyExpiresFirst, "The key in use expires at %s. "+advice, end.UTC().Format(time.RFC3339Nano), purpose)
	}
	return err
}
