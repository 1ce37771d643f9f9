package gitlab

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"docent/shared/connect/rest"
	"docent/shared/source"
)

// Bounds of records.
const (
	perPage      = 100
	notesAPage   = 25              // records per page whose comments are requested
	retriesAPage = 5               // records per page that failed before
	maxNotes     = 5000            // comments of a record; GitLab allows as many
	maxKept      = 500             // records of one time in a checkpoint
	settledTime  = 2 * time.Minute // after which a comment changes the time of its record
	stamp        = "2006-01-02T15:04:05.000Z"
)

// readRecords reads the issues or merge requests that changed since p.
func (s *session) readRecords(ctx context.Context, p checkpoint, whole bool, yield func(source.SyncPage) bool) error {
	if !whole && !p.Retried && len(s.access.Failed) > 0 {
		p.Retried = true
		if err := s.retry(ctx, p, yield); err != nil {
			return err
		}
	}
	for {
		records, more, err := s.list(ctx, p)
		if err != nil {
			return err
		}
		begun := p.Since
		page, err := s.addAll(ctx, &p, records, yield)
		if err != nil {
			return err
		}
		switch {
		case more && p.Since.Equal(begun):
			p.Page = max(p.Page, 1) + 1 // more records of one time than a page has
		case !more && !p.Again.IsZero():
			p = checkpoint{Readers: p.Readers, Confidential: p.Confidential, Since: p.Again}
		case !more:
			p.Page, p.Retried = 0, false
		}
		page.Checkpoint, page.Last = source.EncodeCheckpoint(p), !more
		if !yield(page) {
			return source.ErrStopped
		}
		if !more {
			return nil
		}
	}
}

// addAll returns a page with records, moves p behind them, and yields them in parts if they take long.
func (s *session) addAll(ctx context.Context, p *checkpoint, records []record, yield func(source.SyncPage) bool) (page source.SyncPage, err error) {
	var first error // the first failure of a record that has not failed before; the others are still tried, to find all that fail
	asked, start := 0, s.Now()
	for i, r := range records {
		if r.UpdatedAt.Equal(p.Since) && slices.Contains(p.Read, r.Number) {
			continue // read before, and not changed since
		}
		if err := s.add(ctx, &page, r); source.IsOfOne(err) {
			first = cmp.Or(first, err)
			continue
		} else if err != nil {
			return page, err
		}
		if p.pass(r, s.Now()); s.isConfidential(r) && !p.Confidential {
			p.Confidential = true
			if p.Readers, err = s.fingerprint(ctx, true); err != nil {
				return page, err
			}
		}
		if r.Notes > 0 {
			asked++
		}
		slow := len(page.Failed) > 0 || s.Now().Sub(start) >= source.LongPage // a failure may have taken a minute
		if first == nil && (asked == notesAPage || slow) && i+1 < len(records) {
			page.Checkpoint = source.EncodeCheckpoint(*p)
			if !yield(page) {
				return page, source.ErrStopped
			}
			page, asked, start = source.SyncPage{}, 0, s.Now()
		}
	}
	return page, first
}

// add adds a record to page, unless it was deleted in the meantime. If its comments fail again, everything else that is
// known is stored, and the record keeps its earlier text.
func (s *session) add(ctx context.Context, page *source.SyncPage, r record) error {
	uri := s.uri(r.Number)
	notes, unread, err := s.notesOf(ctx, r)
	switch {
	case isGone(err):
		return nil // the next full scan asks whether it is deleted
	case unread:
		page.Failed = append(page.Failed, source.FailedAgain(uri, "GitLab does not return the comments on it"))
	case err != nil:
		return err
	}
	item := r.item(s.kind, s.project, uri, notes)
	item.KeepBody = unread
	if item.Access, err = s.readers(ctx, s.isConfidential(r), r.involved()); err != nil {
		return err
	}
	page.Items = append(page.Items, *item)
	return nil
}

// pass moves p behind a record that was read.
func (p *checkpoint) pass(r record, now time.Time) {
	if r.UpdatedAt.After(p.Since) {
		p.Since, p.Read, p.Page = r.UpdatedAt, nil, 0
	}
	if r.UpdatedAt.Equal(p.Since) && len(p.Read) < maxKept {
		p.Read = append(p.Read, r.Number)
	}
	if p.Again.IsZero() && r.UpdatedAt.After(now.Add(-settledTime)) {
		p.Again = r.UpdatedAt
	}
}

// list reads a page of records, and reports whether there are more.
func (s *session) list(ctx context.Context, p checkpoint) ([]record, bool, error) {
	q := url.Values{"scope": {"all"}, "state": {"all"}, "order_by": {"updated_at"}, "sort": {"asc"}, "per_page": {strconv.Itoa(perPage)}}
	if !p.Since.IsZero() {
		q.Set("updated_after", p.Since.UTC().Format(stamp))
	}
	page := max(p.Page, 1)
	if page > 1 {
		q.Set("page", strconv.Itoa(page))
	}
	all, header, err := rest.Get[[]record](ctx, s.api, "/"+s.kind+"?"+q.Encode())
	if err == nil {
		err = s.api.TooMany(len(all), perPage)
	}
	return all, nextPage(header, page, len(all)) > 0, err
}

// nextPage returns the number of the page after one with n entries, or 0.
func nextPage(header http.Header, page, n int) int {
	next, told := header["X-Next-Page"]
	link := header.Get("Link")
	more := n >= perPage
	if told {
		more = strings.Join(next, "") != ""
	} else if link != "" {
		more = strings.Contains(link, `rel="next"`)
	}
	if !more {
		return 0
	}
	return page + 1
}

// isGone reports whether err says that GitLab has no such record.
func isGone(err error) bool {
	var failed *source.SyncError
	return errors.As(err, &failed) && failed.Code == source.NotThere
}

func (s *session) noun() string {
	if s.kind == merges {
		return "merge request"
	}
	return "issue"
}

// uri returns the URI of a record. It has the project's path in the settings, so that a
// renamed project keeps its items.
func (s *session) uri(number int) string { return s.html + s.kind + "/" + strconv.Itoa(number) }
