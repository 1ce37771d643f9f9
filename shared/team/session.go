package team

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/table"
)

// Limits of sessions.
const (
	SessionLife = 12 * time.Hour // from the sign-in
	SessionIdle = time.Hour      // from the last call, which is recorded to the minute
	// MaxSessions limits the sessions of a user. The oldest end when another is opened.
	MaxSessions = 20
)

// endedFor is how long an ended session is stored.
const endedFor = 24 * time.Hour

// maxSessionName limits the name of a session, in bytes.
const maxSessionName = 100

// SignIn is a way to sign in.
type SignIn string

// The ways to sign in.
const (
	ByLink SignIn = "link" // a one-time link
	ByKey  SignIn = "key"  // a personal key
	BySAML SignIn = "saml" // the team's identity provider
	ByOIDC SignIn = "oidc" // the team's identity provider
)

// loggedIn are the events of the ways to sign in.
var loggedIn = map[SignIn]audit.Type{ByLink: audit.SessionCreated, ByKey: audit.SessionCreated, BySAML: audit.SAMLLoggedIn, ByOIDC: audit.OIDCLoggedIn}

// Session is a signed-in browser. Times are UTC with millisecond precision.
type Session struct {
	ID         string
	Name       string // of the browser
	SignIn     SignIn
	UserID     string
	CreatedAt  time.Time
	ExpiresAt  time.Time
	LastUsedAt *time.Time // to the minute
}

// NewSession is the input of OpenSession.
type NewSession struct {
	UserID, UserName string
	Name             string // of the browser; shortened if it is long
	SignIn           SignIn
	NotAfter         *time.Time     // it ends no later; nil: after SessionLife
	Details          []audit.Change // of the event, besides how the session was opened
	key              *record        // that opens it; nil: none does
	opener           Opener         // is key, and with which secret
}

// OpenSession creates a session of an active user and returns it with its full text, which is
// not stored. For an unknown or inactive user it returns a 401.
func (s *Service) OpenSession(ctx context.Context, teamID string, n NewSession) (Session, string, error) {
	if !isUUID(n.UserID) {
		return Session{}, "", unauthorized()
	}
	id, err := s.newKeyID()
	if err != nil {
		return Session{}, "", fmt.Errorf("make session id: %w", err)
	}
	secret, err := s.newSecret()
	if err != nil {
		return Session{}, "", fmt.Errorf("make session secret: %w", err)
	}
	now := s.moment()
	r := sessionRecord(teamID, n, now)
	r.id, r.Hash, r.version = id, hashSecret(secret), 1
	origin := audit.OriginFrom(ctx)
	origin.Actor = audit.Actor{Type: audit.ActorUser, ID: n.UserID, DisplayName: n.UserName,
		Credential: audit.Credential{Type: audit.SessionCookie, ID: id, Name: r.Name}}
	if err := s.insertSession(audit.WithOrigin(ctx, origin), r, n.Details); err != nil {
		return Session{}, "", err
	}
	if err := s.endOldest(ctx, teamID, n.UserID, id, now); err != nil {
		return Session{}, "", err
	}
	return r.session(), keyText(KindSession, id, secret), nil
}

// sessionRecord returns the record of a new session. One that a key opens can do no more than
// the key, and ends no later than it and the secret with which it was opened.
func sessionRecord(teamID string, n NewSession, now time.Time) record {
	expires := now.Add(SessionLife)
	name := strings.ToValidUTF8(n.Name[:min(len(n.Name), maxSessionName)], "")
	if name == "" {
		name = "Browser"
	}
	r := record{TeamID: teamID, CreatedAt: now, SignIn: n.SignIn, NewKey: NewKey{Kind: KindSession, Name: name, UserID: n.UserID}}
	if k := n.key; k != nil {
		r.Opener, r.DataSourceIDs, r.Scopes = n.opener, k.DataSourceIDs, k.Scopes
	}
	expires = earlier(expires, n.NotAfter)
	r.ExpiresAt = &expires
	return r
}

func (s *Service) insertSession(ctx context.Context, r record, details []audit.Change) error {
	item, err := r.item()
	if err != nil {
		return err
	}
	event := audit.Event{Type: loggedIn[r.SignIn], Targets: []audit.Target{{Type: audit.TargetSession, ID: r.id, DisplayName: r.Name}},
		Changes: append([]audit.Change{{Field: "signIn", To: string(r.SignIn)}}, details...)}
	err = s.record(ctx, r.TeamID, []audit.Event{event},
		table.Put{Item: item, If: table.Absent()},
		table.Check{Key: userKey(r.TeamID, r.UserID), If: table.Is(stateField, stateActive)},
		// In the list of the user's keys, so that the user's deactivation ends it.
		table.Put{Item: table.Item{Key: userKeyEntryKey(r.TeamID, r.UserID, r.id), Version: 1, Expires: item.Expires}})
	if failed := table.AsConditionFailed(err); failed != nil && failed.Key == userKey(r.TeamID, r.UserID) {
		return unauthorized()
	}
	if err != nil {
		return fmt.Errorf("store session %s: %w", r.id, err)
	}
	return nil
}

