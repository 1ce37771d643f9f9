package team

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"docent/shared/table"
)

// ErrLastAdmin is returned for a change that would leave the team without an active admin who
// can act, that is, one with a personal key that may manage and is not restricted, revoked or expired.
var ErrLastAdmin = errors.New("last active admin")

// keysAtOnce is how many keys are read at once in the search for an admin.
const keysAtOnce = 100

// checkOtherAdmin returns checks for the Write by which the user leaving stops being an
// active admin: another admin who can act, and a key of that admin, are unchanged. So of
// two Writes that each remove one of the last two admins, one fails. If there is no such
// admin, it returns ErrLastAdmin if leaving can act; otherwise it returns no checks, and
// the count of admins decides.
//
// It reads the team's keys until it finds such an admin. An index of admins would have to
// be kept up to date, and admins rarely leave.
func (s *Service) checkOtherAdmin(ctx context.Context, teamID string, leaving Profile) ([]table.Op, error) {
	ids, couldAct := make([]string, 0, keysAtOnce), false
	try := func() ([]table.Op, error) {
		checks, acts, err := s.actingAdmin(ctx, teamID, leaving.ID, ids)
		couldAct, ids = couldAct || acts, ids[:0]
		return checks, err
	}
	for item, err := range table.All(ctx, s.Table, table.Query{Table: table.Identities, Partition: keysPartition(teamID)}) {
		if err != nil {
			return nil, fmt.Errorf("list keys: %w", err)
		}
		if ids = append(ids, keyIDOfEntry(item.Sort)); len(ids) < keysAtOnce {
			continue
		}
		if checks, err := try(); err != nil || checks != nil {
			return checks, err
		}
	}
	checks, err := try()
	if err == nil && checks == nil && couldAct {
		return nil, ErrLastAdmin
	}
	return checks, err
}

// actingAdmin searches the owners of the keys for an active admin other than leaving who can act. It returns the checks
// of checkOtherAdmin, or nil if there is no such admin. acts reports whether leaving can act by one of the keys.
func (s *Service) actingAdmin(ctx context.Context, teamID, leaving string, keyIDs []string) (checks []table.Op, acts bool, err error) {
	if len(keyIDs) == 0 {
		return nil, false, nil
	}
	keys := make([]table.Key, len(keyIDs))
	for i, id := range keyIDs {
		keys[i] = recordKey(id)
	}
	items, err := s.Table.BatchGet(ctx, keys)
	if err != nil {
		return nil, false, fmt.Errorf("read keys: %w", err)
	}
	now := s.Now()
	var owners []string
	byOwner := map[string]table.Item{}
	for _, item := range items {
		r, err := recordFrom(item)
		switch {
		case err != nil:
			return nil, false, err
		case r.TeamID != teamID || !r.acts(now):
		case r.UserID == leaving:
			acts = true
		case !slices.Contains(owners, r.UserID):
			owners, byOwner[r.UserID] = append(owners, r.UserID), item
		}
	}
	profiles, err := s.Profiles(ctx, teamID, owners)
	if err != nil {
		return nil, false, err
	}
	for _, id := range owners {
		if p, ok := profiles[id]; ok && p.admin() {
			return []table.Op{
				table.Check{Key: userKey(teamID, id), If: table.VersionIs(p.Version)},
				table.Check{Key: byOwner[id].Key, If: table.VersionIs(byOwner[id].Version)},
			}, acts, nil
		}
	}
	return nil, acts, nil
}

// acts reports whether an admin can use the key now to administer the team.
func (r *record) acts(now time.Time) bool {
	manages := r.Scopes == nil || slices.Contains(r.Scopes, ScopeManage)
	return r.Kind == KindPersonal && manages && r.DataSourceIDs == nil && r.RevokedAt == nil && !r.expired(now)
}
