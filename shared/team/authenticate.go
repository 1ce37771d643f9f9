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

// Authentication is the result of authenticating a key.
type Authentication struct {
	Principal Principal
	Quotas    []quota.State // including this call: the daily quota of a personal key, and the limits of Admit
}

// Reasons of a RejectedError.
const (
	ReasonRevoked  = "revoked"
	ReasonExpired  = "expired"
	ReasonInactive = "user-inactive"
)

// RejectedError is returned for a known key with its right secret that no longer works. It
// unwraps to the 401 of every other bad key. Its fields are for the team's security events.
type RejectedError struct {
	Key    APIKey
	Reason string // ReasonRevoked, ReasonExpired or ReasonInactive
}

func (e *RejectedError) Error() string { return "key " + e.Key.ID + " is refused: " + e.Reason }

// Unwrap returns the error for the client.
func (e *RejectedError) Unwrap() error { return unauthorized() }

func unauthorized() error {
	return apierr.New(apierr.Unauthenticated, apierr.CodeUnauthorized, "A valid API key is required.")
}

// Authenticate returns the principal of the key in text, and counts the call against
// the daily quota of a personal key. Its errors:
//
//   - 401 unauthorized, always with the same text, for a text that is not a key, an
//     unknown, expired or revoked key, a wrong secret or an inactive user. It is a
//     *RejectedError if the key is known. The call is not counted.
//   - *quota.ExceededError if the daily quota of a personal key is used up. The call is
//     not counted. The Principal is set, for the team's security events.
//   - the error of Admit. The call is not counted. The Principal has the team and the key.
//   - 503 unavailable if the store fails. The call may have been counted.
//
// While the disk takes no writes, calls are not counted, so that reads work.
//
// With the option Reading, a person's groups are read next to the count.
func (s *Service) Authenticate(ctx context.Context, text string, options ...Option) (Authentication, error) {
	return s.authenticate(ctx, text, call{counted: true, reading: slices.Contains(options, Reading)})
}

// Identify is Authenticate without counting, for requests that the daily quota does not limit.
func (s *Service) Identify(ctx context.Context, text string) (Authentication, error) {
	return s.authenticate(ctx, text, call{})
}

// AuthenticateSession is Authenticate for the text of a session, which works nowhere else. Its
// calls are counted against SessionCallsPerDay.
func (s *Service) AuthenticateSession(ctx context.Context, text string, options ...Option) (Authentication, error) {
	return s.authenticate(ctx, text, call{counted: true, session: true, reading: slices.Contains(options, Reading)})
}

// Recheck returns the principal of text, which was authenticated as was earlier, as it is now, or an error if it would no longer be
// authenticated. An expiry in the meantime is not an error: it was known when the request began, and withdraws no right. Recheck
// counts and admits nothing, and does not use the cache. The errors:
//
//   - the error with which Authenticate or AuthenticateSession would now refuse text
//   - the error with which ActFor would now refuse to act for the person of was
//   - 409 access-changed, besides the principal, if was has a Reader, and its person has lost one of the groups or names to which
//     access rules give access
func (s *Service) Recheck(ctx context.Context, text string, was Principal) (Principal, error) {
	kind, _, _, _ := ParseKey(text)
	reading := was.Reader.All() || was.Reader.UserID() != ""
	now, err := s.authenticate(ctx, text, call{session: kind == KindSession, reading: reading && !was.ActsFor, again: true, knownEnd: was.ExpiresAt})
	p := now.Principal
	if err == nil && was.ActsFor {
		p, err = s.ActFor(ctx, p, was.UserID, reading, func(context.Context, string) error { return nil })
	}
	if err == nil && reading && !was.Reader.Within(p.Reader) {
		err = apierr.New(apierr.Conflict, apierr.CodeAccessChanged, "What you may read changed during the request. Send it again.")
	}
	return p, err
}

// Option changes what authentication returns.
type Option int

// Reading sets Principal.Reader.
const Reading Option = 1

// call is how a key is used.
type call struct {
	counted bool // against the daily quota
	session bool // by a browser: a session is needed, and otherwise any key but one
	reading bool // documents, so its Reader is needed
	again   bool // it is already in use
	// knownEnd, with again, is when the key expires, as was known when its request began: at or after it, the key is judged as it was just
	// before. nil: it did not expire.
	knownEnd *time.Time
}

func (s *Service) authenticate(ctx context.Context, text string, c call) (Authentication, error) {
	kind, id, secret, ok := ParseKey(text)
	if !ok || c.session != (kind == KindSession) {
		return Authentication{}, unauthorized()
	}
	now, hash := s.Now(), hashSecret(secret)
	begun := s.known.begin()
	if c.knownEnd != nil && !now.Before(*c.knownEnd) {
		now = c.knownEnd.Add(-1)
	}
	k, inMemory := s.known.get(id, now)
	if inMemory && (c.again || !k.key.matches(hash, now)) { // rotated since, or a wrong secret
		inMemory = false
	}
	if !inMemory {
		var err error
		if k.key, err = s.lookUp(ctx, id, hash, now); err != nil {
			return Authentication{}, err
		}
	}
	if err := s.usable(k.key, kind, now); err != nil {
		return Authentication{}, err
	}
	var limits []quota.State
	if !c.again {
		var err error
		if limits, err = s.admit(k, inMemory, now, begun); err != nil {
			return Authentication{Principal: k.principal()}, err
		}
	}
	groups := s.groupsOf(ctx, k.key.TeamID, k.key.UserID, c.reading)
	var quotas []quota.State
	if kind == KindPersonal || kind == KindSession || kind == KindAgent {
		state, user, err := s.count(ctx, k, inMemory, c.counted, now)
		if exceeded := (*quota.ExceededError)(nil); errors.As(err, &exceeded) {
			k.user = user
			return Authentication{Principal: k.principal()}, err
		}
		if err != nil {
			return Authentication{}, err
		}
		k.user = user
		if c.counted && kind != KindSession {
			quotas = []quota.State{state}
		}
	}
	if !inMemory {
		s.known.put(k, now, begun)
	}
	p := k.principal()
	p.ExpiresAt = k.key.endOf(hash)
	if c.reading {
		own, err := groups()
		if err != nil {
			return Authentication{}, asUnavailable(err)
		}
		p.Reader = p.reader(own)
	}
	return Authentication{Principal: p, Quotas: append(quotas, limits...)}, nil
}

