package team

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"docent/shared/audit"
	"docent/shared/table"
)

// record applies ops and records events, all or nothing.
func (s *Service) record(ctx context.Context, teamID string, events []audit.Event, ops ...table.Op) error {
	return s.Events.Or(s.Table).Write(ctx, teamID, events, ops...)
}

// aboutKey is an event whose target is the key r.
func aboutKey(kind audit.Type, r record) audit.Event {
	return audit.Event{Type: kind, Targets: []audit.Target{{Type: audit.TargetAPIKey, ID: r.id, DisplayName: r.Name}}}
}

// aboutUser is an event whose target is the user p.
func aboutUser(kind audit.Type, p Profile) audit.Event {
	return audit.Event{Type: kind, Targets: []audit.Target{{Type: audit.TargetUser, ID: p.ID, DisplayName: p.UserName}}}
}

// replaced are the events of a user that becomes after.
func replaced(before, after Profile) []audit.Event {
	var events []audit.Event
	if before.Role != after.Role {
		e := aboutUser(audit.UserRoleChanged, after)
		e.Changes = []audit.Change{{Field: "role", From: string(before.Role), To: string(after.Role)}}
		events = append(events, e)
	}
	if before.Active != after.Active {
		kind := audit.SCIMUserDeactivated
		if after.Active {
			kind = audit.SCIMUserReactivated
		}
		e := aboutUser(kind, after)
		e.Changes = []audit.Change{{Field: "active", From: before.Active, To: after.Active}}
		events = append(events, e)
	}
	changes := attributeChanges(before, after)
	if len(changes) > 0 || len(events) == 0 {
		e := aboutUser(audit.SCIMUserUpdated, after)
		e.Changes = changes
		events = append(events, e)
	}
	return events
}

// attributeChanges are the attributes of a user that differ, but for those that
// have events of their own. What is no plain text or number shows as changed.
func attributeChanges(before, after Profile) []audit.Change {
	var from, to map[string]any
	if json.Unmarshal(before.Attributes, &from) != nil || json.Unmarshal(after.Attributes, &to) != nil {
		return []audit.Change{audit.Changed("attributes")}
	}
	names := map[string]bool{}
	for name := range from {
		names[name] = true
	}
	for name := range to {
		names[name] = true
	}
	var changes []audit.Change
	for _, name := range slices.Sorted(maps.Keys(names)) {
		old, next := from[name], to[name]
		if name == "active" || name == "roles" || reflect.DeepEqual(old, next) {
			continue
		}
		_, text := next.(string)
		if _, was := old.(string); (text || next == nil) && (was || old == nil) && name != "password" {
			changes = append(changes, audit.Change{Field: name, From: old, To: next})
			continue
		}
		changes = append(changes, audit.Changed(name))
	}
	return changes
}
