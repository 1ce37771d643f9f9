package source

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"docent/shared/table"
)

// addParts stores the parts that a page of PartList names. They are stored before the page's
// checkpoint, so an interruption loses none.
func (r *syncRun) addParts(ctx context.Context, named []string) error {
	fresh := slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(named))), func(part string) bool { return r.parts[part].Listed })
	if len(r.parts)+len(fresh) > MaxParts {
		return &SyncError{Code: TooLarge, Detail: fmt.Sprintf("The provider lists more than %d, the most that one source reads. Choose some.", MaxParts)}
	}
	var ops []table.Op
	for _, part := range fresh {
		p := r.parts[part]
		p.Listed = true
		p.version++
		item, err := p.item(r.teamID, r.id, part)
		if err != nil {
			return err
		}
		r.parts[part] = p
		ops = append(ops, table.Put{Item: item})
	}
	return r.saveAll(ctx, ops)
}

// listedParts returns the parts that PartList named, if the source has it, without those that
// the settings name.
func (r *syncRun) listedParts(named []string) []string {
	if !slices.Contains(named, PartList) {
		return nil
	}
	var parts []string
	for _, part := range slices.Sorted(maps.Keys(r.parts)) {
		if r.parts[part].Listed && !slices.Contains(named, part) {
			parts = append(parts, part)
		}
	}
	return parts
}

// removeUnlisted removes the parts that settings named before and PartList does not.
func (r *syncRun) removeUnlisted(ctx context.Context, named []string) error {
	if !slices.Contains(named, PartList) || r.parts[PartList].LastReadBy != r.state.Began {
		return nil // without a whole list nothing is known
	}
	for _, part := range slices.Sorted(maps.Keys(r.parts)) {
		if r.parts[part].Listed || slices.Contains(named, part) {
			continue
		}
		if err := r.removePart(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// removePart removes the items of a part, and then its state, so that an interruption repeats
// it. It first forgets the checkpoint, so that no event stores another item. The items leave no mark: if the part is listed again,
// also after an interruption, it is read completely.
func (r *syncRun) removePart(ctx context.Context, part string) error {
	p := r.parts[part]
	p.partBody = partBody{Listed: p.Listed}
	if err := r.savePart(ctx, part, &p); err != nil {
		return err
	}
	r.state.State, r.state.Part = SyncRemoving, part
	for _, space := range itemSpaces {
		for e, err := range r.Documents.Items(ctx, r.teamID, r.id, space, true) {
			if err != nil {
				return err
			}
			if !r.Connector.PartContains(r.access.Settings, part, e.URI) {
				continue
			}
			if err := r.forgetItem(ctx, e); err != nil {
				return err
			}
		}
	}
	r.state.State = SyncReading
	return r.forgetParts(ctx, func(one string) bool { return one == part })
}
