// Package team holds who Docent serves: teams, their users, and the API keys by
// which every request says who it is.
//
// A key is presented whole; only the SHA-256 of its secret part is stored. The
// secret is 32 random bytes, so a plain hash is as hard to reverse as a slow one
// and costs microseconds on every request.
//
// # What authentication costs
//
// A key and its user are read once and then kept in memory for 9 seconds, so
// with a read that may be a second behind, what is revoked, deactivated or
// demoted has ended everywhere within 10. Round trips in sequence:
//
//	team or scim key   0 from memory, else 1 (the key)
//	personal key       1 from memory (the count), else 2 (the key, then its user beside the count)
//
// A key that is not found, or whose secret does not match, is read once more
// with strong consistency, so that a new key and a rotated secret work at once.
// Reading a user beside the count means that a call with the key of an inactive
// user may step that key's counter although it is refused; nobody can read that
// counter, since the keys of a deactivated user never work again. Copying the
// user's state onto its keys would save the read, and would make every change of
// a user a change of all its keys.
//
// The time of last use is written by Touch, which the caller runs beside the
// request and joins before it ends.
package team

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/table"
)

// MaxName bounds the names of teams and keys, in Unicode code points.
const MaxName = 100

// Fields are the fields of a team that an admin chooses. They are declared here only:
// requests, replies, the stored item and events take them from this struct.
type Fields struct {
	Name     string `json:"name" minLength:"1" maxLength:"100"`
	WebFetch bool   `json:"webFetch" doc:"Content may be fetched from the web."`
}

// Team is the tenant: everything belongs to exactly one team.
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
	Random io.Reader     // of key ids and secrets; nil: crypto/rand
	// SourceExists tells whether id is a data source of the team. Where it is nil,
	// keys may be restricted to ids that do not exist.
	SourceExists func(ctx context.Context, teamID, id string) (bool, error)

	known cache
}

// CreateTeam makes a team with a first user, its admin, with whom its events begin.
// A name out of bounds is an *apierr.Error.
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

// Team returns a team, or the 404 of an unknown one.
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

// UpdateTeam applies change, possibly several times, and returns the team. A name out of
// bounds is an *apierr.Error, and so is an unknown team.
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

// updateOnce is UpdateTeam on the team as it is now; its Write fails when another one
// changed the team meanwhile.
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
	if err := checkName("/name", t.Name); err != nil {
		return Team{}, err
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

// updateEvent is the event of a team that becomes after.
func updateEvent(before, after Team) audit.Event {
	return audit.Event{Type: audit.TeamUpdated, Changes: audit.Changes(before.Fields, after.Fields),
		Targets: []audit.Target{{Type: audit.TargetTeam, ID: after.ID, DisplayName: after.Name}}}
}

// Teams returns every team in the order of their ids, for the operator.
func (s *Service) Teams(ctx context.Context) ([]Team, error) {
	var keys []table.Key
	for item, err := range table.All(ctx, s.Table, table.Query{Table: table.Identities, Partition: teamsPartition}) {
		if err != nil {
			return nil, fmt.Errorf("list teams: %w", err)
		}
		keys = append(keys, teamKey(item.Sort))
	}
	if len(keys) == 0 {
		return nil, nil
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

// IDs returns the ids of up to limit teams after the id after, in their order.
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

// moment is the time now at the precision in which times are shown.
func (s *Service) moment() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

func checkName(pointer, name string) error {
	if n := utf8.RuneCountInString(name); n < 1 || n > MaxName || !utf8.ValidString(name) {
		return apierr.BadField(pointer, "must have 1 to %d characters", MaxName)
	}
	return nil
}
