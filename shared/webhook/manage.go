package webhook

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/table"
)

// event returns a security event about e. It names the endpoint by its host, because the rest
// of its address may be a secret.
func event(kind audit.Type, e Endpoint) audit.Event {
	host := ""
	if u, err := url.Parse(e.URL); err == nil {
		host = u.Host
	}
	return audit.Event{Type: kind, Targets: []audit.Target{{Type: audit.TargetWebhookEndpoint, ID: e.ID, DisplayName: host}}}
}

// List returns the endpoints of a team, oldest first.
func (s *Service) List(ctx context.Context, teamID string) ([]Endpoint, error) {
	all, err := s.endpoints(ctx, teamID)
	return all.all, err
}

// Get returns an endpoint, or Missing.
func (s *Service) Get(ctx context.Context, teamID, id string) (Endpoint, error) {
	return s.get(ctx, teamID, id)
}

// Create adds an endpoint and returns it with its secret, which is never shown again.
func (s *Service) Create(ctx context.Context, teamID string, f Fields) (Endpoint, string, error) {
	if err := s.check(f); err != nil {
		return Endpoint{}, "", err
	}
	now := s.now()
	e := Endpoint{ID: s.NewID(), Fields: f, CreatedAt: now, UpdatedAt: now}
	secret := newSecret()
	var err error
	if e.sealed, err = s.seal(ctx, teamID, e.ID, secrets{Current: secret}); err != nil {
		return Endpoint{}, "", err
	}
	item, err := endpointItem(teamID, e)
	if err != nil {
		return Endpoint{}, "", err
	}
	err = s.change(ctx, teamID, func(all *endpoints) ([]audit.Event, []table.Op, error) {
		if slices.ContainsFunc(all.all, func(other Endpoint) bool { return other.ID == e.ID }) {
			return nil, nil, nil // an earlier attempt succeeded
		}
		if len(all.all) >= MaxPerTeam {
			return nil, nil, apierr.New(apierr.Conflict, apierr.CodeWebhookEndpointLimit, "This team has reached its limit of %d webhook endpoints. Delete one first.", MaxPerTeam)
		}
		all.all = append(all.all, e)
		return []audit.Event{event(audit.WebhookEndpointCreated, e)}, []table.Op{table.Put{Item: item, If: table.Absent()}}, nil
	})
	return e, secret, err
}

// update applies do to an endpoint and returns it with the events that do returns. Without events
// it stores nothing.
func (s *Service) update(ctx context.Context, teamID, id string, do func(*Endpoint) ([]audit.Event, []table.Op, error)) (Endpoint, error) {
	var out Endpoint
	err := s.change(ctx, teamID, func(all *endpoints) ([]audit.Event, []table.Op, error) {
		i := slices.IndexFunc(all.all, func(e Endpoint) bool { return e.ID == id })
		if i < 0 {
			return nil, nil, Missing()
		}
		e := &all.all[i]
		events, ops, err := do(e)
		out = *e
		if err != nil || len(events) == 0 {
			return nil, nil, err
		}
		e.UpdatedAt = s.now()
		out = *e
		item, err := endpointItem(teamID, *e)
		return events, append(ops, table.Put{Item: item, If: table.Exists()}), err
	})
	return out, err
}

// Update applies change to an endpoint, which may be called repeatedly. An error of change changes nothing. An
// endpoint that is enabled again gets what waited for it at once.
func (s *Service) Update(ctx context.Context, teamID, id string, change func(*Fields) error) (Endpoint, error) {
	enabled := false
	e, err := s.update(ctx, teamID, id, func(e *Endpoint) ([]audit.Event, []table.Op, error) {
		before := e.Fields
		e.EventTypes = slices.Clone(e.EventTypes)
		if err := change(&e.Fields); err != nil {
			return nil, nil, err
		}
		if err := s.check(e.Fields); err != nil {
			return nil, nil, err
		}
		changed := event(audit.WebhookEndpointUpdated, *e)
		changed.Changes = changes(before, e.Fields)
		if len(changed.Changes) == 0 {
			return nil, nil, nil
		}
		var ops []table.Op
		if enabled = before.Disabled && !e.Disabled; enabled || before.URL != e.URL {
			// Earlier failures say nothing about the new settings, so the state starts again, and a running turn loses its lease. The
			// endpoint counts as resting until now: then this time is no standstill, and counts for the age of what waited.
			fresh := table.Item{Key: stateKey(teamID, id), Numbers: map[string]int64{pausedField: s.now().UnixMilli()}}
			ops = append(ops, table.Put{Item: fresh}, flagPut(teamID, id))
			enabled = !e.Disabled
		}
		if before.Disabled != e.Disabled {
			e.DisabledReason = ""
		}
		return []audit.Event{changed}, ops, nil
	})
	if err == nil && enabled {
		s.Outbox.Send(ctx, flag(teamID, id))
	}
	return e, err
}

