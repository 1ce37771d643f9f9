package document

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"docent/shared/access"
	"docent/shared/audit"
	"docent/shared/pending"
	"docent/shared/table"
	"docent/shared/usage"
)

// Delete removes a document; no later read or search returns it. It returns an error
// if the caller's key may not use the collection, and the error of match for its version.
// An absent document is not an error. A document that the caller may not read is kept,
// also without an error.
func (s *Service) Delete(ctx context.Context, teamID, id, requestID string, who Who, match func(version int64) error) error {
	if !isID(id) {
		return nil
	}
	event := s.Events.OrSilent(s.Table).Claim(ctx, teamID, 1)
	defer event.End(ctx)
	for {
		defaults := s.defaultsFor(ctx, teamID, who)
		item, err := s.Table.Get(ctx, recordKey(teamID, id))
		byDefault, failed := defaults()
		if failed != nil {
			return failed
		}
		if errors.Is(err, table.ErrNotFound) {
			return nil
		}
		if table.AsDamaged(err) != nil {
			if err := s.deleteDamaged(ctx, teamID, id, who, match, event); !errors.Is(err, errRaced) {
				return err
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("read document: %w", err)
		}
		r := recordFrom(item)
		if r.Facts != nil {
			return nil // an item of a connected source, which only its provider deletes
		}
		if !who.reads(r.Entry, byDefault[r.CollectionID]) {
			return nil
		}
		rule, ok, err := s.live(ctx, teamID, r.CollectionID)
		if err != nil || !ok {
			return err
		}
		if !who.uses(r.CollectionID) {
			return sourceNotAllowed()
		}
		if err := r.matched(match); err != nil {
			return err
		}
		deleted := newEvent(audit.DocumentDeleted, r.Entry, r.isRestricted(rule))
		deleted.Changes = []audit.Change{{Field: "collectionId", From: r.CollectionID}}
		err = s.remove(ctx, teamID, removal{record: r, byDefault: rule, requestID: requestID, claim: event, events: []audit.Event{deleted}})
		if table.AsConditionFailed(err) != nil {
			continue // another write was first
		}
		return err
	}
}

// removal is the deletion of a record.
type removal struct {
	record
	byDefault *access.Rule // the rule of its source
	requestID string
	claim     *audit.Claim // writes events
	events    []audit.Event
	more      []table.Op // done in the same Write
}

// remove deletes a record in one Write. A worker removes its chunks later.
func (s *Service) remove(ctx context.Context, teamID string, r removal) error {
	work := pending.Work{Kind: pending.RemoveDocument, TeamID: teamID, ID: r.ID, Version: r.version,
		Old: r.asVersion(), At: s.Now().UnixMilli(), RequestID: r.requestID}
	ops := append([]table.Op{
		table.Delete{Key: recordKey(teamID, r.ID), If: table.VersionIs(r.version)},
		table.Delete{Key: failureKey(teamID, r.ID)},
		work.Promise(),
	}, listDeletes(teamID, r.Entry)...)
	kept, err := s.keepRule(ctx, teamID, r.ID, cmp.Or(r.Access, r.byDefault), s.deletedNow(r.version), "")
	if err != nil {
		return err
	}
	ops = append(ops, kept...)
	if err := r.claim.Write(ctx, r.events, append(ops, r.more...)...); err != nil {
		return fmt.Errorf("delete document: %w", err)
	}
	if r.Facts == nil {
		usage.Note(ctx, usage.Deleted, 1)
		usage.NoteSource(ctx, r.CollectionID)
		usage.OutcomeKnown(ctx)
	}
	if err := s.Work.Send(ctx, work.Outgoing(0)); err != nil {
		s.Warn(work, err)
	}
	return nil
}
