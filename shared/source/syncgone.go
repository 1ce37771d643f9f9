package source

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"docent/shared/document"
	"docent/shared/search"
	"docent/shared/table"
)

// deletesPerWrite bounds the items that one Write deletes.
const deletesPerWrite = 90

// itemSpaces are the spaces that items are in.
var itemSpaces = []search.Space{search.Code, search.PRs, search.Issues, search.Documentation, search.Messages}

// removeGone removes the items that no completed full scan listed. Items can move
// during a scan and be missed, so removeGone asks the provider about each one,
// unless the scan was exact. Items stored after the scan started stay.
func (r *syncRun) removeGone(ctx context.Context) error {
	var scanned []string
	for part, p := range r.parts {
		if p.ScanStarted != 0 && p.ScanRead {
			scanned = append(scanned, part)
		}
	}
	if len(scanned) == 0 {
		return nil
	}
	slices.Sort(scanned)
	r.state.State, r.state.Part = SyncRemoving, ""
	if err := r.save(ctx); err != nil {
		return err
	}
	seen, err := r.scannedIDs(ctx, scanned)
	if err != nil {
		return err
	}
	failed := map[string]bool{} // parts about which the provider could not be asked
	err = r.removeUnseen(ctx, scanned, seen, failed)
	if err = errors.Join(err, r.keepAnswers(context.WithoutCancel(ctx), 1), r.keepUnsaid(context.WithoutCancel(ctx))); err != nil {
		return err
	}
	for _, part := range scanned {
		if failed[part] {
			continue // the next sync asks again
		}
		if err := r.endFullScan(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// removeUnseen calls removeIfGone with each item that was not seen. Items about which the provider has not answered before come last:
// otherwise questions without an answer could take the time of every run, and the other items would never be reached.
func (r *syncRun) removeUnseen(ctx context.Context, scanned []string, seen map[uuid.UUID]bool, failed map[string]bool) error {
	unsaid, last := map[string]int{}, map[int]document.Entry{}
	for _, part := range scanned {
		for _, uri := range r.parts[part].Unsaid {
			if _, known := unsaid[uri]; !known {
				unsaid[uri] = len(unsaid)
			}
		}
	}
	for _, space := range itemSpaces {
		for e, err := range r.Documents.Items(ctx, r.teamID, r.id, space, false) {
			if err != nil {
				return err
			}
			if id, err := uuid.Parse(e.ID); err != nil || seen[id] {
				continue
			}
			if n, later := unsaid[e.URI]; later {
				last[n] = e
				continue
			}
			if err := r.removeIfGone(ctx, scanned, failed, e); err != nil {
				return err
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(last)) {
		if err := r.removeIfGone(ctx, scanned, failed, last[n]); err != nil {
			return err
		}
	}
	return nil
}

// maxUnsaid bounds partBody.Unsaid.
const maxUnsaid = 50

// noteSaid notes whether the provider has said if the item of uri is deleted. keepUnsaid saves that.
func (r *syncRun) noteSaid(part, uri string, said bool) {
	p := r.parts[part]
	at := slices.Index(p.Unsaid, uri)
	if at < 0 && said {
		return
	}
	p.Unsaid = slices.DeleteFunc(slices.Clone(p.Unsaid), func(one string) bool { return one == uri })
	if !said {
		p.Unsaid = append(p.Unsaid, uri)
		p.Unsaid = p.Unsaid[max(0, len(p.Unsaid)-maxUnsaid):]
	}
	r.parts[part], r.unsaid[part] = p, true
}

// keepUnsaid saves what noteSaid has noted.
func (r *syncRun) keepUnsaid(ctx context.Context) error {
	for _, part := range slices.Sorted(maps.Keys(r.unsaid)) {
		p := r.parts[part]
		if err := r.savePart(ctx, part, &p); err != nil {
			return err
		}
		delete(r.unsaid, part)
	}
	return nil
}

// answersAWrite is how many answers that an item exists one Write keeps.
const answersAWrite = 100

// keepAnswers saves, for each part with at least least answers, which items exist according to the provider. It adds them to
// the marks of the full scan, so a run that is interrupted, or waits for a rate limit, does not ask about them again.
func (r *syncRun) keepAnswers(ctx context.Context, least int) error {
	for part, ids := range r.exist {
		if len(ids) < least*len(uuid.UUID{}) {
			continue
		}
		p := r.parts[part]
		mark := table.Item{Key: scanMarkKey(r.teamID, r.id, part, p.ScanStarted, p.Pages), Version: 1, Body: ids, Expires: r.Now().Add(scanMarkLife)}
		p.Pages++
		if err := r.savePart(ctx, part, &p, table.Put{Item: mark}); err != nil {
			return err
		}
		delete(r.exist, part)
		r.progress()
	}
	return nil
}

// scannedIDs returns the ids of the items that the full scans of parts listed.
func (r *syncRun) scannedIDs(ctx context.Context, parts []string) (map[uuid.UUID]bool, error) {
	seen := map[uuid.UUID]bool{}
	for _, part := range parts {
		q := table.Query{Table: table.Collections, Partition: syncKey(r.teamID, r.id).Partition, Prefix: scanMarkPrefix(part, r.parts[part].ScanStarted)}
		for item, err := range table.All(ctx, r.Table, q) {
			if err != nil {
				return nil, fmt.Errorf("read the marks of the full scan: %w", err)
			}
			for id := range slices.Chunk(item.Body, len(uuid.UUID{})) {
				seen[uuid.UUID(id)] = true
			}
		}
	}
	return seen, nil
}

// removeIfGone removes an item that no full scan listed, if it is deleted at its
// provider. It adds the item's part to failed if the provider cannot be asked.
func (r *syncRun) removeIfGone(ctx context.Context, scanned []string, failed map[string]bool, e document.Entry) error {
	at := slices.IndexFunc(scanned, func(part string) bool { return r.Connector.PartContains(r.access.Settings, part, e.URI) })
	if at < 0 || failed[scanned[at]] {
		return nil
	}
	part := scanned[at]
	p := r.parts[part]
	gone := p.Exact
	if !gone {
		var err error
		if r.vain >= firstTime {
			return r.askAgain(ctx, part, failed, e.URI, &SyncError{Code: Unreadable, Detail: "The provider does not say what is deleted."})
		}
		begun := time.Now()
		if gone, err = r.ask(ctx, part, e.URI); errors.Is(err, errLeaseLost) {
			return err
		}
		var failure *SyncError
		if errors.As(err, &failure) && !failure.AllParts && failure.RetryAt.IsZero() {
			r.vain += time.Since(begun)
			r.noteSaid(part, e.URI, false)
			return r.askAgain(ctx, part, failed, e.URI, failure)
		}
		if err != nil {
			return err
		}
		r.noteSaid(part, e.URI, true)
	}
	if gone {
		removed, err := r.Documents.Remove(ctx, r.teamID, r.id, e.URI, millisToTime(p.ScanStarted), "")
		if err != nil {
			return fmt.Errorf("remove a deleted item: %w", err)
		}
		if removed {
			r.state.Removed++
			r.progress()
		}
	}
	if !gone {
		id := uuid.MustParse(e.ID)
		r.exist[part] = append(r.exist[part], id[:]...)
		if err := r.keepAnswers(ctx, answersAWrite); err != nil {
			return err
		}
	}
	if millisToTime(r.state.leaseUntil).Sub(r.now()) < leaseTime/2 {
		if err := r.save(ctx); err != nil { // renews the lease
			return err
		}
	}
	if r.outOfTime(ctx) {
		return ErrUnfinished
	}
	return nil
}

// askTime limits one question whether an item is deleted. It is shorter than firstTime, which limits all unanswered
// questions of a run together: one item about which the provider never answers leaves time to ask about the others.
const askTime = 30 * time.Second

// ask asks the provider whether an item is deleted. A question may take several requests, so its time is limited: a run that
// waits for one until its deadline saves nothing.
func (r *syncRun) ask(ctx context.Context, part, uri string) (gone bool, err error) {
	most := askTime
	if deadline, ends := ctx.Deadline(); ends && !r.progressed {
		most = min(most, time.Until(deadline)-stopBefore)
	}
	timed, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	access := r.access
	access.Stored = r.stored
	if lost := r.hold(ctx, func() { gone, err = r.Connector.IsDeleted(timed, access, part, uri) }); lost != nil {
		return false, lost
	}
	if err != nil && ctx.Err() == nil && errors.Is(timed.Err(), context.DeadlineExceeded) {
		err = &SyncError{Code: Unreadable, Detail: "The provider does not say in time whether " + uri + " is deleted.", Cause: err}
	}
	return gone, err
}

// askAgain notes that the provider failed to say whether an item is deleted. The next sync asks again before it reads
// changes of the part. So that this does not block the part for ever, askAgain gives up after some time: the item stays
// until the next full scan, and the source says so.
func (r *syncRun) askAgain(ctx context.Context, part string, failed map[string]bool, uri string, failure *SyncError) error {
	p := r.parts[part]
	if p.AskedInVain == 0 {
		p.AskedInVain = r.now().UnixMilli()
		if err := r.savePart(ctx, part, &p); err != nil {
			return err
		}
	}
	if r.now().Sub(millisToTime(p.AskedInVain)) < askFor {
		r.recordFailure(ctx, part, failure)
		failed[part] = true
		return nil
	}
	r.reject(uri, "the provider does not say whether it is deleted; the next full scan asks again")
	if r.outOfTime(ctx) {
		return ErrUnfinished
	}
	return nil
}

// endFullScan records the end of a part's full scan and deletes the marks of this
// and earlier scans.
func (r *syncRun) endFullScan(ctx context.Context, part string) error {
	p := r.parts[part]
	p.endFullScan()
	if err := r.savePart(ctx, part, &p); err != nil {
		return err
	}
	return r.deleteAll(ctx, r.teamID, r.id, "seen#"+part+"#")
}

func (p *partState) endFullScan() {
	p.ScanStarted, p.LastScanStarted, p.ScanRead, p.Exact, p.Pages, p.AskedInVain = 0, p.ScanStarted, false, false, 0, 0
}

// deleteAll deletes the items of a source's partition whose sort keys start with prefix.
func (s *Syncer) deleteAll(ctx context.Context, teamID, id, prefix string) error {
	var ops []table.Op
	flush := func() error {
		if len(ops) == 0 {
			return nil
		}
		err := s.Table.Write(ctx, ops...)
		ops = nil
		return err
	}
	for item, err := range table.All(ctx, s.Table, table.Query{Table: table.Collections, Partition: syncKey(teamID, id).Partition, Prefix: prefix}) {
		if err == nil {
			if ops = append(ops, table.Delete{Key: item.Key}); len(ops) == deletesPerWrite {
				err = flush()
			}
		}
		if err != nil {
			return fmt.Errorf("delete the state of the sync: %w", err)
		}
	}
	if err := flush(); err != nil {
		return fmt.Errorf("delete the state of the sync: %w", err)
	}
	return nil
}