// changes returns what differs, without the address.
func changes(before, after Fields) (all []audit.Change) {
	for _, c := range audit.Changes(before, after) {
		if c.Field == "url" {
			c = audit.RedactedChange("url")
		}
		all = append(all, c)
	}
	return all
}

// Delete removes an endpoint. What waits for it is never delivered.
func (s *Service) Delete(ctx context.Context, teamID, id string) error {
	return s.change(ctx, teamID, func(all *endpoints) ([]audit.Event, []table.Op, error) {
		i := slices.IndexFunc(all.all, func(e Endpoint) bool { return e.ID == id })
		if i < 0 {
			return nil, nil, Missing()
		}
		e := all.all[i]
		all.all = slices.Delete(all.all, i, i+1)
		return []audit.Event{event(audit.WebhookEndpointDeleted, e)}, []table.Op{
			table.Delete{Key: endpointKey(teamID, id), If: table.Exists()},
			table.Delete{Key: stateKey(teamID, id)}, table.Delete{Key: flag(teamID, id).Key()}}, nil
	})
}

// Rotate gives an endpoint a new secret, which it returns. The secret before it signs too for
// overlap, and those before that one as long as their own overlaps last, the last 3 of them. If overlap is 0, only
// the new secret signs.
func (s *Service) Rotate(ctx context.Context, teamID, id string, overlap time.Duration) (Endpoint, string, error) {
	for {
		e, err := s.get(ctx, teamID, id)
		if err != nil {
			return Endpoint{}, "", err
		}
		rotated, secret, err := s.rotate(ctx, teamID, e, overlap)
		if !errors.Is(err, errRotated) {
			return rotated, secret, err
		}
	}
}

// errRotated means that another request has rotated the secret in the meantime.
var errRotated = errors.New("the secret was rotated by another request")

func (s *Service) rotate(ctx context.Context, teamID string, e Endpoint, overlap time.Duration) (Endpoint, string, error) {
	old, err := s.open(ctx, teamID, e)
	if err != nil {
		return Endpoint{}, "", err
	}
	until := s.now().Add(overlap)
	next := old.rotated(overlap, e.PreviousSecretExpiresAt, s.now())
	sealed, err := s.seal(ctx, teamID, e.ID, next)
	if err != nil {
		return Endpoint{}, "", err
	}
	e, err = s.update(ctx, teamID, e.ID, func(now *Endpoint) ([]audit.Event, []table.Op, error) {
		if !bytes.Equal(now.sealed, e.sealed) {
			return nil, nil, errRotated
		}
		now.sealed, now.PreviousSecretExpiresAt = sealed, nil
		if overlap > 0 {
			now.PreviousSecretExpiresAt = &until
		}
		rotated := event(audit.WebhookEndpointRotated, *now)
		rotated.Changes = []audit.Change{audit.RedactedChange("secret")}
		return []audit.Event{rotated}, nil, nil
	})
	return e, next.Current, err
}

// disable disables an endpoint for a reason, unless held does not hold, or its owner or another worker
// was first.
func (s *Service) disable(ctx context.Context, teamID, id string, reason DisabledReason, held table.Check) error {
	_, err := s.update(ctx, teamID, id, func(e *Endpoint) ([]audit.Event, []table.Op, error) {
		if e.Disabled {
			return nil, nil, nil
		}
		e.Disabled, e.DisabledReason = true, reason
		disabled := event(audit.WebhookEndpointDisabled, *e)
		disabled.Changes = []audit.Change{{Field: "disabledReason", To: string(reason)}}
		return []audit.Event{disabled}, []table.Op{held}, nil
	})
	if failed := table.AsConditionFailed(err); failed != nil && failed.Key == held.Key || apierr.IsCode(err, apierr.CodeNotFound) {
		return nil
	}
	return err
}
