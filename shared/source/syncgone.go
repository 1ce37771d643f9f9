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

// deletesPerWrite bounds the marks that one Write deletes.
const deletesPerWrite = 90

// removeGone removes what the walks of everything that have come to their ends did
// not come by. A walk may have missed what is there, because things move while they
// are read; so the provider is asked of each, unless the walk was exact. What was
// stored after the walk began stays.
func (r *syncRun) removeGone(ctx context.Context) error {
	var walked []string
	for part, p := range r.parts {
		if p.ScanStarted != 0 && p.ScanRead {
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
	seen, err := r.scannedIDs(ctx, walked)
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
		if err := r.endFullScan(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// scannedIDs are the ids of all that the walks of parts came by.
func (r *syncRun) scannedIDs(ctx context.Context, parts []string) (map[uuid.UUID]bool, error) {
	seen := map[uuid.UUID]bool{}
	for _, part := range parts {
		q := table.Query{Table: table.Collections, Partition: syncKey(r.teamID, r.id).Partition, Prefix: scanMarkPrefix(part, r.parts[part].ScanStarted)}
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
func (r *syncRun) removeIfGone(ctx context.Context, walked []string, unread map[string]bool, e document.Entry) error {
	at := slices.IndexFunc(walked, func(part string) bool { return r.Connector.PartContains(r.access.Settings, part, e.URI) })
	if at < 0 || unread[walked[at]] {
		return nil
	}
	part := walked[at]
	p := r.parts[part]
	gone := p.Exact
	if !gone {
		var err error
		gone, err = r.Connector.IsDeleted(ctx, r.access, part, e.URI)
		var failed *SyncError
		if errors.As(err, &failed) && !failed.AllParts && failed.RetryAt.IsZero() {
			r.recordFailure(ctx, part, failed)
			unread[part] = true
			return nil
		}
		if err != nil {
			return err
		}
	}
	if gone {
		removed, err := r.Documents.Remove(ctx, r.teamID, r.id, e.URI, millisToTime(p.ScanStarted), "")
		if err != nil {
			return fmt.Errorf("remove what is gone: %w", err)
		}
		if removed {
			r.state.Removed++
		}
	}
	if millisToTime(r.state.leaseUntil).Sub(r.now()) < leaseTime/2 || !p.Exact {
		if err := r.save(ctx); err != nil { // it may take long
			return err
		}
	}
	if r.outOfTime(ctx) {
		return ErrUnfinished
	}
	return nil
}

// endFullScan ends the walk of a part and deletes its marks, and those that an earlier
// one has left.
func (r *syncRun) endFullScan(ctx context.Context, part string) error {
	p := r.parts[part]
	p.ScanStarted, p.LastScanStarted, p.ScanRead, p.Exact, p.Pages = 0, p.ScanStarted, false, false, 0
	if err := r.savePart(ctx, part, &p); err != nil {
		return err
	}
	return r.deleteAll(ctx, r.teamID, r.id, func(sort string) bool { return strings.HasPrefix(sort, "seen#"+part+"#") })
}

// deleteAll deletes the items beside a source's settings that are chosen.
func (s *Syncer) deleteAll(ctx context.Context, teamID, id string, chosen func(sort string) bool) error {
	var ops []table.Op
	flush := func() error {
		if len(ops) == 0 {
			return nil
		}
		err := s.Table.Write(ctx, ops...)
		ops = nil
		return err
	}
	for item, err := range table.All(ctx, s.Table, table.Query{Table: table.Collections, Partition: syncKey(teamID, id).Partition}) {
		if err == nil && chosen(item.Sort) {
			if ops = append(ops, table.Delete{Key: item.Key}); len(ops) == deletesPerWrite {
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
