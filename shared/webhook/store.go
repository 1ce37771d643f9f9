package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"docent/shared/audit"
	"docent/shared/table"
)

// The endpoints of a team are in one partition, so that one read finds all that want an event.
// Every change of an endpoint also changes the item of all of them, by its version: so their
// number and the topics that they want together are exact.
func endpointKey(teamID, id string) table.Key {
	return table.Key{Table: table.Events, Partition: endpointList(teamID), Sort: id}
}

func endpointList(teamID string) string { return teamID + "/webhooks" }

const allSort = "all" // after every UUID

func allKey(teamID string) table.Key {
	return table.Key{Table: table.Events, Partition: endpointList(teamID), Sort: allSort}
}

// stored is the body of an endpoint's item.
type stored struct {
	Fields
	Reason         DisabledReason `json:"disabledReason,omitempty"`
	CreatedAt      int64          `json:"createdAt"` // Unix milliseconds
	UpdatedAt      int64          `json:"updatedAt"`
	PreviousExpiry int64          `json:"previousExpiry,omitempty"`
	Sealed         []byte         `json:"sealed"`
}

func endpointItem(teamID string, e Endpoint) (table.Item, error) {
	s := stored{Fields: e.Fields, Reason: e.DisabledReason, CreatedAt: e.CreatedAt.UnixMilli(), UpdatedAt: e.UpdatedAt.UnixMilli(), Sealed: e.sealed}
	if e.PreviousSecretExpiresAt != nil {
		s.PreviousExpiry = e.PreviousSecretExpiresAt.UnixMilli()
	}
	body, err := json.Marshal(s)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode webhook endpoint: %w", err)
	}
	return table.Item{Key: endpointKey(teamID, e.ID), Version: 1, Body: body}, nil
}

func endpointFrom(item table.Item) (Endpoint, error) {
	var s stored
	if err := json.Unmarshal(item.Body, &s); err != nil {
		return Endpoint{}, fmt.Errorf("decode webhook endpoint %s: %w", item.Sort, err)
	}
	e := Endpoint{ID: item.Sort, Fields: s.Fields, DisabledReason: s.Reason, CreatedAt: fromMillis(s.CreatedAt), UpdatedAt: fromMillis(s.UpdatedAt), sealed: s.Sealed}
	if s.PreviousExpiry != 0 {
		until := fromMillis(s.PreviousExpiry)
		e.PreviousSecretExpiresAt = &until
	}
	return e, nil
}

func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// endpoints are all endpoints of a team, in the order of their creation.
type endpoints struct{ all []Endpoint }

func (s *Service) endpoints(ctx context.Context, teamID string) (endpoints, error) {
	var out endpoints
	for item, err := range table.All(ctx, s.Table, table.Query{Table: table.Events, Partition: endpointList(teamID)}) {
		if err != nil {
			return out, fmt.Errorf("read webhook endpoints: %w", err)
		}
		if item.Sort == allSort {
			continue
		}
		e, err := endpointFrom(item)
		if err != nil {
			return out, err
		}
		out.all = append(out.all, e)
	}
	return out, nil
}

// get returns one endpoint of a team.
func (s *Service) get(ctx context.Context, teamID, id string) (Endpoint, error) {
	if id == "" || id == allSort || len(id) > 100 {
		return Endpoint{}, Missing()
	}
	key := endpointKey(teamID, id)
	if key.Check() != nil {
		return Endpoint{}, Missing()
	}
	item, err := s.Table.Get(ctx, key)
	if errors.Is(err, table.ErrNotFound) {
		return Endpoint{}, Missing()
	}
	if err != nil {
		return Endpoint{}, fmt.Errorf("read webhook endpoint: %w", err)
	}
	return endpointFrom(item)
}

// change reads the endpoints of a team, lets do change them, and stores the operations that do returns, with its events. If
// another process has changed the endpoints in between, it repeats all of that.
func (s *Service) change(ctx context.Context, teamID string, do func(*endpoints) ([]audit.Event, []table.Op, error)) error {
	for {
		// Reading a range is not one step: what another process changes after this is noticed.
		before, err := s.Table.Get(ctx, allKey(teamID))
		if err != nil && !errors.Is(err, table.ErrNotFound) {
			return fmt.Errorf("read webhook endpoints: %w", err)
		}
		all, err := s.endpoints(ctx, teamID)
		if err != nil {
			return err
		}
		events, ops, err := do(&all)
		if err != nil || len(ops) == 0 {
			return err
		}
		mark := table.Put{Item: table.Item{Key: allKey(teamID), Version: before.Version + 1}, If: table.VersionIs(before.Version)}
		if before.Version == 0 { // there is none yet
			mark.If = table.Absent()
		}
		ops = append([]table.Op{mark, audit.SetTopics(teamID, topics(all.all))}, ops...)
		err = s.Events.OrSilent(s.Table).Write(ctx, teamID, events, ops...)
		if failed := table.AsConditionFailed(err); failed != nil && failed.Key == mark.Item.Key {
			continue
		}
		if err != nil {
			return fmt.Errorf("change webhook endpoints: %w", err)
		}
		return nil
	}
}
