package collection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/pending"
	"docent/shared/table"
)

// Get returns a collection of the team.
func (s *Service) Get(ctx context.Context, teamID, id string) (Collection, error) {
	if !IsID(id) {
		return Collection{}, Missing()
	}
	item, err := s.Table.Get(ctx, Key(teamID, id))
	if errors.Is(err, table.ErrNotFound) {
		return Collection{}, Missing()
	}
	if err != nil {
		return Collection{}, fmt.Errorf("read collection: %w", err)
	}
	if IsConnected(item) {
		return Collection{}, Missing()
	}
	return fromItem(item)
}

// All returns the team's collections, newest first. There are at most MaxPerTeam.
func (s *Service) All(ctx context.Context, teamID string) ([]Collection, error) {
	var all []Collection
	for item, err := range table.All(ctx, s.Table, table.Query{Table: table.Collections, Partition: teamID}) {
		if err != nil {
			return nil, fmt.Errorf("list collections: %w", err)
		}
		if IsConnected(item) {
			continue
		}
		c, err := fromItem(item)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Collection) int {
		return strings.Compare(position(a), position(b))
	})
	return all, nil
}

func position(c Collection) string { return table.Inverted(c.CreatedAt) + "#" + c.ID }

// List returns the window w of the team's collections, newest first, without
// those that allowed rejects.
func (s *Service) List(ctx context.Context, teamID string, w table.Window, allowed func(id string) bool) (table.Slice[Collection], error) {
	all, err := s.All(ctx, teamID)
	if err != nil {
		return table.Slice[Collection]{}, err
	}
	var entries []table.Entry[Collection]
	for _, c := range all {
		if allowed(c.ID) {
			entries = append(entries, table.Entry[Collection]{Position: position(c), Value: c})
		}
	}
	return table.SliceOf(entries, w), nil
}

// Defaults returns the default rule of each of the team's collections by id; nil: it
// has none.
func (s *Service) Defaults(ctx context.Context, teamID string) (map[string]*access.Rule, error) {
	return s.sources(ctx, teamID, func(item table.Item) bool { return !IsConnected(item) })
}

// Sources is Defaults of all the team's data sources, collections and connected ones.
func (s *Service) Sources(ctx context.Context, teamID string) (map[string]*access.Rule, error) {
	return s.sources(ctx, teamID, func(table.Item) bool { return true })
}

func (s *Service) sources(ctx context.Context, teamID string, wanted func(table.Item) bool) (map[string]*access.Rule, error) {
	defaults := map[string]*access.Rule{}
	for item, err := range table.All(ctx, s.Table, table.Query{Table: table.Collections, Partition: teamID}) {
		if err != nil {
			return nil, fmt.Errorf("list sources: %w", err)
		}
		if wanted(item) {
			defaults[item.Sort] = DefaultAccess(item)
		}
	}
	return defaults, nil
}

// SourceExists reports whether id is a data source of the team: a collection or a
// connected source.
func (s *Service) SourceExists(ctx context.Context, teamID, id string) (bool, error) {
	if !IsID(id) {
		return false, nil
	}
	_, err := s.Table.Get(ctx, Key(teamID, id))
	if errors.Is(err, table.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read source: %w", err)
	}
	return true, nil
}

// Update applies change and returns the collection. It returns the error of match for
// the current version, and an *apierr.Error if change makes a field invalid. If
// nothing changes, it writes nothing. It may call match and change repeatedly.
func (s *Service) Update(ctx context.Context, teamID, id string, change func(*Collection), match func(version int64) error) (Collection, error) {
	event := s.Events.OrSilent(s.Table).Claim(ctx, teamID, 1)
	defer event.End(ctx)
	for {
		current, err := s.Get(ctx, teamID, id)
		if err != nil {
			return Collection{}, err
		}
		if err := match(current.Version); err != nil {
			return Collection{}, err
		}
		changed := current
		change(&changed)
		if changed.Fields == current.Fields && changed.DefaultAccess.Equal(current.DefaultAccess) {
			return current, nil
		}
		if err := changed.check(current.Fields); err != nil {
			return Collection{}, err
		}
		changed.Version++
		item, err := toItem(teamID, changed)
		if err != nil {
			return Collection{}, err
		}
		updated := newEvent(audit.CollectionUpdated, changed)
		updated.Changes = append(audit.Changes(current.Fields, changed.Fields), AccessChange(current.DefaultAccess, changed.DefaultAccess)...)
		err = event.Write(ctx, []audit.Event{updated}, table.Put{Item: item, If: table.VersionIs(current.Version)})
		if table.AsConditionFailed(err) != nil {
			continue // another change was first; in each round one change succeeds
		}
		if err != nil {
			return Collection{}, fmt.Errorf("update collection: %w", err)
		}
		return changed, nil
	}
}

// AccessChange returns the change of a default rule for an event, none if it is the same.
func AccessChange(before, after *access.Rule) []audit.Change {
	if before.Equal(after) {
		return nil
	}
	return []audit.Change{{Field: "defaultAccess", From: before.String(), To: after.String()}}
}

// Delete removes the collection at once; a worker removes its documents later. It
// returns the error of match for the current version, and access-denied if reader may not
// read what has no rule of its own in it, or one of its documents: deleting destroys them.
// An absent collection is not an error.
func (s *Service) Delete(ctx context.Context, teamID, id, requestID string, reader access.Reader, match func(version int64) error) error {
	event := s.Events.OrSilent(s.Table).Claim(ctx, teamID, 1)
	defer event.End(ctx)
	for {
		current, err := s.Get(ctx, teamID, id)
		if apierr.IsCode(err, apierr.CodeNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := match(current.Version); err != nil {
			return err
		}
		if !reader.MayRead(nil, current.DefaultAccess) {
			return notReadable()
		}
		deleted, err := s.deletedEvent(ctx, teamID, current, reader)
		if err != nil {
			return err
		}
		work := pending.Work{Kind: pending.RemoveCollection, TeamID: teamID, ID: id,
			At: s.Now().UnixMilli(), RequestID: requestID}
		ops := []table.Op{
			table.Delete{Key: Key(teamID, id), If: table.VersionIs(current.Version)},
			table.Add{Key: countKey(teamID), By: map[string]int64{"n": -1}},
			work.Promise(),
		}
		if s.KeepRule != nil {
			ops = append(ops, s.KeepRule(teamID, id, current.DefaultAccess)...)
		}
		err = event.Write(ctx, []audit.Event{deleted}, ops...)
		if table.AsConditionFailed(err) != nil {
			continue
		}
		if err != nil {
			return fmt.Errorf("delete collection: %w", err)
		}
		if err := s.Work.Send(ctx, work.Outgoing(0)); err != nil {
			s.Warn(work, err)
		}
		return nil
	}
}

func notReadable() error {
	return apierr.New(apierr.Forbidden, apierr.CodeAccessDenied, "You may not delete this collection, because you may not read all of its documents.")
}

// deletedEvent returns the event for removing c, and access-denied if reader may not read
// all that c contains. Its documents get no events.
func (s *Service) deletedEvent(ctx context.Context, teamID string, c Collection, reader access.Reader) (audit.Event, error) {
	e := newEvent(audit.CollectionDeleted, c)
	if s.Contents == nil {
		return e, nil
	}
	n, readable, err := s.Contents(ctx, teamID, c, reader)
	if err != nil {
		return e, fmt.Errorf("delete collection: %w", err)
	}
	if !readable {
		return e, notReadable()
	}
	e.Counts = map[string]int64{"documents": n}
	return e, nil
}
