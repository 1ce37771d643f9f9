package notion

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"docent/shared/connect/rest"
	"docent/shared/source"
)

// Bounds of a reading.
const (
	perList     = 100              // results of a search
	readsAPage  = 25               // texts per page
	lookBack    = time.Hour        // that the search may lag behind edits
	settledTime = 2 * time.Minute  // after which a further edit has another time
	maxKnown    = 600              // edits in a checkpoint, which has those of two syncs
	maxAgain    = 50               // pages in a checkpoint that are tried again
	againTime   = 30 * time.Second // for each of them
	retryTime   = time.Minute      // for all of them at the begin of a sync
)

// results is a page of a search.
type results struct {
	Results []object `json:"results"`
	Cursor  string   `json:"next_cursor"`
	More    bool     `json:"has_more"`
}

// list returns the objects that were edited last, or those after a cursor.
func (s *session) list(ctx context.Context, cursor string) (results, error) {
	body := map[string]any{"page_size": perList, "sort": map[string]string{"direction": "descending", "timestamp": "last_edited_time"}}
	if cursor != "" {
		body["start_cursor"] = cursor
	}
	all, _, err := rest.Post[results](ctx, s.api, "v1/search", body)
	var refused *rest.StatusError
	if cursor != "" && errors.As(err, &refused) && refused.Status == http.StatusBadRequest {
		return all, source.ErrFullScanNeeded // the cursor is no longer valid
	}
	if err == nil {
		err = s.api.TooMany(len(all.Results), perList)
	}
	if err == nil && all.More && (all.Cursor == "" || all.Cursor == cursor) {
		err = &source.SyncError{Code: source.Unreadable, Detail: "Notion sent a list without its continuation."}
	}
	return all, err
}

// read yields what was edited since p, in a full scan also the ids of the rest.
func (s *session) read(ctx context.Context, p checkpoint, yield func(source.SyncPage) bool) error {
	if err := s.retry(ctx, &p, yield); err != nil {
		return err
	}
	for {
		some, err := s.list(ctx, p.Cursor)
		if err != nil {
			return err
		}
		stored, err := s.storedOf(ctx, p, some.Results)
		if err != nil {
			return err
		}
		var page source.SyncPage
		reads, done, begun := 0, !some.More, s.Now()
		for _, o := range some.Results {
			if slices.Contains(p.Passed, o.ID) {
				continue
			}
			if !p.Full && o.Edited.Before(p.Since) {
				done = true // this and all others were read by an earlier sync
				break
			}
			if reads == readsAPage {
				page.Checkpoint, page.Notice = source.EncodeCheckpoint(p), s.notice()
				if !yield(page) {
					return source.ErrStopped
				}
				page, reads, begun = source.SyncPage{}, 0, s.Now()
			}
			read, err := s.pass(ctx, &p, o, stored, &page)
			if isUnreadable(err) {
				p.Broken = o.ID
				if page.Checkpoint, page.Notice = source.EncodeCheckpoint(p), s.notice(); !yield(page) {
					return source.ErrStopped
				}
			}
			if err != nil {
				return err
			}
			if read {
				reads++
			}
			if len(page.Skipped) > 0 || s.Now().Sub(begun) >= source.LongPage { // it may have taken minutes to find out that one is skipped
				reads = readsAPage
			}
		}
		p.Cursor, p.Passed = some.Cursor, nil
		if done {
			p = checkpoint{Access: p.Access, Since: p.Begun.Add(-lookBack), Known: p.Next, Again: p.Failed}
			maps.DeleteFunc(p.Known, func(_ string, at int64) bool { return at < minutes(p.Since) })
		}
		page.Checkpoint, page.Last, page.Notice = source.EncodeCheckpoint(p), done, s.notice()
		if !yield(page) {
			return source.ErrStopped
		}
		if done {
			return nil
		}
	}
}

// retry reads the pages that Notion refused in the sync before. A full scan lists them
// anyway.
func (s *session) retry(ctx context.Context, p *checkpoint, yield func(source.SyncPage) bool) error {
	if p.Full || p.Cursor != "" || len(p.Again) == 0 {
		return nil
	}
	var page source.SyncPage
	var untried []string
	begun := time.Now()
	for _, id := range p.Again {
		if slices.Contains(p.Passed, id) {
			continue
		}
		if time.Since(begun) > retryTime {
			untried = append(untried, id)
			continue
		}
		o, err := inTime(ctx, func(ctx context.Context) (object, error) { return s.object(ctx, "pages", id) })
		var failed *source.SyncError
		if errors.As(err, &failed) && (failed.Code == source.NotThere || failed.Code == source.Refused) {
			continue // a full scan finds out what became of it
		}
		if isUnreadable(err) && len(p.Failed) < maxAgain {
			p.Failed, p.Passed = append(p.Failed, id), append(p.Passed, id)
			continue
		}
		if err == nil {
			_, err = s.pass(ctx, p, o, nil, &page)
		}
		if err != nil {
			return err
		}
	}
	p.Failed, p.Passed = append(untried, p.Failed...), append(p.Passed, untried...) // the next sync begins with them
	page.Checkpoint = source.EncodeCheckpoint(p)
	if !yield(page) {
		return source.ErrStopped
	}
	return nil
}

