package team

import (
	"bytes"
	"context"
	"crypto/subtle"
	"fmt"
	"slices"
	"time"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/table"
)

// Limits of keys.
const (
	MaxSources = 100                // data sources of a restricted key
	MaxOverlap = 7 * 24 * time.Hour // of a rotated secret
)

// revokedFor is how long a revoked key is stored, so that its use can be distinguished from
// that of an unknown key.
const revokedFor = 365 * 24 * time.Hour

// APIKey is a key without its secret. Times are UTC with millisecond precision, or nil.
type APIKey struct {
	ID                      string     `json:"id"` // public
	TeamID                  string     `json:"-"`
	Kind                    Kind       `json:"kind"`
	Name                    string     `json:"name"`
	Hint                    string     `json:"hint,omitempty"`      // the last four characters of its text; empty: made before hints
	CreatedBy               string     `json:"createdBy,omitempty"` // the id of a user; empty: the operator, or unknown
	UserID                  *string    `json:"userId"`              // of a personal key
	DataSourceIDs           []string   `json:"dataSourceIds"`       // nil: not restricted
	Scopes                  []Scope    `json:"scopes"`              // nil: all that the kind may do
	ActFor                  bool       `json:"actFor,omitempty"`    // a team key that may act for people
	CreatedAt               time.Time  `json:"createdAt"`
	ExpiresAt               *time.Time `json:"expiresAt"`
	LastUsedAt              *time.Time `json:"lastUsedAt"`              // to the minute
	PreviousSecretExpiresAt *time.Time `json:"previousSecretExpiresAt"` // while a rotated secret still works
}

// NewKey is the input of CreateKey: the fields of a key that an admin chooses. They are
// declared here only: requests and the stored record take them from this struct.
type NewKey struct {
	Kind          Kind       `json:"kind" enum:"personal,team,scim"`
	Name          string     `json:"name" minLength:"1" maxLength:"100"`
	UserID        string     `json:"userId,omitempty" doc:"Required for a personal key, and only for one."`
	DataSourceIDs []string   `json:"dataSourceIds,omitempty" minItems:"1" maxItems:"100" doc:"Restricts the key; not for scim keys."`
	Scopes        []Scope    `json:"scopes,omitempty" minItems:"1" maxItems:"5" enum:"read,ask,write,manage,audit" doc:"What the key may do, at most what the key that makes it may do; all that its kind may do when absent. read: documents, collections, data sources and context. ask: questions, answers, chat and feedback. write: put and delete documents and items. manage: collections, data sources, keys, users and settings. audit: security events and usage. Not for scim keys."`
	ExpiresAt     *time.Time `json:"expiresAt,omitempty" doc:"In the future, and at most when the key expires that creates this one, or that opened the session. A key that expires creates none without it."`
	ActFor        bool       `json:"actFor,omitempty" doc:"Lets a team key act for a person whom the header Docent-User names: it then reads what that person may read."`
}

// CreateKey creates a key and returns it with its full text, which is not stored. An invalid k,
// an unknown team included, is an *apierr.Error, as is one with a scope that the caller lacks, or one
// that outlives the caller's key.
func (s *Service) CreateKey(ctx context.Context, teamID string, k NewKey) (APIKey, string, error) {
	k, err := s.checkNewKey(ctx, teamID, k)
	if err != nil {
		return APIKey{}, "", err
	}
	id, err := s.newKeyID()
	if err != nil {
		return APIKey{}, "", fmt.Errorf("make key id: %w", err)
	}
	secret, err := s.newSecret()
	if err != nil {
		return APIKey{}, "", fmt.Errorf("make key secret: %w", err)
	}
	text := keyText(k.Kind, id, secret)
	r := record{TeamID: teamID, NewKey: k, CreatedAt: s.moment(), Hash: hashSecret(secret), Hint: hintOf(text), CreatedBy: creator(ctx), id: id, version: 1}
	if err := s.insertKey(ctx, r); err != nil {
		return APIKey{}, "", err
	}
	return r.shown(r.CreatedAt), text, nil
}

// hintOf returns the last four characters of a key's text, by which people tell keys apart. They are of the
// checksum, so that nothing of the secret is kept.
func hintOf(text string) string { return text[len(text)-4:] }

