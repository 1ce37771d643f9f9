// Package team stores teams, their users, and the API keys that authenticate every
// request.
//
// Only the SHA-256 of a key's secret part is stored. The secret is 32 random bytes, so
// a fast hash is as hard to reverse as a slow one, and takes microseconds per request.
//
// # What authentication costs
//
// A key and its user are read once and then cached for 9 seconds. A read may be a second old. So a key that is revoked,
// a user who is deactivated or a role that is removed stops working within 10 seconds, and in the process that made the
// change with the next request. The same holds for a new userName, by which rules may open. Round trips in sequence:
//
//	team or scim key   0 if cached, otherwise 1 (the key)
//	session            1 if cached (the count), otherwise 2 (the session; then its user, its last use and the count in parallel)
//	personal key       1 if cached (the count), otherwise 2 (the key; then its user and the count in parallel)
//
// A key that is not found, or whose secret does not match, is read again with strong
// consistency, so that new keys and rotated secrets work at once. Because the user is
// read in parallel with the count, a refused call with the key of an inactive user may
// be counted. This has no effect: the keys of a deactivated user never work again.
// Copying the user's state to its keys would save the read, but every change of a user
// would change all its keys.
//
// The groups of a person, on which depends what they may read, are not cached: a change
// of members holds with the next request. They are read next to the count, so a request
// that reads documents takes no more round trips in sequence.
//
// Touch writes the time of last use. The caller runs it in parallel with the request,
// and waits for it before the request ends.
package team

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/quota"
	"docent/shared/table"
)

// MaxName limits the names of teams and keys, in Unicode code points.
const MaxName = 100

// Fields are the fields of a team that an admin sets. They are declared only here: requests,
// replies, the stored item and events use this struct.
type Fields struct {
	Name     string `json:"name" minLength:"1" maxLength:"100"`
	WebFetch bool   `json:"webFetch" doc:"Content may be fetched from the web."`
}

// Team is a tenant: everything belongs to exactly one team.
type Team struct {
	ID string `json:"id"`
	Fields
	CreatedAt time.Time `json:"createdAt"`
}

// Service holds the rules of teams, users and keys. It must not be copied.
type Service struct {
	Table  table.Store
	Events *audit.Log // nil: nothing is recorded
	Now    func() time.Time
	NewID  func() string // time-ordered UUIDs
	// Admit limits the requests of a key that is valid. It returns the limits for the reply's
	// headers, or the error of a refusal; nil: nothing is limited.
	Admit  func(teamID, keyID string) ([]quota.State, error)
	Random io.Reader // of key ids and secrets; nil: crypto/rand
	// SourceExists reports whether id is a data source of the team. If it is nil, keys
	// may be restricted to ids that do not exist.
	SourceExists func(ctx context.Context, teamID, id string) (bool, error)

	// MaySignInWithKey returns an error if users of the team may not sign in to the dashboard
	// with a personal key. If it is nil, they may.
	MaySignInWithKey func(ctx context.Context, teamID string) error

	// TakeInvitation deletes and returns the invitation of the sign-in link whose code has the
	// hexadecimal hash, or reports false. It is for links that the operator makes while no
	// other program can write to Table. If it is nil, all links are in Table.
	TakeInvitation func(ctx context.Context, hash string) (Invitation, bool, error)

	// Groups returns the groups that a user is a member of at this moment. If it is nil,
	// users have none.
	Groups func(ctx context.Context, teamID, userID string) ([]access.Group, error)

	known cache
}

// CreateTeam creates a team and its first user, an admin. An invalid name is an *apierr.Error.
func (s *Service) CreateTeam(ctx context.Context, name, adminUserName string) (Team, User, error) {
	if err := checkName("/name", name); err != nil {
		return Team{}, User{}, err
	}
	t := Team{ID: s.NewID(), Fields: Fields{Name: name}, CreatedAt: s.moment()}
	p, err := s.firstAdmin(adminUserName)
	if err != nil {
		return Team{}, User{}, err
	}
	item, err := teamItem(t)
	if err != nil {
		return Team{}, User{}, err
	}
	ops, err := insertOps(t.ID, p)
	if err != nil {
		return Team{}, User{}, err
	}
	ops = append(ops,
		table.Put{Item: item, If: table.Absent()},
		table.Put{Item: table.Item{Key: teamEntryKey(t.ID), Version: 1}, If: table.Absent()})
	if err := s.record(ctx, t.ID, insertEvents(p), ops...); err != nil {
		return Team{}, User{}, fmt.Errorf("create team: %w", err)
	}
	return t, p.User, nil
}

