package document

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/search"
	"docent/shared/table"
)

// ErrOtherSource means that a document or item of another source has the uri.
var ErrOtherSource = errors.New("the uri belongs to another source")

// removalMarkLife is how long the removal of an item is remembered. Until then a
// change made before the removal but received after it does not restore the item.
const removalMarkLife = 30 * 24 * time.Hour

// notedField of the mark of a removal is when it was made.
const notedField = "noted"

func removedKey(teamID, id string) table.Key {
	return table.Key{Table: table.Documents, Partition: teamID + "/" + id, Sort: "removed"}
}

// dropMark removes the mark of the removal of an item, which is damaged: nobody knows whether the removal is later than what is
// put, and otherwise no put of the item would succeed for removalMarkLife. An item that comes back wrongly goes with the next full
// scan of its source, if a connector reads that; an imported one stays until it is removed again.
func (s *Service) dropMark(ctx context.Context, teamID, id string, d *table.DamagedError) error {
	s.damaged(ctx, d)
	// No condition holds for a damaged item, so the mark is read again: it may have been dropped, and another one made since. That cannot
	// happen between the Get and the Write, because only dropMark makes room for another one.
	s.dropsMark.Lock()
	defer s.dropsMark.Unlock()
	switch _, err := s.Table.Get(ctx, removedKey(teamID, id)); {
	case err == nil || errors.Is(err, table.ErrNotFound):
		return nil
	case table.AsDamaged(err) == nil:
		return fmt.Errorf("read a damaged mark again: %w", err)
	}
	if err := s.Table.Write(ctx, table.Delete{Key: removedKey(teamID, id)}); err != nil {
		return fmt.Errorf("remove a damaged mark: %w", err)
	}
	return nil
}

// afterRemoval returns a check that fails if the item was removed at or after the
// change in e, or with byListing if that was noted when it was listed or later.
func (in Input) afterRemoval(teamID string, e Entry) table.Op {
	if in.byListing {
		return table.Check{Key: removedKey(teamID, e.ID), If: table.Below(notedField, in.Listed.UnixMilli())}
	}
	return table.Check{Key: removedKey(teamID, e.ID), If: table.Below(changedField, e.Facts.Changed.UnixMilli())}
}

// Remove removes the item of uri, which its provider deleted at the time at, and
// reports whether it did. An item stays if it changed after at or, if its change time
// is unknown, was stored after at. Later Puts of changes from before at are ignored,
// unless the item was listed since.
// An absent item is not an error.
func (s *Service) Remove(ctx context.Context, teamID, sourceID, uri string, at time.Time, requestID string) (bool, error) {
	id, err := ID(teamID, uri)
	if err != nil {
		return false, fmt.Errorf("team id: %w", err)
	}
	mark := table.Put{If: table.Below(changedField, millis(at).UnixMilli()),
		Item: table.Item{Key: removedKey(teamID, id), Strings: map[string]string{"source": sourceID}, // without a string, an item has no checksum
			Numbers: map[string]int64{changedField: millis(at).UnixMilli(), notedField: s.Now().UnixMilli()},
			Expires: s.Now().Add(removalMarkLife)}}
	droppedMark := false
	for {
		item, err := s.Table.Get(ctx, recordKey(teamID, id))
		exists := err == nil
		switch {
		case table.AsDamaged(err) != nil:
			exists, err = s.dropDamagedItem(ctx, teamID, sourceID, id, mark)
		case errors.Is(err, table.ErrNotFound):
			err = s.Table.Write(ctx, mark, table.Check{Key: recordKey(teamID, id), If: table.Absent()})
		case err != nil:
			return false, fmt.Errorf("read item: %w", err)
		default:
			r := recordFrom(item)
			if r.Facts == nil || r.CollectionID != sourceID || r.Facts.Changed.After(at) ||
				r.Facts.Changed.IsZero() && millisOf(r.version) > at.UnixMilli() {
				return false, nil
			}
			err = s.removeItem(ctx, teamID, r, requestID, mark)
		}
		if d := table.AsDamaged(err); d != nil && !droppedMark && slices.Contains(d.Keys, mark.Item.Key) {
			droppedMark, err = true, cmp.Or(s.dropMark(ctx, teamID, id, d), errRaced)
		}
		failed := table.AsConditionFailed(err)
		switch {
		case errors.Is(err, errRaced):
			continue
		case failed == nil:
			return err == nil && exists, err
		case failed.Key == mark.Item.Key:
			return false, nil // a later removal was first
		}
	}
}