// SignInWithKey opens a session with the text of a personal key. It returns the errors of
// Authenticate, and wrong-key-kind for a key of another kind.
func (s *Service) SignInWithKey(ctx context.Context, text, name string) (Session, string, Principal, error) {
	a, err := s.Authenticate(ctx, text)
	if err == nil {
		err = RequireKind(a.Principal, KindPersonal)
	}
	if err == nil && s.MaySignInWithKey != nil {
		err = s.MaySignInWithKey(ctx, a.Principal.TeamID)
	}
	if err != nil {
		return Session{}, "", a.Principal, err
	}
	// Read again, because the memory of keys may be older than a rotation.
	k, err := s.readRecord(ctx, a.Principal.KeyID)
	if errors.Is(err, table.ErrNotFound) {
		err = unauthorized()
	}
	if err != nil {
		return Session{}, "", a.Principal, err
	}
	_, _, used, _ := ParseKey(text)
	opener := Opener{OpenedBy: k.id, OpenedWith: hashSecret(used)}
	end, err := opener.until(k, s.Now())
	if err != nil {
		return Session{}, "", a.Principal, err
	}
	opened, secret, err := s.OpenSession(ctx, a.Principal.TeamID, NewSession{UserID: a.Principal.UserID, UserName: a.Principal.UserName,
		Name: name, SignIn: ByKey, NotAfter: end, key: &k, opener: opener})
	return opened, secret, a.Principal, err
}