// creator returns the id of the user whose request makes a key, empty for the operator.
func creator(ctx context.Context) string {
	if actor := audit.OriginFrom(ctx).Actor; actor.Type == audit.ActorUser {
		return actor.ID
	}
	return ""
}

// Key returns a key of the team. For an unknown or revoked key, or one of another team, it
// returns a 404.
func (s *Service) Key(ctx context.Context, teamID, id string) (APIKey, error) {
	if !isKeyID(id) {
		return APIKey{}, missingKey()
	}
	keys, err := s.readKeys(ctx, teamID, []string{id})
	if err != nil {
		return APIKey{}, err
	}
	if len(keys) == 0 {
		return APIKey{}, missingKey()
	}
	return keys[id], nil
}

// Keys returns the window w of the team's keys, with a Limit of 1 to 200: newest first, then by
// id.
func (s *Service) Keys(ctx context.Context, teamID string, w table.Window) (table.Slice[APIKey], error) {
	entries, err := table.ReadWindow(ctx, s.Table, table.Identities, keysPartition(teamID), w,
		func(item table.Item) (string, bool, error) { return keyIDOfEntry(item.Sort), true, nil })
	if err != nil {
		return table.Slice[APIKey]{}, fmt.Errorf("list keys: %w", err)
	}
	ids := make([]string, len(entries.Entries))
	for i, e := range entries.Entries {
		ids[i] = e.Value
	}
	keys, err := s.readKeys(ctx, teamID, ids)
	if err != nil {
		return table.Slice[APIKey]{}, err
	}
	out := table.Slice[APIKey]{Prev: entries.Prev, Next: entries.Next, First: entries.First, Last: entries.Last}
	for _, e := range entries.Entries {
		if k, ok := keys[e.Value]; ok { // otherwise revoked since the list was read
			out.Entries = append(out.Entries, table.Entry[APIKey]{Position: e.Position, Value: k})
		}
	}
	return out, nil
}

// RotateKey gives the key a new secret and returns its full new text. The old secret works for
// overlap, 0 to MaxOverlap; the one before it ends at once. Only a caller with all scopes of the key,
// whose own key lasts as long, may do it, since it learns the secret.
func (s *Service) RotateKey(ctx context.Context, teamID, id string, overlap time.Duration) (APIKey, string, error) {
	if overlap < 0 || overlap > MaxOverlap {
		return APIKey{}, "", apierr.BadField("/overlapSeconds", "must be 0 to %d", int64(MaxOverlap/time.Second))
	}
	secret, err := s.newSecret()
	if err != nil {
		return APIKey{}, "", fmt.Errorf("make key secret: %w", err)
	}
	end, err := s.endOfCaller(ctx)
	if err != nil {
		return APIKey{}, "", err
	}
	now := s.moment()
	r, err := s.changeKey(ctx, teamID, id, audit.APIKeyRotated, func(r *record) ([]table.Op, error) {
		if err := mayGrant(ctx, r.NewKey); err != nil {
			return nil, err
		}
		if err := mayRotate(r, end); err != nil {
			return nil, err
		}
		r.PreviousHash, r.PreviousExpiresAt = nil, nil
		if overlap > 0 {
			until := now.Add(overlap).Truncate(time.Millisecond)
			r.PreviousHash, r.PreviousExpiresAt = r.Hash, &until
		}
		r.Hash, r.Hint = hashSecret(secret), hintOf(keyText(r.Kind, id, secret))
		return nil, nil
	})
	if err != nil {
		return APIKey{}, "", err
	}
	return r.shown(now), keyText(r.Kind, id, secret), nil
}

// RevokeKey ends a key. After 10 seconds no Service accepts it. For an unknown or revoked key,
// or one of another team, it returns a 404.
func (s *Service) RevokeKey(ctx context.Context, teamID, id string) error {
	_, err := s.revoke(ctx, teamID, id)
	return err
}

