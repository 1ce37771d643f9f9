package team

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"docent/shared/audit"
	"docent/shared/table"
)

// insertKey stores a new key with its list entries. It fails if the team is missing or the user
// is not active.
func (s *Service) insertKey(ctx context.Context, r record) error {
	item, err := r.item()
	if err != nil {
		return err
	}
	ops := []table.Op{
		table.Check{Key: teamKey(r.TeamID), If: table.Exists()},
		table.Put{Item: item, If: table.Absent()},
		table.Put{Item: table.Item{Key: keyEntryKey(r.TeamID, r.id, r.CreatedAt), Version: 1}},
	}
	if r.Kind == KindPersonal {
		ops = append(ops,
			table.Check{Key: userKey(r.TeamID, r.UserID), If: table.Is(stateField, stateActive)},
			table.Put{Item: table.Item{Key: userKeyEntryKey(r.TeamID, r.UserID, r.id), Version: 1}})
	}
	err = s.Events.OrSilent(s.Table).Write(ctx, r.TeamID, []audit.Event{keyCreated(r)}, ops...)
	if failed := table.AsConditionFailed(err); failed != nil {
		switch failed.Key {
		case teamKey(r.TeamID):
			return missingTeam()
		case userKey(r.TeamID, r.UserID):
			return invalidUser()
		}
	}
	if err != nil {
		return fmt.Errorf("store key %s: %w", r.id, err)
	}
	return nil
}

// maxAttempts limits how often a change is tried after conflicts.
const maxAttempts = 5

// changeKey applies change, possibly several times, to the team's key. It stores the key, the
// operations that change returns and an event of the given kind in one Write. For an unknown or
// revoked key it returns a 404. An error of change changes nothing.
func (s *Service) changeKey(ctx context.Context, teamID, id string, kind audit.Type, change func(*record) ([]table.Op, error)) (record, error) {
	if !isKeyID(id) {
		return record{}, missingKey()
	}
	event := s.Events.OrSilent(s.Table).Claim(ctx, teamID, 1)
	defer event.End(ctx)
	for range maxAttempts {
		r, err := s.readRecord(ctx, id)
		if errors.Is(err, table.ErrNotFound) || err == nil && (r.TeamID != teamID || r.RevokedAt != nil) {
			return record{}, missingKey()
		}
		if err != nil {
			return record{}, err
		}
		if (r.Kind == KindSession || r.Kind == KindAgent) && kind == audit.APIKeyRotated {
			return record{}, missingKey()
		}
		before := r.version
		r.version++
		ops, err := change(&r)
		if err != nil {
			return record{}, err
		}
		item, err := r.item()
		if err != nil {
			return record{}, err
		}
		err = event.Write(ctx, []audit.Event{keyChanged(kind, r)}, append(ops, table.Put{Item: item, If: table.VersionIs(before)})...)
		if table.AsConditionFailed(err) != nil {
			continue
		}
		if err != nil {
			return record{}, fmt.Errorf("change key %s: %w", id, err)
		}
		s.known.remove(id)
		return r, nil
	}
	return record{}, fmt.Errorf("change key %s: %w", id, table.ErrConflict)
}

// readKeys returns those of the keys that belong to the team and are not revoked.
func (s *Service) readKeys(ctx context.Context, teamID string, ids []string) (map[string]APIKey, error) {
	keys := map[string]APIKey{}
	if len(ids) == 0 {
		return keys, nil
	}
	wanted := make([]table.Key, 0, 2*len(ids))
	for _, id := range ids {
		wanted = append(wanted, recordKey(id), lastUseKey(id))
	}
	items, err := s.Table.BatchGet(ctx, wanted)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	now := s.Now()
	for _, item := range items { // a key's record precedes its last use
		if id := keyIDOf(item); item.Key == lastUseKey(id) {
			if k, ok := keys[id]; ok {
				used := time.UnixMilli(item.Numbers[lastUseField]).UTC()
				k.LastUsedAt = &used
				keys[id] = k
			}
			continue
		}
		r, err := recordFrom(item)
		if err != nil {
			return nil, err
		}
		if r.TeamID == teamID && r.RevokedAt == nil {
			keys[r.id] = r.shown(now)
		}
	}
	return keys, nil
}

func (s *Service) readRecord(ctx context.Context, id string, opts ...table.ReadOption) (record, error) {
	item, err := s.Table.Get(ctx, recordKey(id), opts...)
	if err != nil {
		return record{}, fmt.Errorf("read key %s: %w", id, err)
	}
	return recordFrom(item)
}

// lastUseField contains Unix milliseconds.
const lastUseField = "at"

// lastUseEvery is the least time between two writes of a key's last use.
const lastUseEvery = time.Minute

// Touch records that p's key was used now, unless a use in the last minute is recorded. It
// writes at most once.
func (s *Service) Touch(ctx context.Context, p Principal) error {
	now := s.Now()
	if !s.known.touch(p.KeyID, now) {
		return nil
	}
	return s.writeUse(ctx, p, now)
}

// StartTouching is Touch in parallel with a request. The caller calls wait before the request ends, and only logs its error. Most
// requests have nothing to write: these start nothing.
func (s *Service) StartTouching(ctx context.Context, p Principal) (wait func() error) {
	now := s.Now()
	if !s.known.touch(p.KeyID, now) {
		return func() error { return nil }
	}
	written := make(chan error, 1)
	go func() { written <- s.writeUse(ctx, p, now) }()
	return func() error { return <-written }
}

func (s *Service) writeUse(ctx context.Context, p Principal, now time.Time) error {
	at := now.UnixMilli()
	use := table.Add{
		Key: lastUseKey(p.KeyID), Numbers: map[string]int64{lastUseField: at},
		If: table.Below(lastUseField, at-lastUseEvery.Milliseconds()+1),
	}
	if p.Kind == KindSession {
		use.Expires = now.Add(SessionLife + endedFor)
	}
	_, err := s.Table.Add(ctx, use)
	if err != nil && table.AsConditionFailed(err) == nil {
		return fmt.Errorf("record the use of key %s: %w", p.KeyID, err)
	}
	return nil
}

func (r *record) item() (table.Item, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode key %s: %w", r.id, err)
	}
	item := table.Item{Key: recordKey(r.id), Version: r.version, Body: body}
	switch {
	case r.Kind == KindSession && r.ExpiresAt != nil:
		item.Expires = r.ExpiresAt.Add(endedFor)
	case r.RevokedAt != nil:
		item.Expires = r.RevokedAt.Add(revokedFor)
	case r.Agent != nil && r.Agent.RefreshUntil != nil:
		item.Expires = r.Agent.RefreshUntil.Add(endedFor)
	}
	return item, nil
}

// errDamaged marks items that cannot be decoded, as opposed to errors of the store.
var errDamaged = errors.New("stored record is damaged")

func recordFrom(item table.Item) (record, error) {
	r := record{id: keyIDOf(item), version: item.Version}
	if err := json.Unmarshal(item.Body, &r); err != nil {
		return record{}, fmt.Errorf("decode key %s: %w: %w", r.id, errDamaged, err)
	}
	return r, nil
}

func keyIDOf(item table.Item) string {
	_, id, _ := strings.Cut(item.Partition, "/")
	return id
}

func keyIDOfEntry(sort string) string {
	_, id, _ := strings.Cut(sort, "#")
	return id
}