// Forget removes the item of uri that its source no longer includes, and reports whether
// it did. It leaves no mark: a later Put stores the item again. An absent item is not an
// error.
func (s *Service) Forget(ctx context.Context, teamID, sourceID, uri string) (bool, error) {
	return s.forget(ctx, teamID, sourceID, uri, func(int64) bool { return true })
}

// KeepOrForget is Put of an item that keeps its content. An item whose content is damaged is removed as by Forget, because what is left of
// it has an earlier rule. What another Put has stored in the meantime is not removed, but kept.
func (s *Service) KeepOrForget(ctx context.Context, teamID string, in Input) error {
	for {
		_, damaged, err := s.Put(ctx, teamID, in)
		if !apierr.IsCode(err, apierr.CodeDocumentDamaged) {
			return err
		}
		_, err = s.forget(ctx, teamID, in.CollectionID, in.URI, func(version int64) bool { return version == damaged })
		if !errors.Is(err, errRaced) {
			return err
		}
	}
}

// forget is Forget, and returns errRaced for a whole record whose version is not chosen.
func (s *Service) forget(ctx context.Context, teamID, sourceID, uri string, chosen func(version int64) bool) (bool, error) {
	id, err := ID(teamID, uri)
	if err != nil {
		return false, fmt.Errorf("team id: %w", err)
	}
	for {
		item, err := s.Table.Get(ctx, recordKey(teamID, id))
		if errors.Is(err, table.ErrNotFound) {
			return false, nil
		}
		if table.AsDamaged(err) != nil {
			dropped, err := s.dropDamagedItem(ctx, teamID, sourceID, id)
			if errors.Is(err, errRaced) {
				continue
			}
			return dropped, err
		}
		if err != nil {
			return false, fmt.Errorf("read item: %w", err)
		}
		r := recordFrom(item)
		if r.Facts == nil || r.CollectionID != sourceID {
			return false, nil
		}
		if !chosen(r.version) {
			return false, errRaced
		}
		err = s.removeItem(ctx, teamID, r, "")
		if table.AsConditionFailed(err) == nil {
			return err == nil, err
		}
	}
}

// removeItem deletes the record of an item, in one Write with more.
func (s *Service) removeItem(ctx context.Context, teamID string, r record, requestID string, more ...table.Op) error {
	var byDefault *access.Rule
	if r.Access == nil {
		var err error
		if byDefault, _, err = s.live(ctx, teamID, r.CollectionID); err != nil {
			return err
		}
	}
	return s.remove(ctx, teamID, removal{record: r, byDefault: byDefault, requestID: requestID, claim: s.events(r.Facts).Claim(ctx, teamID, 0), more: more})
}

// Items yields the items of a space of a connected source without their bodies,
// newest creation first; those of the last moments only if current is set. One whose entry
// in the list is damaged is as its record says. It stops at the first error.
func (s *Service) Items(ctx context.Context, teamID, sourceID string, space search.Space, current bool) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		q := table.Query{Table: table.Documents, Partition: collectionList(teamID, sourceID), Prefix: string(space) + "#", Eventual: !current}
		for item, err := range s.wholeList(ctx, teamID, q) {
			if err != nil {
				yield(Entry{}, fmt.Errorf("list items: %w", err))
				return
			}
			if !yield(entryFrom(item), nil) {
				return
			}
		}
	}
}

// Found is a document or item with the start of its body.
type Found struct {
	Entry
	Excerpt string // the whole body, or the first chunk of a long one
}

// Find returns the current records of ids by id, without those that have none. It
// reads the excerpts of long bodies, in a second round trip, only if excerpts is set.
// It does not check whether their sources still exist.
func (s *Service) Find(ctx context.Context, teamID string, ids []string, excerpts bool) (map[string]Found, error) {
	keys := make([]table.Key, 0, len(ids))
	for _, id := range ids {
		if isID(id) {
			keys = append(keys, recordKey(teamID, id))
		}
	}
	items, err := s.undamaged().BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	found := make(map[string]Found, len(items))
	first := map[table.Key]string{}
	var chunks []table.Key
	for _, item := range items {
		r := recordFrom(item)
		found[r.ID] = Found{r.Entry, r.body}
		if r.chunks > 0 {
			k := chunkKey(teamID, r.ID, r.version, 0)
			first[k], chunks = r.ID, append(chunks, k)
		}
	}
	if !excerpts || len(chunks) == 0 {
		return found, nil
	}
	if items, err = s.undamaged().BatchGet(ctx, chunks); err != nil {
		return nil, fmt.Errorf("read bodies: %w", err)
	}
	for _, item := range items {
		f := found[first[item.Key]]
		f.Excerpt = string(item.Body)
		found[f.ID] = f
	}
	return found, nil
}