// usable returns an error if the key is not of the kind, revoked or expired.
func (s *Service) usable(r record, kind Kind, now time.Time) error {
	switch {
	case r.Kind != kind:
		return unauthorized()
	case r.RevokedAt != nil:
		return s.reject(r, ReasonRevoked, now)
	case r.expired(now) && (kind == KindSession || kind == KindAgent):
		return unauthorized() // all of them expire
	case r.expired(now):
		return s.reject(r, ReasonExpired, now)
	}
	return nil
}

// admit asks Admit whether the key may be used now. A refused team or scim key stays cached, so
// that refusing it again takes no round trip; the user of another key is not known yet.
func (s *Service) admit(k known, inMemory bool, now time.Time, begun uint64) ([]quota.State, error) {
	if s.Admit == nil {
		return nil, nil
	}
	limits, err := s.Admit(k.key.TeamID, k.key.id)
	if err != nil && !inMemory && k.key.UserID == "" {
		s.known.put(k, now, begun)
	}
	return limits, err
}

// lookUp reads the key with eventual consistency. If it is missing or does not match, it is
// read again with strong consistency.
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

// count counts one call and returns the key's user. If the user is not cached, it is read in
// parallel with the count. An inactive user takes precedence over an exceeded quota.
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
		switch {
		case err != nil:
		case k.key.Kind == KindSession:
			err = s.checkSession(ctx, k.key, now)
		case k.key.Kind == KindAgent:
			_, err = s.checkOpener(ctx, k.key.Opener, now)
		}
		read <- result{user, err}
	}()
	state, err := step(ctx, k.key, now)
	r := <-read
	switch {
	case errors.Is(r.err, table.ErrNotFound), r.err == nil && !r.user.Active:
		return quota.State{}, User{}, s.reject(k.key, ReasonInactive, now)
	case apierr.IsCode(r.err, apierr.CodeUnauthorized):
		return quota.State{}, User{}, r.err
	case r.err != nil:
		return quota.State{}, User{}, asUnavailable(r.err)
	}
	return state, r.user, err
}

func (s *Service) step(ctx context.Context, r record, now time.Time) (quota.State, error) {
	w := quota.Day(now)
	calls := quota.Calls
	if r.Kind == KindSession {
		calls = quota.SessionCalls
	}
	limit := calls(w, 0).Limit
	// On a full disk too: else nobody could read, or remove what fills it.
	key := quota.CallsKey(r.TeamID, r.id, w)
	item, err := s.Table.Add(table.Freeing(ctx), quota.Step(key, w, limit))
	if table.IsFull(err) || table.IsUnwritable(err) { // reads go on, as those of other keys do; what writes is refused by its own write
		if item, err = s.counted(ctx, key); err == nil && quota.Used(item) >= limit {
			return quota.State{}, quota.Exceeded(calls(w, limit))
		}
	}
	if table.AsConditionFailed(err) != nil {
		return quota.State{}, quota.Exceeded(calls(w, limit))
	}
	if err != nil {
		return quota.State{}, asUnavailable(fmt.Errorf("count a call of key %s: %w", r.id, err))
	}
	return calls(w, quota.Used(item)), nil
}

// counted returns a counter, or the zero Item.
func (s *Service) counted(ctx context.Context, key table.Key) (table.Item, error) {
	item, err := s.Table.Get(ctx, key)
	if errors.Is(err, table.ErrNotFound) {
		return table.Item{}, nil
	}
	return item, err
}

// userOf reads the user of a personal key. If it seems to be missing, it may be new and is read
// again with strong consistency.
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

// asUnavailable returns a 503 for an error of the store. A damaged record stays an internal
// error, and a disk that takes nothing what it is, which is said by itself.
func asUnavailable(err error) error {
	if errors.Is(err, errDamaged) || table.IsFull(err) || table.IsUnwritable(err) {
		return err
	}
	return apierr.New(apierr.Unavailable, apierr.CodeUnavailable,
		"The key cannot be checked at the moment. Try again.").WithCause(err)
}

func (k known) principal() Principal {
	p := Principal{TeamID: k.key.TeamID, KeyID: k.key.id, KeyName: k.key.Name, Kind: k.key.Kind,
		UserID: k.key.UserID, UserName: k.user.UserName, MayActFor: k.key.ActFor && k.key.Kind == KindTeam, Sources: slices.Clone(k.key.DataSourceIDs), Scopes: slices.Clone(k.key.Scopes), ExpiresAt: k.key.ExpiresAt}
	if p.Kind == KindSession {
		p.Opener = k.key.Opener
	}
	p.Admin = (p.Kind == KindPersonal || p.Kind == KindSession) && k.user.Role == RoleAdmin && !p.Restricted()
	return p
}