// RevokeUserKeys ends every personal key of the user and returns them. A caller that
// deactivates or deletes a user calls it after storing that: keys are not created for inactive
// users, so none is missed. It can be repeated.
func (s *Service) RevokeUserKeys(ctx context.Context, teamID, userID string) ([]APIKey, error) {
	var revoked []APIKey
	q := table.Query{Table: table.Identities, Partition: userKeysPartition(teamID, userID)}
	for item, err := range table.All(ctx, s.Table, q) {
		if err != nil {
			return revoked, fmt.Errorf("list keys of user %s: %w", userID, err)
		}
		k, err := s.revoke(ctx, teamID, item.Sort)
		if apierr.IsCode(err, apierr.CodeNotFound) {
			continue
		}
		if err != nil {
			return revoked, err
		}
		revoked = append(revoked, k)
	}
	return revoked, nil
}

func (s *Service) revoke(ctx context.Context, teamID, id string) (APIKey, error) {
	now := s.moment()
	r, err := s.changeKey(ctx, teamID, id, audit.APIKeyRevoked, func(r *record) ([]table.Op, error) {
		r.RevokedAt = &now
		ops := []table.Op{
			table.Delete{Key: keyEntryKey(teamID, id, r.CreatedAt)},
			table.Delete{Key: lastUseKey(id)},
		}
		if r.UserID != "" {
			ops = append(ops, table.Delete{Key: userKeyEntryKey(teamID, r.UserID, id)})
		}
		return ops, nil
	})
	if err != nil {
		return APIKey{}, err
	}
	return r.shown(now), nil
}

// record is the body of a key's item.
type record struct {
	TeamID string `json:"teamId"`
	NewKey
	CreatedAt         time.Time  `json:"createdAt"`
	RevokedAt         *time.Time `json:"revokedAt,omitempty"`
	Hash              []byte     `json:"hash"`
	Hint              string     `json:"hint,omitempty"`
	CreatedBy         string     `json:"createdBy,omitempty"`
	PreviousHash      []byte     `json:"previousHash,omitempty"` // of the secret before a rotation
	PreviousExpiresAt *time.Time `json:"previousExpiresAt,omitempty"`
	SignIn            SignIn     `json:"signIn,omitempty"` // how a session was opened
	Opener                       // of a session or an agent
	Agent             *agent     `json:"agent,omitempty"` // of an agent

	id      string
	version int64
}

// matches reports, in constant time, whether hash is the hash of a secret that works now.
func (r *record) matches(hash []byte, now time.Time) bool {
	current := subtle.ConstantTimeCompare(r.Hash, hash) == 1
	previous := subtle.ConstantTimeCompare(r.PreviousHash, hash) == 1
	return current || previous && r.overlaps(now)
}

// endOf returns when the secret with the hash, which works now, stops to work; nil: never.
func (r *record) endOf(hash []byte) *time.Time {
	if bytes.Equal(hash, r.Hash) {
		return r.ExpiresAt
	}
	end := earlier(*r.PreviousExpiresAt, r.ExpiresAt) // of the secret before, within its overlap
	return &end
}

func (r *record) overlaps(now time.Time) bool {
	return r.PreviousExpiresAt != nil && now.Before(*r.PreviousExpiresAt)
}

// expired reports whether the key has ended at now. A session, or an access token of an agent, that would go on for much longer than any
// can was made while the clock was ahead, and has ended too.
func (r *record) expired(now time.Time) bool {
	if r.ExpiresAt == nil {
		return false
	}
	left := r.ExpiresAt.Sub(now)
	return left <= 0 || r.Kind == KindSession && left > 2*SessionLife || r.Kind == KindAgent && left > 2*AgentLife
}

func (r *record) shown(now time.Time) APIKey {
	k := APIKey{ID: r.id, TeamID: r.TeamID, Kind: r.Kind, Name: r.Name, DataSourceIDs: slices.Clone(r.DataSourceIDs), Scopes: slices.Clone(r.Scopes),
		CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt, ActFor: r.ActFor, Hint: r.Hint, CreatedBy: r.CreatedBy}
	if r.UserID != "" {
		k.UserID = &r.UserID
	}
	if r.overlaps(now) {
		k.PreviousSecretExpiresAt = r.PreviousExpiresAt
	}
	return k
}

func missingKey() error { return apierr.Missing("API key") }
