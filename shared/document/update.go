package document

import (
	"context"
	"errors"
	"fmt"

	"docent/shared/access"
	"docent/shared/table"
)

// Change is a change of a document that leaves its content as it is.
type Change struct {
	// Fields changes the fields besides the content; it may be called several times. CollectionID, URI and MediaType
	// stay, whatever it does.
	Fields func(*Fields)
	// SetsAccess: Access takes the place of the rule, nil takes it away. Otherwise the rule stays.
	SetsAccess bool
	Access     *access.Rule
	// Match returns an error for a current version that the client did not expect.
	Match     func(version int64) error
	Who       Who
	RequestID string
}

// Update changes a document and returns the changed document without its body. It writes nothing if nothing changes.
// A document that the caller may not read is missing, and so is an item of a connected source, because only its
// provider changes it. Update returns an error if the caller's key may not use the collection.
func (s *Service) Update(ctx context.Context, teamID, id string, c Change) (Document, error) {
	if !isID(id) {
		return Document{}, Missing()
	}
	event := s.Events.OrSilent(s.Table).Claim(ctx, teamID, 1)
	defer event.End(ctx)
	for {
		old, err := s.changeable(ctx, teamID, id, c)
		if err != nil {
			return Document{}, err
		}
		in := Input{Fields: old.Fields, KeepContent: true, Access: c.Access, KeepAccess: !c.SetsAccess, RequestID: c.RequestID}
		c.Fields(&in.Fields)
		in.CollectionID, in.URI, in.MediaType = old.CollectionID, old.URI, old.MediaType
		if err := in.Metadata.Check("/metadata"); err != nil {
			return Document{}, err
		}
		changed, err := s.replace(ctx, teamID, id, in, old, event)
		if errors.Is(err, errRaced) {
			continue
		}
		if err != nil {
			return Document{}, err
		}
		return Document{Entry: changed.Entry, Version: changed.version}, nil
	}
}

// changeable returns the document if c may change it.
func (s *Service) changeable(ctx context.Context, teamID, id string, c Change) (current, error) {
	defaults := s.defaultsFor(ctx, teamID, c.Who)
	item, err := s.Table.Get(ctx, recordKey(teamID, id))
	byDefault, failed := defaults()
	if failed != nil {
		return current{}, failed
	}
	if errors.Is(err, table.ErrNotFound) {
		return current{}, Missing()
	}
	if damaged := table.AsDamaged(err); damaged != nil {
		return current{}, c.Who.damagedRecord(damaged)
	}
	if err != nil {
		return current{}, fmt.Errorf("read document: %w", err)
	}
	r := recordFrom(item)
	if r.Facts != nil || !c.Who.reads(r.Entry, byDefault[r.CollectionID]) {
		return current{}, Missing()
	}
	rule, live, err := s.live(ctx, teamID, r.CollectionID)
	switch {
	case err != nil:
		return current{}, err
	case !live:
		return current{}, Missing()
	case !c.Who.uses(r.CollectionID):
		return current{}, sourceNotAllowed()
	}
	return current{record: r, byDefault: rule, targetDefault: rule, stored: true, live: true, exists: true}, r.matched(c.Match)
}
