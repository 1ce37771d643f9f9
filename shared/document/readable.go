package document

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"docent/shared/access"
	"docent/shared/table"
)

// readAtOnce bounds the records that Unreadable has in memory.
const readAtOnce = 64

// Forever is later than every moment at which a text was made from a document.
var Forever = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// Unreadable returns which of the documents and items the caller may not read now, or could not read when they were
// deleted, and which of them are gone, alone or with their source. For a caller who may read everything none is gone.
// made has the ids, each with the first time at which a text was made from the document; with Forever, the document that
// has the id now is meant. A document that was deleted and put again at its URI has the same id. So each result has a time, and
// concerns only texts that were made before it: Forever, or the time at which the other document was created.
func (s *Service) Unreadable(ctx context.Context, teamID string, who Who, made map[string]time.Time) (unreadable, gone map[string]time.Time, _ error) {
	if who.Reader.All() && who.Sources == nil || len(made) == 0 {
		return nil, nil, nil
	}
	defaults := s.defaultsFor(ctx, teamID, who)
	var keys []table.Key
	for id := range made {
		if isID(id) {
			keys = append(keys, recordKey(teamID, id))
		}
	}
	unreadable, gone = map[string]time.Time{}, map[string]time.Time{}
	for id := range made {
		gone[id] = Forever
	}
	removed := map[string][]string{} // documents without a rule of their own, by their source, which is gone
	var byDefault map[string]*access.Rule
	ofKey := func(k table.Key) string { return strings.TrimPrefix(k.Partition, teamID+"/") }
	for begun := 0; begun < len(keys) || begun == 0; begun += readAtOnce {
		items, err := s.Table.BatchGet(ctx, keys[begun:min(begun+readAtOnce, len(keys))])
		if byDefault == nil {
			var failed error
			byDefault, failed = defaults()
			if failed != nil {
				return nil, nil, fmt.Errorf("read who may read: %w", failed)
			}
		}
		if damaged := table.AsDamaged(err); damaged != nil {
			s.damaged(ctx, damaged)
			for _, k := range damaged.Keys { // nobody knows who may read it
				unreadable[ofKey(k)] = Forever
				delete(gone, ofKey(k))
			}
			err = nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read who may read: %w", err)
		}
		for _, item := range items {
			e := entryFrom(item)
			rule, live := byDefault[e.CollectionID]
			switch {
			case live && e.Facts == nil && e.CreatedAt.After(made[e.ID]): // of an item, this is the time of its provider
				gone[e.ID] = e.CreatedAt
			case live:
				delete(gone, e.ID)
			case e.Access == nil:
				removed[e.CollectionID] = append(removed[e.CollectionID], e.ID)
			}
			if !who.uses(e.CollectionID) || !who.reads(e, rule) {
				unreadable[e.ID] = Forever
			}
		}
	}
	if who.Reader.All() {
		return unreadable, nil, nil
	}
	if err := s.unreadableOfGone(ctx, teamID, who, gone, removed, unreadable); err != nil {
		return nil, nil, err
	}
	return unreadable, gone, nil
}

// unreadableOfGone adds those of gone to unreadable that who might not read when they were deleted, and those of
// removed, by their source, that who might not read when that was. Who lost a document must not get an answer back by
// its deletion.
func (s *Service) unreadableOfGone(ctx context.Context, teamID string, who Who, gone map[string]time.Time, removed map[string][]string, unreadable map[string]time.Time) error {
	ids := map[table.Key][]string{}
	for id := range gone {
		if isID(id) {
			ids[ruledKey(teamID, id)] = []string{id}
		}
	}
	for sourceID, of := range removed {
		ids[ruledKey(teamID, sourceID)] = of
	}
	for keys := range slices.Chunk(slices.Collect(maps.Keys(ids)), readAtOnce) {
		items, err := s.Table.BatchGet(ctx, keys)
		if damaged := table.AsDamaged(err); damaged != nil {
			s.damaged(ctx, damaged)
			for _, k := range damaged.Keys {
				for _, id := range ids[k] {
					unreadable[id] = later(unreadable[id], gone[id])
				}
			}
			err = nil
		}
		if err != nil {
			return fmt.Errorf("read who might read what is deleted: %w", err)
		}
		for _, item := range items {
			if who.Reader.MayRead(ruleOf(item), nil) {
				continue
			}
			for _, id := range ids[item.Key] {
				unreadable[id] = later(unreadable[id], gone[id])
			}
		}
	}
	return nil
}

// later returns the later time.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// KeepRule returns what stores the rule that a document, or a source with its documents, has when it is deleted, if it
// has one.
func KeepRule(teamID, id string, rule *access.Rule) []table.Op {
	if rule == nil {
		return nil // that of an earlier document stays: it may hide an answer that was made from that
	}
	item := table.Item{Key: ruledKey(teamID, id), Strings: map[string]string{}}
	storeAccess(item, rule)
	return []table.Op{table.Put{Item: item}}
}

// keptRule returns the rule that KeepRule stored; nil: none.
func (s *Service) keptRule(ctx context.Context, teamID, id string) (*access.Rule, error) {
	item, err := s.Table.Get(ctx, ruledKey(teamID, id))
	if errors.Is(err, table.ErrNotFound) {
		return nil, nil //nolint:nilnil // no rule
	}
	if err != nil {
		return nil, fmt.Errorf("read who might read what is deleted: %w", err)
	}
	return ruleOf(item), nil
}

func ruleOf(item table.Item) *access.Rule { return access.Decode(item.Strings[accessField]) }

// Rules returns the rule of a document of a collection and the default rule of the
// collection, each nil for none. It returns an error for a document that does not exist.
func (s *Service) Rules(ctx context.Context, teamID, id string) (own, byDefault *access.Rule, err error) {
	if !isID(id) {
		return nil, nil, Missing()
	}
	item, err := s.Table.Get(ctx, recordKey(teamID, id))
	if errors.Is(err, table.ErrNotFound) {
		return nil, nil, Missing()
	}
	if err != nil {
		return nil, nil, orDamaged(fmt.Errorf("read document: %w", err))
	}
	e := entryFrom(item)
	byDefault, live, err := s.live(ctx, teamID, e.CollectionID)
	if err == nil && (!live || e.Facts != nil) {
		err = Missing()
	}
	return e.Access, byDefault, err
}
