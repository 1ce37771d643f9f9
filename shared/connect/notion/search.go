package notion

import (
	"context"
	"errors"
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
	retryTime   = time.Minute      // for all of them at the start of a sync
)

// results is a page of a search.
type results struct {
	Results []object `json:"results"`
	Cursor  string   `json:"next_cursor"`
	More    bool     `json:"has_more"`
}

// errExpired means that Notion does not accept a cursor any more.
var errExpired = errors.New("the cursor has expired")

// list returns the objects that were edited last, or those after a cursor. It returns errExpired for one that has expired.
func (s *session) list(ctx context.Context, cursor string) (results, error) {
	body := map[string]any{"page_size": perList, "sort": map[string]string{"direction": "descending", "timestamp": "last_edited_time"}}
	if cursor != "" {
		body["start_cursor"] = cursor
	}
	all, _, err := rest.Post[results](ctx, s.api, "v1/search", body)
	var refused *rest.StatusError
	if cursor != "" && errors.As(err, &refused) && refused.Status == http.StatusBadRequest {
		return all, errExpired
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
	var again time.Time // p.Reached when the list was last begun again
	for {
		some, err := s.list(ctx, p.Cursor)
		if errors.Is(err, errExpired) {
			switch {
			case p.Reached.IsZero(): // a checkpoint of an earlier version
				return source.ErrFullScanNeeded
			case p.Reached.Equal(again):
				return &source.SyncError{Code: source.Unreadable, Detail: "Notion does not continue its list of pages: it rejects each new cursor.", Cause: err}
			}
			again, p.Restarted, p.Cursor, p.Passed = p.Reached, true, "", nil
			continue
		}
		if err != nil {
			return err
		}
		page, done, err := s.passAll(ctx, &p, some, yield)
		if err != nil {
			return err
		}
		p.Cursor, p.Passed = some.Cursor, nil
		if done {
			p = checkpoint{Access: p.Access, Since: p.Begun.Add(-lookBack), Known: p.Next, Again: p.Failed}
			maps.DeleteFunc(p.Known, func(_ string, at int64) bool { return at < minutes(p.Since) })
		}
		page.Last = done
		if err := s.save(page, p, yield); err != nil || done {
			return err
		}
	}
}

// passAll passes the objects of a page of the search that p has not passed. It yields each full page, and returns the last one
// with whether the reading is done: the search has no more objects, or an earlier sync has read all others.
func (s *session) passAll(ctx context.Context, p *checkpoint, some results, yield func(source.SyncPage) bool) (page source.SyncPage, done bool, err error) {
	stored, err := s.storedOf(ctx, *p, some.Results)
	if err != nil {
		return page, false, err
	}
	reads, begun := 0, s.Now()
	for _, o := range some.Results {
		if slices.Contains(p.Passed, o.ID) {
			continue
		}
		if !p.Full && o.Edited.Before(p.Since) {
			return page, true, nil
		}
		if reads == readsAPage {
			if err := s.save(page, *p, yield); err != nil {
				return page, false, err
			}
			page, reads, begun = source.SyncPage{}, 0, s.Now()
		}
		read, err := s.pass(ctx, p, o, stored, &page)
		if isUnreadable(err) {
			p.Broken = o.ID
			if err := s.save(page, *p, yield); err != nil {
				return page, false, err
			}
		}
		if err != nil {
			return page, false, err
		}
		if !o.Edited.IsZero() && (p.Reached.IsZero() || o.Edited.Before(p.Reached)) {
			p.Reached = o.Edited
		}
		if read {
			reads++
		}
		if len(page.Skipped) > 0 || s.Now().Sub(begun) >= source.LongPage { // it may have taken minutes to find out that one is skipped
			reads = readsAPage
		}
	}
	return page, !some.More, nil
}

// save yields page with the checkpoint p. It returns source.ErrStopped if the sync ends there.
func (s *session) save(page source.SyncPage, p checkpoint, yield func(source.SyncPage) bool) error {
	page.Checkpoint, page.Notice = source.EncodeCheckpoint(p), s.notice()
	if !yield(page) {
		return source.ErrStopped
	}
	return nil
}

// knows reports whether an earlier sync has read o as it is, if o was shared then, or this reading before its list was begun again.
func (p checkpoint) knows(o object) bool {
	return !slices.Contains(p.Again, o.ID) && (o.Edited.Before(p.Since) || p.Known[short(o.ID)] == minutes(o.Edited) || p.hasPassed(o))
}

// hasPassed reports whether the reading had passed o before its list was begun again. It returns false if it is not sure: an object that was
// edited lately may have moved to the front since then, and objects edited at the very time that was reached may not all have been passed.
func (p checkpoint) hasPassed(o object) bool {
	return p.Restarted && o.Edited.After(p.Reached) && o.Edited.Before(p.Begun.Add(-lookBack))
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