// inTime calls read, which requests a page that failed before, in a limited time, so that some of them that Notion never returns hold up
// no other.
func inTime[T any](ctx context.Context, read func(context.Context) (T, error)) (T, error) {
	timed, cancel := context.WithTimeout(ctx, againTime)
	defer cancel()
	v, err := read(timed)
	if err != nil && ctx.Err() == nil && timed.Err() != nil {
		err = &source.SyncError{Code: source.Unreadable, Detail: "Notion did not return it in time.", Cause: err}
	}
	return v, err
}

// isUnreadable reports whether Notion failed to answer.
func isUnreadable(err error) bool {
	var failed *source.SyncError
	return errors.As(err, &failed) && failed.Code == source.Unreadable
}

// leavesOut reports whether a page is left out for an error, and tried again by the next sync: Notion refuses it, or has failed to
// return it before.
func (p checkpoint) leavesOut(o object, err error) bool {
	var failed *source.SyncError
	return errors.As(err, &failed) && (failed.Code == source.Refused || failed.Code == source.TooLarge) ||
		isUnreadable(err) && (p.Broken == o.ID || slices.Contains(p.Again, o.ID))
}

// knows reports whether an earlier sync has read o as it is, if o was shared then.
func (p checkpoint) knows(o object) bool {
	return !slices.Contains(p.Again, o.ID) && (o.Edited.Before(p.Since) || p.Known[short(o.ID)] == minutes(o.Edited))
}

// storedOf returns which of the objects that p knows are stored. In a full scan the
// others are pages that were shared since, which does not count as an edit.
func (s *session) storedOf(ctx context.Context, p checkpoint, all []object) (map[string]bool, error) {
	var uris []string
	for _, o := range all {
		if p.Full && p.knows(o) {
			uris = append(uris, o.uri())
		}
	}
	if len(uris) == 0 || s.stored == nil {
		return nil, nil
	}
	return s.stored(ctx, uris)
}

// pass adds o to page, and to what p has passed. It reports whether it read its text.
func (s *session) pass(ctx context.Context, p *checkpoint, o object, stored map[string]bool, page *source.SyncPage) (read bool, err error) {
	inside := true
	if len(s.roots) > 0 {
		if inside, err = s.isBelow(ctx, o); err != nil {
			return false, err
		}
	}
	known := p.knows(o) && (!p.Full || stored[o.uri()])
	switch {
	case !inside || o.InTrash:
		page.Removed = append(page.Removed, o.uri())
	case known:
		page.Unread = append(page.Unread, o.uri())
	default:
		var missed lack
		text := func(ctx context.Context) (item *source.Item, err error) {
			item, missed, err = s.item(ctx, o)
			return item, err
		}
		var item *source.Item
		if p.Broken == o.ID || slices.Contains(p.Again, o.ID) {
			item, err = inTime(ctx, text)
		} else {
			item, err = text(ctx)
		}
		var failed *source.SyncError
		switch {
		case errors.As(err, &failed) && failed.Code == source.NotThere: // deleted or no longer shared in the meantime
			page.Removed = append(page.Removed, o.uri())
		case p.leavesOut(o, err):
			missed = refused
			page.Unread = append(page.Unread, o.uri())
			page.Skipped = append(page.Skipped, source.SkippedItem{URI: o.uri(), Why: "Notion does not return its text"})
		case err != nil:
			if failed != nil {
				failed.Detail = fmt.Sprintf("the page %q (%s): %s", o.title(), o.uri(), failed.Detail)
			}
			return false, err
		default:
			page.Items, read = append(page.Items, *item), true
		}
		switch {
		case missed == refused && len(p.Failed) < maxAgain:
			p.Failed = append(p.Failed, o.ID)
		case missed == cut && s.cut == "":
			s.cut = o.uri()
		}
	}
	p.Passed = append(p.Passed, o.ID)
	settled := known || s.Now().Sub(o.Edited) >= settledTime
	if inside && settled && !o.Edited.Before(p.Begun.Add(-lookBack)) && len(p.Next) < maxKnown {
		if p.Next == nil {
			p.Next = edits{}
		}
		p.Next[short(o.ID)] = minutes(o.Edited)
	}
	return read, nil
}

// notice returns what the team's admins should know, or nil.
func (s *session) notice() *source.SyncError {
	if s.cut == "" {
		return nil
	}
	return &source.SyncError{Code: source.TooLarge, Detail: "Notion returns only a part of " + s.cut + ". Divide the page."}
}
