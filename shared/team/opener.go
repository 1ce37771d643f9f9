package team

import (
	"context"
	"errors"
	"time"

	"docent/shared/table"
)

// Opener is the secret of a key that opened a session. The session ends when the key or that secret does,
// and so does every agent that got access in the session. It is zero if no key did: after signing in by a link or at an identity
// provider, and in an agent of before it was stored.
type Opener struct {
	OpenedBy string `json:"openedBy,omitempty"` // the id of the key
	// OpenedWith is the hash of the secret. In a session of before it was stored it is nil: any secret of
	// the key, which then ends with the key alone.
	OpenedWith []byte `json:"openedWith,omitempty"`
}

// until returns when that ends which o opened, as key is now; nil: never. It returns a 401 if it has
// ended.
func (o Opener) until(key record, now time.Time) (*time.Time, error) {
	if key.RevokedAt != nil || key.expired(now) || o.OpenedWith != nil && !key.matches(o.OpenedWith, now) {
		return nil, unauthorized()
	}
	if o.OpenedWith == nil {
		return key.ExpiresAt, nil
	}
	return key.endOf(o.OpenedWith), nil
}

// checkOpener is until, with the key that it reads. It reads nothing for the zero Opener.
func (s *Service) checkOpener(ctx context.Context, o Opener, now time.Time) (*time.Time, error) {
	if o.OpenedBy == "" {
		return nil, nil
	}
	key, err := s.readRecord(ctx, o.OpenedBy)
	if errors.Is(err, table.ErrNotFound) {
		return nil, unauthorized()
	}
	if err != nil {
		return nil, err
	}
	return o.until(key, now)
}

// earlier returns the earlier of at and end, which is nil for never.
func earlier(at time.Time, end *time.Time) time.Time {
	if end != nil && end.Before(at) {
		return *end
	}
	return at
}
