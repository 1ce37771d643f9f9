package source

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"docent/shared/access"
	"docent/shared/document"
	"docent/shared/table"
)

// applyChanges carries out changes of the settings since the last sync: it closes the items if fewer may read them now, forgets the
// parts that are gone, has the others read from the start if they must be read again, and
// then removes the items that no part contains any more. It can be interrupted and repeated at any point. A part
// that is added again in the meantime has no checkpoint, so it is read completely.
func (r *syncRun) applyChanges(ctx context.Context) error {
	if !r.state.Changed {
		return nil
	}
	var replaced []replacedSettings
	var done []table.Op
	for item, err := range table.All(ctx, r.Table, table.Query{Table: table.Collections, Partition: syncKey(r.teamID, r.id).Partition, Prefix: replacedPrefix}) {
		if err != nil {
			return fmt.Errorf("read the changes of settings: %w", err)
		}
		old, err := replacedFrom(item)
		if err != nil {
			return err
		}
		replaced, done = append(replaced, old), append(done, table.Delete{Key: item.Key})
	}
	r.state.State, r.state.Part = SyncRemoving, ""
	now := r.Connector.Parts(r.access.Settings)
	reread := slices.ContainsFunc(replaced, func(old replacedSettings) bool { return old.Reread })
	if slices.ContainsFunc(replaced, func(old replacedSettings) bool { return old.Close }) {
		if err := r.setReadersOf(ctx, func(document.Entry) (*access.Rule, bool) { return nobody(), true }); err != nil {
			return err
		}
	}
	listed := slices.Contains(now, PartList) // then removeUnlisted removes what is gone
	if err := r.forgetParts(ctx, func(part string) bool { return !listed && !slices.Contains(now, part) }); err != nil {
		return err
	}
	if reread {
		if err := r.restartParts(ctx); err != nil {
			return err
		}
	}
	for _, old := range replaced {
		if err := r.forgetItems(ctx, old, now); err != nil {
			return err
		}
	}
	if err := r.saveAll(ctx, done); err != nil {
		return err
	}
	r.state.State, r.state.Changed = SyncReading, false
	return r.save(ctx)
}

// forgetParts deletes the checkpoints and marks of the chosen parts.
func (r *syncRun) forgetParts(ctx context.Context, chosen func(part string) bool) error {
	var ops []table.Op
	for item, err := range table.All(ctx, r.Table, table.Query{Table: table.Collections, Partition: syncKey(r.teamID, r.id).Partition}) {
		if err != nil {
			return fmt.Errorf("read the checkpoints: %w", err)
		}
		part, known := partOf(item.Sort)
		if known && chosen(part) {
			delete(r.parts, part)
			ops = append(ops, table.Delete{Key: item.Key})
		}
	}
	return r.saveAll(ctx, ops)
}

// restartParts has all parts read from the start. Each keeps a state: one that PartList does not name at the moment must be read too, so
// that it is removed once it is gone, and readers that not all stored items have got yet are still given to them.
func (r *syncRun) restartParts(ctx context.Context) error {
	var ops []table.Op
	for item, err := range table.All(ctx, r.Table, table.Query{Table: table.Collections, Partition: syncKey(r.teamID, r.id).Partition, Prefix: "seen#"}) {
		if err != nil {
			return fmt.Errorf("read the marks of full scans: %w", err)
		}
		ops = append(ops, table.Delete{Key: item.Key})
	}
	for _, part := range slices.Sorted(maps.Keys(r.parts)) {
		p := r.parts[part]
		p.partBody = partBody{Listed: p.Listed, Readers: p.Readers, Narrow: p.Narrow, Marked: p.Marked}
		p.version++
		item, err := p.item(r.teamID, r.id, part)
		if err != nil {
			return err
		}
		r.parts[part], ops = p, append(ops, table.Put{Item: item})
	}
	return r.saveAll(ctx, ops)
}

// saveAll carries out operations of any number, in several Writes.
func (r *syncRun) saveAll(ctx context.Context, ops []table.Op) error {
	for chunk := range slices.Chunk(ops, deletesPerWrite) {
		if err := r.save(ctx, chunk...); err != nil {
			return err
		}
	}
	return nil
}

// partOf returns the part that the item with a sort key is the state or a mark of, if any.
func partOf(sort string) (part string, ok bool) {
	if part, ok = strings.CutPrefix(sort, "part#"); ok {
		return part, true
	}
	if part, ok = strings.CutPrefix(sort, "seen#"); !ok {
		return "", false
	}
	for range 2 { // the start of the scan and the page
		part = part[:max(strings.LastIndexByte(part, '#'), 0)]
	}
	return part, true
}

// forgetItems removes the items of parts of replaced settings that no part of the current
// ones contains.
func (r *syncRun) forgetItems(ctx context.Context, old replacedSettings, now []string) error {
	var left []string
	for _, part := range r.Connector.Parts(old.Settings) {
		if old.Reread || !slices.Contains(now, part) {
			left = append(left, part)
		}
	}
	if len(left) == 0 {
		return nil
	}
	contained := func(s Settings, parts []string, uri string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return r.Connector.PartContains(s, part, uri) })
	}
	for _, space := range itemSpaces {
		for e, err := range r.Documents.Items(ctx, r.teamID, r.id, space, true) {
			if err != nil {
				return err
			}
			if !contained(old.Settings, left, e.URI) || contained(r.access.Settings, now, e.URI) {
				continue
			}
			if err := r.forgetItem(ctx, e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *syncRun) forgetItem(ctx context.Context, e document.Entry) error {
	removed, err := r.Documents.Forget(ctx, r.teamID, r.id, e.URI)
	if err != nil {
		return fmt.Errorf("remove an item that is no longer included: %w", err)
	}
	if removed {
		r.state.Removed++
	}
	return r.stillTime(ctx)
}
