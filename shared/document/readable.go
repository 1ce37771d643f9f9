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

// Unreadable returns which of the documents and items the caller may not read now, or could not read when a text of theirs
// ended, and which of them are gone, alone or with their source. For a caller who may read everything none is gone.
// made has the ids, each with the first time at which a text was made from the document. A document that was deleted and put
// again at its URI has the same id, and so has one whose text was replaced. So each result has a time, and concerns only what
// was made before it: Forever, or the time at which the text ended or the other document was created. A document that was put again is
// not gone if it is known who might read it in the end, and the caller is one of them.
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
	changed := map[string]time.Time{} // the time of the record, if it is later than that in made
	removed := map[string][]string{}  // documents without a rule of their own, by their source, which is gone
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
				if at := time.UnixMilli(millisOf(item.Version)); at.After(made[e.ID]) {
					changed[e.ID] = at
				}
			case e.Access == nil:
				removed[e.CollectionID] = append(removed[e.CollectionID], e.ID)
			}
			if !who.uses(e.CollectionID) || !who.reads(e, rule) {
				unreadable[e.ID] = Forever
			}
		}
	}
	if err := s.unreadableBefore(ctx, teamID, who, made, changed, removed, unreadable, gone); err != nil {
		return nil, nil, err
	}
	if who.Reader.All() {
		return unreadable, nil, nil
	}
	return unreadable, gone, nil
}

// unreadableBefore adds those of changed and gone to unreadable of which who might not read a text when it ended, and those of
// removed, by their source, that who might not read when that was deleted. Who lost a document must not get an answer back by
// its deletion, nor by another text that is for more people. It takes from gone what was put again, and who might read in the end.
func (s *Service) unreadableBefore(ctx context.Context, teamID string, who Who, made, changed map[string]time.Time, removed map[string][]string, unreadable, gone map[string]time.Time) error {
	ids, sources := map[table.Key]string{}, map[table.Key][]string{}
	for id := range gone {
		if isID(id) {
			ids[ruledKey(teamID, id)] = id
		}
	}
	for id := range changed {
		ids[ruledKey(teamID, id)] = id
	}
	for sourceID, of := range removed {
		sources[ruledKey(teamID, sourceID)] = of
	}
	hide := func(k table.Key, until time.Time) {
		for _, id := range sources[k] {
			unreadable[id] = later(unreadable[id], gone[id])
		}
		if id, ok := ids[k]; ok {
			unreadable[id] = later(unreadable[id], until)
		}
	}
	for keys := range slices.Chunk(slices.AppendSeq(slices.Collect(maps.Keys(ids)), maps.Keys(sources)), readAtOnce) {
		items, err := s.Table.BatchGet(ctx, keys)
		if damaged := table.AsDamaged(err); damaged != nil {
			s.damaged(ctx, damaged)
			for _, k := range damaged.Keys {
				hide(k, later(changed[ids[k]], gone[ids[k]]))
			}
			err = nil
		}
		if err != nil {
			return fmt.Errorf("read who might read what has ended: %w", err)
		}
		for _, item := range items {
			kept, id := ruledFrom(item), ids[item.Key]
			if kept.collectionID != "" && !who.uses(kept.collectionID) && kept.movedAt.After(made[id]) {
				hide(item.Key, kept.movedAt)
			}
			for _, e := range kept.rules {
				until := e.until
				if until.IsZero() {
					until = gone[id] // zero for a document that is not gone: the rule is of one before it
				}
				if (id == "" || until.After(made[id])) && !who.Reader.MayRead(e.rule, nil) {
					hide(item.Key, until)
				}
			}
			if at := gone[id]; at.Before(Forever) && len(kept.rules) > 0 && !kept.rules[len(kept.rules)-1].until.IsZero() {
				delete(gone, id)
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