// Sessions returns the user's sessions that can be used now, newest first.
func (s *Service) Sessions(ctx context.Context, teamID, userID string) ([]Session, error) {
	keys, err := s.keysOfUser(ctx, teamID, userID, KindSession)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	out := []Session{}
	for _, r := range keys.found {
		shown := r.session()
		if at, ok := keys.used[r.id]; ok {
			shown.LastUsedAt = &at
		}
		if !r.expired(now) && now.Sub(r.lastUse(keys.used)) <= SessionIdle && keys.open(r, now) {
			out = append(out, shown)
		}
	}
	slices.SortFunc(out, func(a, b Session) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return out, nil
}

// EndSession ends a session of the user. For an unknown or ended one, or one of another user, it
// returns a 404.
func (s *Service) EndSession(ctx context.Context, teamID, userID, id string) error {
	if !isKeyID(id) {
		return apierr.Missing("session")
	}
	r, err := s.readRecord(ctx, id)
	if errors.Is(err, table.ErrNotFound) || err == nil && (r.TeamID != teamID || r.UserID != userID || r.Kind != KindSession) {
		return apierr.Missing("session")
	}
	if err == nil {
		_, err = s.revoke(ctx, teamID, id)
	}
	if apierr.IsCode(err, apierr.CodeNotFound) { // it has ended, as revoke says of a key
		return apierr.Missing("session")
	}
	return err
}

// EndSessions ends every session of the user.
func (s *Service) EndSessions(ctx context.Context, teamID, userID string) error {
	keys, err := s.keysOfUser(ctx, teamID, userID, KindSession)
	if err != nil {
		return err
	}
	for _, r := range keys.found {
		if _, err := s.revoke(ctx, teamID, r.id); err != nil && !apierr.IsCode(err, apierr.CodeNotFound) {
			return err
		}
	}
	return nil
}

// endOldest ends the user's oldest sessions beyond MaxSessions, but not the one that was opened now. It is called when
// that is stored, so that of several opened at once the last call sees all.
func (s *Service) endOldest(ctx context.Context, teamID, userID, opened string, now time.Time) error {
	keys, err := s.keysOfUser(ctx, teamID, userID, KindSession)
	if err != nil {
		return err
	}
	slices.SortFunc(keys.found, newestLast(opened, func(r record) time.Time { return r.CreatedAt }))
	for i, r := range keys.found {
		idle := now.Sub(r.lastUse(keys.used)) > SessionIdle
		if r.id == opened || !idle && len(keys.found)-i <= MaxSessions {
			continue
		}
		if _, err := s.revoke(ctx, teamID, r.id); err != nil && !apierr.IsCode(err, apierr.CodeNotFound) {
			return err
		}
	}
	return nil
}

// newestLast returns an order of records by a time, in which the one with the id newest is the last.
func newestLast(newest string, at func(record) time.Time) func(a, b record) int {
	last := func(r record) int {
		if r.id == newest {
			return 1
		}
		return 0
	}
	return func(a, b record) int {
		return cmp.Or(cmp.Compare(last(a), last(b)), at(a).Compare(at(b)), cmp.Compare(a.id, b.id))
	}
}

// userKeys are the keys of a user that are not ended.
type userKeys struct {
	found   []record             // of the kind that was asked for
	used    map[string]time.Time // when each was last used, by id
	openers map[string]record    // the personal keys, by id
	gone    []string             // ids in the list of keys whose records have expired
}

// open reports whether the key that opened r works now, or none did.
func (k userKeys) open(r record, now time.Time) bool {
	if r.OpenedBy == "" {
		return true
	}
	key, ok := k.openers[r.OpenedBy]
	if !ok {
		return false
	}
	_, err := r.until(key, now)
	return err == nil
}

// keysOfUser returns the user's keys of a kind that are not ended.
func (s *Service) keysOfUser(ctx context.Context, teamID, userID string, kind Kind) (userKeys, error) {
	keys := userKeys{used: map[string]time.Time{}, openers: map[string]record{}}
	var wanted []table.Key
	read := map[string]bool{}
	q := table.Query{Table: table.Identities, Partition: userKeysPartition(teamID, userID)}
	for item, err := range table.All(ctx, s.Table, q) {
		if err != nil {
			return userKeys{}, fmt.Errorf("list keys of user %s: %w", userID, err)
		}
		wanted, read[item.Sort] = append(wanted, recordKey(item.Sort), lastUseKey(item.Sort)), false
	}
	if len(wanted) == 0 {
		return keys, nil
	}
	items, err := s.Table.BatchGet(ctx, wanted)
	if err != nil {
		return userKeys{}, fmt.Errorf("read keys: %w", err)
	}
	for _, item := range items {
		if id := keyIDOf(item); item.Key == lastUseKey(id) {
			keys.used[id] = time.UnixMilli(item.Numbers[lastUseField]).UTC()
			continue
		}
		r, err := recordFrom(item)
		if err != nil {
			return userKeys{}, err
		}
		read[r.id] = true
		if r.TeamID != teamID || r.RevokedAt != nil {
			continue
		}
		if r.Kind == kind {
			keys.found = append(keys.found, r)
		}
		if r.Kind == KindPersonal {
			keys.openers[r.id] = r
		}
	}
	for id, found := range read {
		if !found {
			keys.gone = append(keys.gone, id)
		}
	}
	return keys, nil
}

// forgetGone removes what is left of keys whose records have expired: of up to 50, so that it is one Write.
func (s *Service) forgetGone(ctx context.Context, teamID, userID string, gone []string) error {
	if len(gone) == 0 {
		return nil
	}
	var ops []table.Op
	for _, id := range gone[:min(len(gone), table.MaxOps/2)] {
		ops = append(ops, table.Delete{Key: userKeyEntryKey(teamID, userID, id)}, table.Delete{Key: lastUseKey(id)})
	}
	if err := s.Table.Write(ctx, ops...); err != nil {
		return fmt.Errorf("remove expired keys of user %s from the list: %w", userID, err)
	}
	return nil
}

// checkSession returns a 401 if the session was idle for too long, or if the key or the secret that
// opened it no longer works.
func (s *Service) checkSession(ctx context.Context, r record, now time.Time) error {
	wanted := []table.Key{lastUseKey(r.id)}
	if r.OpenedBy != "" {
		wanted = append(wanted, recordKey(r.OpenedBy))
	}
	items, err := s.Table.BatchGet(ctx, wanted)
	if err != nil {
		return fmt.Errorf("read the last use of session %s: %w", r.id, err)
	}
	used, opened := map[string]time.Time{}, r.OpenedBy == ""
	for _, item := range items {
		if item.Key == lastUseKey(r.id) {
			used[r.id] = time.UnixMilli(item.Numbers[lastUseField])
			continue
		}
		key, err := recordFrom(item)
		if err != nil {
			return err
		}
		if _, err := r.until(key, now); err != nil {
			return err
		}
		opened = true
	}
	if !opened || now.Sub(r.lastUse(used)) > SessionIdle {
		return unauthorized()
	}
	return nil
}

// lastUse returns the later of the recorded use and the sign-in.
func (r *record) lastUse(used map[string]time.Time) time.Time {
	if at := used[r.id]; at.After(r.CreatedAt) {
		return at
	}
	return r.CreatedAt
}

func (r *record) session() Session {
	return Session{ID: r.id, Name: r.Name, SignIn: r.SignIn, UserID: r.UserID, CreatedAt: r.CreatedAt, ExpiresAt: *r.ExpiresAt}
}
