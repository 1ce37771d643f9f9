package team

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"time"

	"docent/shared/audit"
	"docent/shared/table"
)

// record applies ops and records events, all or nothing.
func (s *Service) record(ctx context.Context, teamID string, events []audit.Event, ops ...table.Op) error {
	return s.Events.OrSilent(s.Table).Write(ctx, teamID, events, ops...)
}

// keyEvent returns an event with the key r as target.
func keyEvent(kind audit.Type, r record) audit.Event {
	if r.Kind == KindSession {
		return audit.Event{Type: audit.SessionEnded, Targets: []audit.Target{{Type: audit.TargetSession, ID: r.id, DisplayName: r.Name}}}
	}
	return audit.Event{Type: kind, Targets: []audit.Target{{Type: audit.TargetAPIKey, ID: r.id, DisplayName: r.Name}}}
}

// keyCreated returns the event of the new key r, with its kind, user, restrictions, scopes and right to act for people.
func keyCreated(r record) audit.Event {
	e := keyEvent(audit.APIKeyCreated, r)
	e.Changes = []audit.Change{{Field: "kind", To: string(r.Kind)}}
	if r.UserID != "" {
		e.Changes = append(e.Changes, audit.Change{Field: "userId", To: r.UserID})
	}
	if r.DataSourceIDs != nil {
		e.Changes = append(e.Changes, audit.Change{Field: "dataSourceIds", To: r.DataSourceIDs})
	}
	if r.Scopes != nil {
		e.Changes = append(e.Changes, audit.Change{Field: "scopes", To: r.Scopes})
	}
	if r.ActFor {
		e.Changes = append(e.Changes, audit.Change{Field: "actFor", To: true})
	}
	if r.ExpiresAt != nil {
		e.Changes = append(e.Changes, audit.Change{Field: "expiresAt", To: r.ExpiresAt.Format(time.RFC3339)})
	}
	return e
}

// keyChanged returns an event of the changed key r.
func keyChanged(kind audit.Type, r record) audit.Event {
	e := keyEvent(kind, r)
	if kind != audit.APIKeyRotated {
		return e
	}
	e.Changes = []audit.Change{audit.RedactedChange("secret")}
	if r.PreviousExpiresAt != nil {
		e.Changes = append(e.Changes, audit.Change{Field: "previousSecretExpiresAt", To: r.PreviousExpiresAt.Format(time.RFC3339)})
	}
	return e
}

// userEvent returns an event with the user p as target.
func userEvent(kind audit.Type, p Profile) audit.Event {
	return audit.Event{Type: kind, Targets: []audit.Target{{Type: audit.TargetUser, ID: p.ID, DisplayName: p.UserName}}}
}

// insertEvents returns the events of a new user.
func insertEvents(p Profile) []audit.Event {
	return append([]audit.Event{userEvent(audit.SCIMUserCreated, p)}, roleEvents(p, "", p.Role)...)
}

// removeEvents returns the events of a deleted user.
func removeEvents(p Profile) []audit.Event {
	return append(roleEvents(p, p.Role, ""), userEvent(audit.SCIMUserDeleted, p))
}

// roleEvents returns the event of a user that becomes or stops being an admin, by creation and
// deletion too.
func roleEvents(p Profile, from, to Role) []audit.Event {
	if (from == RoleAdmin) == (to == RoleAdmin) {
		return nil
	}
	e := userEvent(audit.UserRoleChanged, p)
	e.Changes = []audit.Change{{Field: "role", From: orNil(string(from)), To: orNil(string(to))}}
	return []audit.Event{e}
}

// replaceEvents returns the events of a user that changes to after.
func replaceEvents(before, after Profile) []audit.Event {
	var events []audit.Event
	events = append(events, roleEvents(after, before.Role, after.Role)...)
	if before.Active != after.Active {
		kind := audit.SCIMUserDeactivated
		if after.Active {
			kind = audit.SCIMUserReactivated
		}
		e := userEvent(kind, after)
		e.Changes = []audit.Change{{Field: "active", From: before.Active, To: after.Active}}
		events = append(events, e)
	}
	changes := attributeChanges(before, after)
	if len(changes) > 0 || len(events) == 0 {
		e := userEvent(audit.SCIMUserUpdated, after)
		e.Changes = changes
		events = append(events, e)
	}
	return events
}

// attributeChanges returns the changed attributes of a user, except those with events of their
// own. Only plain text is shown; other values are redacted.
func attributeChanges(before, after Profile) []audit.Change {
	var from, to map[string]any
	if json.Unmarshal(before.Attributes, &from) != nil || json.Unmarshal(after.Attributes, &to) != nil {
		return []audit.Change{audit.RedactedChange("attributes")}
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
		changes = append(changes, audit.RedactedChange(name))
	}
	return changes
}
