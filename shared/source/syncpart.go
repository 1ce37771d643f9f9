package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"docent/shared/document"
	"docent/shared/table"
)

// readPart reads a part to its end: all of it if it was never read or a full scan
// is due, otherwise the changes.
func (r *syncRun) readPart(ctx context.Context, part string, p partState) error {
	if p.ScanStarted != 0 && p.ScanRead {
		return nil // already read; only the removal of deleted items is left
	}
	now := r.now().UnixMilli()
	due := p.LastScanStarted+r.FullScanEvery.Milliseconds() <= now || p.LastScanStarted > now // the clock was ahead then
	if p.ScanStarted == 0 && (p.Checkpoint == nil || due) {
		before := p.Checkpoint
		p.startFullScan(now)
		p.Before = before
	}
	r.state.Part, r.checksKept = part, p.LastScanStarted == 0
	err := r.readAround(ctx, part, &p)
	if errors.Is(err, ErrPartHidden) {
		if failed := r.hidePart(ctx, part); failed != nil {
			return failed
		}
	}
	if errors.Is(err, ErrPartGone) {
		if p.version > 0 { // else nothing was read of it
			if removed := r.removePart(ctx, part); removed != nil {
				return removed
			}
		}
		var why *SyncError
		if !errors.As(err, &why) {
			return nil
		}
		return why
	}
	return err
}

func (p *partState) startFullScan(now int64) {
	p.partBody = partBody{ScanStarted: now, LastScanStarted: p.LastScanStarted, Listed: p.Listed, Failed: p.Failed, FailedBy: p.FailedBy, Unsaid: p.Unsaid,
		Readers: p.Readers, Narrow: p.Narrow, Marked: p.Marked, HiddenSince: p.HiddenSince, Hidden: p.Hidden}
}

// readAround reads a part to its end. When a page has records that fail for the first time, it notes them, and the page
// is read again without those that still fail. The first sync that finds such records ends first, because they may
// succeed a minute later, and many may fail at the same time. A later sync reads the page again at once, so that no
// number of such records holds up the part. But a sync that waited for records and received none ends too.
func (r *syncRun) readAround(ctx context.Context, part string, p *partState) error {
	t := newTries(p.Failed)
	t.renew = func(ctx context.Context, most time.Duration) error {
		if r.progressed && r.left(ctx) < most+stopBefore {
			return ErrUnfinished // the next run has time for it
		}
		return r.renewLease(ctx)
	}
	for {
		err := r.readPages(ctx, part, p, t)
		if errors.Is(err, ErrFullScanNeeded) {
			p.startFullScan(r.now().UnixMilli())
			if err = r.savePart(ctx, part, p); err == nil { // saved first, so that no event is judged by the old checkpoint
				err = r.readPages(ctx, part, p, t)
			}
		}
		noted, err := r.noteFailed(ctx, part, p, t, err)
		switch {
		case !noted || p.FailedBy == r.state.Began || !IsOfOne(err):
			return err
		case t.spent() && !t.answered:
			return err // as if nothing answers: the source says so, and the next sync gets beyond one more
		case t.spent():
			t.again, t.first = 0, 0
		}
		if r.left(ctx) < againTime-t.again+firstTime-t.first+stopBefore {
			return ErrUnfinished
		}
	}
}

// readPages reads and stores the pages of a part in order.
func (r *syncRun) readPages(ctx context.Context, part string, p *partState, t *tries) error {
	if err := r.giveReaders(ctx, part, p); err != nil { // what an interruption left
		return err
	}
	access := r.access
	if _, retries := r.Connector.(Retrier); retries {
		access.Failed, access.tries = slices.Clone(p.Failed), t
	}
	access.Before, access.Stored = p.Before, r.stored
	passed := passedPages{}
	for page, err := range r.held(ctx, r.Connector.Read(ctx, access, part, p.Checkpoint)) {
		if errors.Is(err, errLeaseLost) {
			return err
		}
		if err != nil {
			return cmp.Or(ctx.Err(), err)
		}
		if len(page.Checkpoint) > MaxCheckpoint {
			return fmt.Errorf("the checkpoint of %s has %d bytes", part, len(page.Checkpoint))
		}
		trail := p.trailWith(page)
		if !page.Last && passed.comesBack(page.Checkpoint) || trail.isCircle() {
			p.Trail = nil // it may have been no circle, so the next sync continues
			return cmp.Or(r.savePart(ctx, part, p), error(&SyncError{Code: Unreadable, Detail: "The provider sent pages that lead back to an earlier one."}))
		}
		before := p.Trail
		p.Trail = trail
		if err := r.takePage(ctx, access, part, p, page, t); err != nil {
			p.Trail = before // the page is read again
			return err
		}
		if r.progress(); page.Last {
			return nil
		}
		if r.outOfTime(ctx) {
			return ErrUnfinished
		}
	}
	return fmt.Errorf("the pages of %s ended before the last one", part)
}

