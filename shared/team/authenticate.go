package team

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"docent/shared/apierr"
	"docent/shared/quota"
	"docent/shared/table"
)

// Authentication is what a good key is worth.
type Authentication struct {
	Principal Principal
	Quotas    []quota.State // after this call was counted; empty but for personal keys
}

// Why a known key is refused.
const (
	ReasonRevoked  = "revoked"
	ReasonExpired  = "expired"
	ReasonInactive = "user-inactive"
)

// RejectedError refuses a key that was good once and was presented with its
// right secret. It unwraps to the same 401 that every other bad key gets; what it
// knows is for the team's security events.
type RejectedError struct {
	Key    APIKey
	Reason string // ReasonRevoked, ReasonExpired or ReasonInactive
}

func (e *RejectedError) Error() string { return "key " + e.Key.ID + " is refused: " + e.Reason }

// Unwrap returns the refusal as the client reads it.
func (e *RejectedError) Unwrap() error { return unauthorized() }

func unauthorized() error {
	return apierr.New(apierr.Unauthenticated, apierr.CodeUnauthorized, "A valid API key is needed.")
}

// Authenticate tells whose key text is, and counts the call against the day's
// allowance of a personal key. Its errors:
//
//   - 401 unauthorized, always in the same words, for a text that is no key and
//     for an unknown, expired or revoked key, a wrong secret or an inactive user;
//     *RejectedError where the key was known. Not counted.
//   - *quota.ExceededError when a personal key's day is spent. Not counted. The
//     Principal tells whose key it is, for the team's security events.
//   - 503 unavailable when the store gives no answer. The call may have been counted.
func (s *Service) Authenticate(ctx context.Context, text string) (Authentication, error) {
	return s.authenticate(ctx, text, true)
}

// Identify is Authenticate that counts nothing, for requests that are free of
// the day's allowance.
func (s *Service) Identify(ctx context.Context, text string) (Authentication, error) {
	return s.authenticate(ctx, text, false)
}

func (s *Service) authenticate(ctx context.Context, text string, counted bool) (Authentication, error) {
	kind, id, secret, ok := ParseKey(text)
	if !ok {
		return Authentication{}, unauthorized()
	}
	now, hash := s.Now(), hashSecret(secret)
	k, inMemory := s.known.get(id, now)
	if inMemory && !k.key.matches(hash, now) { // rotated since, or a wrong secret
		inMemory = false
	}
	if !inMemory {
		var err error
		if k.key, err = s.lookUp(ctx, id, hash, now); err != nil {
			return Authentication{}, err
		}
	}
	switch {
	case k.key.Kind != kind:
		return Authentication{}, unauthorized()
	case k.key.RevokedAt != nil:
		return Authentication{}, s.reject(k.key, ReasonRevoked, now)
	case k.key.expired(now):
		return Authentication{}, s.reject(k.key, ReasonExpired, now)
	}
	var quotas []quota.State
	if kind == KindPersonal {
		state, user, err := s.count(ctx, k, inMemory, counted, now)
		if spent := (*quota.ExceededError)(nil); errors.As(err, &spent) {
			k.user = user
			return Authentication{Principal: k.principal()}, err
		}
		if err != nil {
			return Authentication{}, err
		}
		k.user = user
		if counted {
			quotas = []quota.State{state}
		}
	}
	if !inMemory {
		s.known.put(k, now)
	}
	return Authentication{Principal: k.principal(), Quotas: quotas}, nil
}

// lookUp reads the key, cheaply first; what is missing or does not match is read
// again with strong consistency before it is refused.
func (s *Service) lookUp(ctx context.Context, id string, hash []byte, now time.Time) (record, error) {
	for _, opts := range [][]table.ReadOption{{table.Eventual}, nil} {
		r, err := s.readRecord(ctx, id, opts...)
		switch {
		case err == nil && r.matches(hash, now):
			return r, nil
		case err == nil, errors.Is(err, table.ErrNotFound):
		default:
			return record{}, asUnavailable(err)
		}
	}
	return record{}, unauthorized()
}

// count counts one call and returns the key's user, which is read beside the
// counting unless it is in memory. A refusal for the user comes before one for
// the quota.
func (s *Service) count(ctx context.Context, k known, inMemory, counted bool, now time.Time) (quota.State, User, error) {
	step := s.step
	if !counted {
		step = func(context.Context, record, time.Time) (quota.State, error) { return quota.State{}, nil }
	}
	if inMemory {
		state, err := step(ctx, k.key, now)
		return state, k.user, err
	}
	type result struct {
		user User
		err  error
	}
	read := make(chan result, 1)
	go func() {
		user, err := s.userOf(ctx, k.key)
		read <- result{user, err}
	}()
	state, err := step(ctx, k.key, now)
	r := <-read
	switch {
	case errors.Is(r.err, table.ErrNotFound), r.err == nil && !r.user.Active:
		return quota.State{}, User{}, s.reject(k.key, ReasonInactive, now)
	case r.err != nil:
		return quota.State{}, User{}, asUnavailable(r.err)
	}
	return state, r.user, err
}

func (s *Service) step(ctx context.Context, r record, now time.Time) (quota.State, error) {
	w := quota.Day(now)
	item, err := s.Table.Add(ctx, quota.Step(quota.CallsKey(r.TeamID, r.id, w), w, quota.CallsPerDay))
	if table.AsConditionFailed(err) != nil {
		return quota.State{}, quota.Exceeded(quota.Calls(w, quota.CallsPerDay))
	}
	if err != nil {
		return quota.State{}, asUnavailable(fmt.Errorf("count a call of key %s: %w", r.id, err))
	}
	return quota.Calls(w, quota.Used(item)), nil
}

// userOf reads the user of a personal key, again with strong consistency when it
// seems to be missing: it may be new.
func (s *Service) userOf(ctx context.Context, r record) (User, error) {
	item, err := s.Table.Get(ctx, userKey(r.TeamID, r.UserID), table.Eventual)
	if errors.Is(err, table.ErrNotFound) {
		item, err = s.Table.Get(ctx, userKey(r.TeamID, r.UserID))
	}
	if err != nil {
		return User{}, fmt.Errorf("read user %s: %w", r.UserID, err)
	}
	p, err := profileFrom(item)
	return p.User, err
}

func (s *Service) reject(r record, reason string, now time.Time) error {
	return &RejectedError{Key: r.shown(now), Reason: reason}
}

// asUnavailable makes an error of the store the 503 that it is to a client. A record
// that is there but damaged stays an internal error.
func asUnavailable(err error) error {
	if errors.Is(err, errDamaged) {
		return err
	}
	return apierr.New(apierr.Unavailable, apierr.CodeUnavailable,
		"The key could not be checked just now; try again.").WithCause(err)
}

func (k known) principal() Principal {
	p := Principal{TeamID: k.key.TeamID, KeyID: k.key.id, KeyName: k.key.Name, Kind: k.key.Kind,
		UserID: k.key.UserID, UserName: k.user.UserName, Sources: slices.Clone(k.key.Sources)}
	p.Admin = p.Kind == KindPersonal && k.user.Role == RoleAdmin && !p.Restricted()
	return p
}
