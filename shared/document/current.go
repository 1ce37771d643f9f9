package document

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"docent/shared/access"
	"docent/shared/table"
)

// current is the stored record that a Put finds.
type current struct {
	record
	// byDefault is the rule of its source, also of a deleted one.
	byDefault *access.Rule
	// targetDefault is the rule of the source that the document is put into.
	targetDefault *access.Rule
	stored        bool // there is a record
	live          bool // its source exists; records of a deleted source are stored until cleaned up
	exists        bool // live and of the caller's kind: a put of a document ignores items, and the reverse
}

// same reports whether putting e with the content of in would change nothing.
func (c current) same(e Entry, in Input) bool {
	return c.equal(e.Fields) && c.sameContent(e, in) && c.Access.Equal(e.Access) &&
		(e.Facts == nil || c.CreatedAt.Equal(e.CreatedAt) && c.Facts.equal(*e.Facts))
}

func (c current) sameContent(e Entry, in Input) bool {
	if e.Original == nil && !in.KeepContent {
		return c.Original == nil && c.sameBody(in.Body)
	}
	return c.Original.same(e.Original)
}

// sameText reports whether e with the content of in tells its readers what c tells them, in whatever collection.
func (c current) sameText(e Entry, in Input) bool {
	fields := e.Fields
	fields.CollectionID = c.CollectionID
	return c.equal(fields) && c.sameContent(e, in)
}

// newer reports whether c has a later change of the provider than e, and was stored after listed. A provider can list an
// older state than the stored one: an attachment whose last version was deleted has the change time of the version before.
func (c current) newer(e Entry, listed time.Time) bool {
	return e.Facts != nil && !e.Facts.Changed.IsZero() && e.Facts.Changed.Before(c.Facts.Changed) && millisOf(c.version) >= listed.UnixMilli()
}

// matched returns the error of match for the version that the caller can see.
func (c current) matched(match func(int64) error) error {
	if c.exists {
		return c.record.matched(match)
	}
	return match(0)
}

// currentFor reads the document's record and the source that in puts it into, in one
// round trip. Only a document of another source takes a second one.
func (s *Service) currentFor(ctx context.Context, teamID, id string, in Input) (current, error) {
	if !isID(in.CollectionID) { // it may be invalid in a key
		return current{}, noCollection()
	}
	target := s.SourceKey(teamID, in.CollectionID)
	items, err := s.Table.BatchGet(ctx, []table.Key{recordKey(teamID, id), target})
	damaged := table.AsDamaged(err)
	if err != nil && (damaged == nil || slices.Contains(damaged.Keys, target)) {
		return current{}, fmt.Errorf("read document: %w", err)
	}
	var c current
	found := false
	for _, item := range items {
		if item.Key == target {
			found, c.targetDefault = s.Connected(item) == (in.Facts != nil), s.DefaultAccess(item)
			c.byDefault = c.targetDefault
		} else {
			c.record, c.stored, c.live = recordFrom(item), true, true
		}
	}
	if !found {
		return current{}, noCollection()
	}
	if damaged != nil {
		return current{}, damaged
	}
	if c.stored && c.CollectionID != in.CollectionID {
		c.byDefault, c.live, err = s.live(ctx, teamID, c.CollectionID)
		if err == nil && !c.live {
			c.byDefault, err = s.keptRule(ctx, teamID, c.CollectionID)
		}
		if err != nil {
			return current{}, err
		}
	}
	c.exists = c.live && (c.Facts == nil) == (in.Facts == nil)
	return c, nil
}

// live reports whether a source of the team exists, and returns its default rule.
func (s *Service) live(ctx context.Context, teamID, sourceID string) (*access.Rule, bool, error) {
	source, err := s.Table.Get(ctx, s.SourceKey(teamID, sourceID))
	if errors.Is(err, table.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read source: %w", err)
	}
	return s.DefaultAccess(source), true, nil
}
