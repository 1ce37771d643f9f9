package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"docent/shared/document"
	"docent/shared/search"
	"docent/shared/table"
)

// deletesAtOnce bounds the marks that one Write deletes.
const deletesAtOnce = 90

// removeGone removes what the walks of everything that have come to their ends did
// not come by. A walk may have missed what is there, because things move while they
// are read; so the provider is asked of each, unless the walk was exact. What was
// stored after the walk began stays.
func (r *syncing) removeGone(ctx context.Context) error {
	var walked []string
	for part, p := range r.parts {
		if p.Walk != 0 && p.Walked {
			walked = append(walked, part)
		}
	}
	if len(walked) == 0 {
		return nil
	}
	slices.Sort(walked)
	r.state.State, r.state.Part = SyncRemoving, ""
	if err := r.save(ctx); err != nil {
		return err
	}
	seen, err := r.marks(ctx, walked)
	if err != nil {
		return err
	}
	unread := map[string]bool{} // parts of which the provider could not be asked
	for _, space := range []search.Space{search.Code, search.PRs, search.Issues, search.Documentation, search.Messages} {
		for e, err := range r.Documents.Items(ctx, r.teamID, r.id, space) {
			if err != nil {
				return err
			}
			if id, err := uuid.Parse(e.ID); err != nil || seen[id] {
				continue
			}
			if err := r.removeIfGone(ctx, walked, unread, e); err != nil {
				return err
			}
		}
	}
	for _, part := range walked {
		if unread[part] {
			continue // asked again by the next sync
		}
		if err := r.endWalk(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// marks are the ids of all that the walks of parts came by.
func (r *syncing) marks(ctx context.Context, parts []string) (map[uuid.UUID]bool, error) {
	seen := map[uuid.UUID]bool{}
	for _, part := range parts {
		q := table.Query{Table: table.Collections, Partition: syncKey(r.teamID, r.id).Partition, Prefix: seenPrefix(part, r.parts[part].Walk)}
		for item, err := range table.All(ctx, r.Table, q) {
			if err != nil {
				return nil, fmt.Errorf("read the marks of the walk: %w", err)
			}
			for id := range slices.Chunk(item.Body, len(uuid.UUID{})) {
				seen[uuid.UUID(id)] = true
			}
		}
	}
	return seen, nil
}

// removeIfGone removes an item that no walk came by, if its provider has it no more.
func (r *syncing) removeIfGone(ctx context.Context, walked []string, unread map[string]bool, e document.Entry) error {
	at := slices.IndexFunc(walked, func(part string) bool { return r.Connector.Holds(r.access.Settings, part, e.URI) })
	if at < 0 || unread[walked[at]] {
		return nil
	}
	part := walked[at]
	p := r.parts[part]
	gone := p.Exact
	if !gone {
		var err error
		gone, err = r.Connector.Gone(ctx, r.access, part, e.URI)
		var failed *SyncError
		if errors.As(err, &failed) && !failed.All && failed.RetryAt.IsZero() {
			r.failed(ctx, part, failed)
			unread[part] = true
			return nil
		}
		if err != nil {
			return err
		}
	}
	if gone {
		removed, err := r.Documents.Remove(ctx, r.teamID, r.id, e.URI, millisToTime(p.Walk), "")
		if err != nil {
			return fmt.Errorf("remove what is gone: %w", err)
		}
		if removed {
			r.state.Removed++
		}
	}
	if millisToTime(r.state.until).Sub(r.now()) < holdFor/2 || !p.Exact {
		if err := r.save(ctx); err != nil { // it may take long
			return err
		}
	}
	if r.short(ctx) {
		return ErrUnfinished
	}
	return nil
}

// endWalk ends the walk of a part and deletes its marks, and those that an earlier
// one has left.
func (r *syncing) endWalk(ctx context.Context, part string) error {
	p := r.parts[part]
	p.Walk, p.LastWalk, p.Walked, p.Exact, p.Pages = 0, p.Walk, false, false, 0
	if err := r.savePart(ctx, part, &p); err != nil {
		return err
	}
	return r.deleteAll(ctx, r.teamID, r.id, func(sort string) bool { return strings.HasPrefix(sort, "seen#"+part+"#") })
}

// deleteAll deletes the items beside a source's settings that are chosen.
func (y *Syncer) deleteAll(ctx context.Context, teamID, id string, chosen func(sort string) bool) error {
	var ops []table.Op
	flush := func() error {
		if len(ops) == 0 {
			return nil
		}
		err := y.Table.Write(ctx, ops...)
		ops = nil
		return err
	}
	for item, err := range table.All(ctx, y.Table, table.Query{Table: table.Collections, Partition: syncKey(teamID, id).Partition}) {
		if err == nil && chosen(item.Sort) {
			if ops = append(ops, table.Delete{Key: item.Key}); len(ops) == deletesAtOnce {
				err = flush()
			}
		}
		if err != nil {
			return fmt.Errorf("delete marks of a walk: %w", err)
		}
	}
	if err := flush(); err != nil {
		return fmt.Errorf("delete marks of a walk: %w", err)
	}
	return nil
}