// takePage stores a page of a part, and then its checkpoint in the state of the part. The readers of the part come first.
func (r *syncRun) takePage(ctx context.Context, access Access, part string, p *partState, page SyncPage, t *tries) error {
	p.HiddenSince, p.Hidden = 0, false
	if page.Readers != nil {
		p.Checkpoint, p.Readers, p.Narrow, p.Marked = page.Checkpoint, page.Readers, page.Narrow, page.Marked
		if err := r.savePart(ctx, part, p); err != nil {
			return err
		}
		if err := r.giveReaders(ctx, part, p); err != nil {
			return err
		}
	}
	comments, err := r.keepComments(ctx, page.Items, p.ScanStarted != 0)
	if err != nil {
		return err
	}
	page.Unread = append(page.Unread, comments...)
	left, err := r.storePage(ctx, access, page)
	if err != nil {
		return err
	}
	p.updateFailed(page, left, t)
	if err := r.addParts(ctx, page.Parts); err != nil {
		return err
	}
	p.Checkpoint, p.Exact = page.Checkpoint, page.Exact
	var marks []table.Op
	if p.ScanStarted != 0 {
		if marks, err = r.scanMarkOps(part, *p, page); err != nil {
			return err
		}
		p.Pages++
	}
	if page.Last {
		p.LastReadBy, p.ScanRead, p.Before, p.FailedBy = r.state.Began, p.ScanStarted != 0, nil, 0
		if part == PartList && p.ScanRead {
			p.endFullScan() // it has no items that could be gone
		}
	}
	return r.savePart(ctx, part, p, marks...)
}

// stored returns which of uris are items of the source.
func (r *syncRun) stored(ctx context.Context, uris []string) (map[string]bool, error) {
	ids := make([]string, len(uris))
	for i, uri := range uris {
		var err error
		if ids[i], err = document.ID(r.teamID, uri); err != nil {
			return nil, fmt.Errorf("team id: %w", err)
		}
	}
	found, err := r.Documents.Find(ctx, r.teamID, ids, false)
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for i, uri := range uris {
		if e, ok := found[ids[i]]; ok && e.CollectionID == r.id {
			all[uri] = true
		}
	}
	return all, nil
}

// savePart saves the state of a part with that of the sync, in one Write with ops.
func (r *syncRun) savePart(ctx context.Context, part string, p *partState, ops ...table.Op) error {
	p.version++
	item, err := p.item(r.teamID, r.id, part)
	if err != nil {
		return err
	}
	r.parts[part] = *p
	return r.save(ctx, append(ops, table.Put{Item: item})...)
}

// scanMarkOps returns the operations that store the ids on a page of a full scan.
func (r *syncRun) scanMarkOps(part string, p partState, page SyncPage) ([]table.Op, error) {
	var ids []byte
	add := func(uri string) error {
		id, err := document.ID(r.teamID, uri)
		if err != nil {
			return fmt.Errorf("team id: %w", err)
		}
		parsed := uuid.MustParse(id)
		ids = append(ids, parsed[:]...)
		return nil
	}
	for _, i := range page.Items {
		if err := add(i.URI); err != nil {
			return nil, err
		}
	}
	for _, uri := range page.Unread {
		if err := add(uri); err != nil {
			return nil, err
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return []table.Op{table.Put{Item: table.Item{Key: scanMarkKey(r.teamID, r.id, part, p.ScanStarted, p.Pages), Version: 1, Body: ids,
		Expires: r.Now().Add(scanMarkLife)}}}, nil
}

// stillTime renews the lease within a page, and returns ErrUnfinished if too little time is left for more of it.
func (r *syncRun) stillTime(ctx context.Context) error {
	if r.outOfTime(ctx) {
		return ErrUnfinished
	}
	return r.renewLease(ctx)
}

// renewLease renews the lease if less than what one request of a connector may take is left of it.
func (r *syncRun) renewLease(ctx context.Context) error {
	r.renewing.Lock()
	defer r.renewing.Unlock()
	if millisToTime(r.state.leaseUntil).Sub(r.now()) <= max(firstTime, againTime) {
		return r.save(ctx)
	}
	return nil
}
