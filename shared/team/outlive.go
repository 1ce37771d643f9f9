package team

import (
	"context"
	"time"

	"docent/shared/apierr"
)

// endOfCaller returns when the key of the caller in ctx expires, or its secret after a rotation, or of a session
// those which opened it; nil: never. The operator, for whom ctx has no principal, does not expire.
func (s *Service) endOfCaller(ctx context.Context) (*time.Time, error) {
	p, ok := PrincipalFrom(ctx)
	switch {
	case !ok:
		return nil, nil
	case p.Kind == KindSession:
		return s.checkOpener(ctx, p.Opener, s.Now())
	}
	return p.ExpiresAt, nil
}

// outlives reports whether a key that expires at its works longer than a caller that does at callers.
func outlives(its, callers *time.Time) bool {
	return callers != nil && (its == nil || its.After(*callers))
}

// endsWithCaller returns an error for a new key that would work longer than the key of the caller: otherwise a key
// with an expiry could give itself another one.
func (s *Service) endsWithCaller(ctx context.Context, expires *time.Time) error {
	end, err := s.endOfCaller(ctx)
	if err == nil && outlives(expires, end) {
		return apierr.BadField("/expiresAt", "must be given, and at most %s, when the key in use expires", end.UTC().Format(time.RFC3339Nano))
	}
	return err
}

// mayRotate returns key-expires-first if a key whose new secret the caller would learn works longer than the
// caller's until end.
func mayRotate(r *record, end *time.Time) error {
	if !outlives(r.ExpiresAt, end) {
		return nil
	}
	return apierr.New(apierr.Forbidden, apierr.CodeKeyExpiresFirst, "The key in use expires at %s, before the key that is to be rotated. Use one that works as long.",
		end.UTC().Format(time.RFC3339Nano))
}