// Team returns a team. For an unknown one it returns a 404.
func (s *Service) Team(ctx context.Context, teamID string) (Team, error) {
	if !isUUID(teamID) {
		return Team{}, missingTeam()
	}
	item, err := s.Table.Get(ctx, teamKey(teamID))
	if errors.Is(err, table.ErrNotFound) {
		return Team{}, missingTeam()
	}
	if err != nil {
		return Team{}, fmt.Errorf("read team %s: %w", teamID, err)
	}
	return teamFrom(item)
}

// UpdateTeam applies change, possibly several times, and returns the team. An invalid name or
// an unknown team is an *apierr.Error.
func (s *Service) UpdateTeam(ctx context.Context, teamID string, change func(*Fields)) (Team, error) {
	event := s.Events.OrSilent(s.Table).Claim(ctx, teamID, 1)
	defer event.End(ctx)
	for range maxAttempts {
		t, err := s.updateOnce(ctx, event, teamID, change)
		if table.AsConditionFailed(err) == nil {
			return t, err
		}
	}
	return Team{}, fmt.Errorf("change team %s: %w", teamID, table.ErrConflict)
}

// updateOnce is one attempt of UpdateTeam. Its Write fails if the team has changed in the
// meantime.
func (s *Service) updateOnce(ctx context.Context, event *audit.Claim, teamID string, change func(*Fields)) (Team, error) {
	before, err := s.Table.Get(ctx, teamKey(teamID))
	if errors.Is(err, table.ErrNotFound) {
		return Team{}, missingTeam()
	}
	if err != nil {
		return Team{}, fmt.Errorf("read team %s: %w", teamID, err)
	}
	old, err := teamFrom(before)
	if err != nil {
		return Team{}, err
	}
	t := old
	change(&t.Fields)
	if t == old {
		return t, nil
	}
	if t.Name != old.Name { // a stored name may have control characters, which earlier versions took
		if err := checkName("/name", t.Name); err != nil {
			return Team{}, err
		}
	}
	item, err := teamItem(t)
	if err != nil {
		return Team{}, err
	}
	item.Version = before.Version + 1
	if err := event.Write(ctx, []audit.Event{updateEvent(old, t)}, table.Put{Item: item, If: table.VersionIs(before.Version)}); err != nil {
		return Team{}, fmt.Errorf("change team %s: %w", teamID, err)
	}
	return t, nil
}

// updateEvent returns the event of a team that changes to after.
func updateEvent(before, after Team) audit.Event {
	return audit.Event{Type: audit.TeamUpdated, Changes: audit.Changes(before.Fields, after.Fields),
		Targets: []audit.Target{{Type: audit.TargetTeam, ID: after.ID, DisplayName: after.Name}}}
}

// IDs returns the ids of all teams in store, in order.
func IDs(ctx context.Context, store table.Store) (ids []string, err error) {
	for item, err := range table.All(ctx, store, table.Query{Table: table.Identities, Partition: teamsPartition}) {
		if err != nil {
			return nil, fmt.Errorf("list teams: %w", err)
		}
		ids = append(ids, item.Sort)
	}
	return ids, nil
}

// Teams returns every team in the order of their ids, for the operator.
func (s *Service) Teams(ctx context.Context) ([]Team, error) {
	ids, err := IDs(ctx, s.Table)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	keys := make([]table.Key, len(ids))
	for i, id := range ids {
		keys[i] = teamKey(id)
	}
	items, err := s.Table.BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read teams: %w", err)
	}
	teams := make([]Team, 0, len(items))
	for _, item := range items {
		t, err := teamFrom(item)
		if err != nil {
			return nil, err
		}
		teams = append(teams, t)
	}
	return teams, nil
}

// IDs returns the ids of at most limit teams after the id after, in order.
func (s *Service) IDs(ctx context.Context, after string, limit int) ([]string, error) {
	var ids []string
	for item, err := range table.All(ctx, s.Table, table.Query{Table: table.Identities, Partition: teamsPartition, From: after}) {
		if err != nil {
			return nil, fmt.Errorf("list teams: %w", err)
		}
		if item.Sort == after {
			continue
		}
		if ids = append(ids, item.Sort); len(ids) == limit {
			break
		}
	}
	return ids, nil
}

func teamItem(t Team) (table.Item, error) {
	body, err := json.Marshal(t)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode team: %w", err)
	}
	return table.Item{Key: teamKey(t.ID), Version: 1, Body: body}, nil
}

func teamFrom(item table.Item) (Team, error) {
	var t Team
	if err := json.Unmarshal(item.Body, &t); err != nil {
		return Team{}, fmt.Errorf("decode team %s: %w: %w", item.Partition, errDamaged, err)
	}
	return t, nil
}

func missingTeam() error { return apierr.Missing("team") }

// moment returns the current time with the precision of replies.
func (s *Service) moment() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

func checkName(pointer, name string) error {
	if n := utf8.RuneCountInString(name); n < 1 || n > MaxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return apierr.BadField(pointer, "must have 1 to %d characters and no control characters", MaxName)
	}
	return nil
}
