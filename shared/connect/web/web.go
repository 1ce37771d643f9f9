// Package web reads the web pages of a list or a sitemap, as far as the robots.txt of
// their sites allows. It reaches public addresses only, reads one page at a time and
// pauses between two pages of a site.
package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"docent/shared/fetch"
	"docent/shared/source"
	"docent/shared/uri"
)

// Bounds of one source.
const (
	maxPages    = 20_000
	pagesAPage  = 10
	usualPause  = 500 * time.Millisecond // between two pages of a site
	longestWait = 30 * time.Second       // that a site may ask for between two pages
	usualWait   = time.Minute            // of a site that allows no more requests and names no time
	maxWait     = 24 * 60 * 60           // seconds that a site may ask for then
)

// Connector reads pages. It is safe for concurrent use.
type Connector struct {
	Fetch *fetch.Fetcher
	Now   func() time.Time
	Pause func(ctx context.Context, d time.Duration) error
}

// pages is the only part of a source.
const pages = "pages"

// Parts returns the only part.
func (c *Connector) Parts(source.Settings) []string { return []string{pages} }

// PartContains returns true: all pages are in the only part.
func (c *Connector) PartContains(source.Settings, string, string) bool { return true }

// IsDeleted returns false. It is called only of what a sitemap does not name that is not believed, or of which a part is missing.
func (c *Connector) IsDeleted(context.Context, source.Access, string, string) (bool, error) {
	return false, nil
}

// listed is a page of a list or sitemap.
type listed struct {
	url     string    // the start of it if it is long
	changed time.Time // zero: unknown
	long    bool      // its URL has more than fetch.MaxURL bytes, so that it is left out
}

// Read yields the pages. It skips pages that did not change, as far as a sitemap says.
func (c *Connector) Read(ctx context.Context, a source.Access, _ string, at []byte) iter.Seq2[source.SyncPage, error] {
	return source.Pages(func(page func(source.SyncPage) bool) error {
		var p checkpoint
		if err := source.DecodeCheckpoint(at, &p); err != nil {
			return err
		}
		if p.Begun.IsZero() {
			if p.Begun = c.Now().UTC(); p.Since.After(p.Begun) { // the clock was ahead then
				p.Since = time.Time{}
			}
		}
		if at == nil && a.Before != nil { // what the readings before a full scan found
			var before checkpoint
			if err := source.DecodeCheckpoint(a.Before, &before); err != nil {
				return err
			}
			p.Gone, p.lengths, p.Lost, p.Before, p.Again = before.Gone, before.lengths, before.Lost, before.Since, before.Again
		}
		v := &visit{Connector: c, sites: map[string]*site{}, maxSitemap: maxSitemap, access: a, retried: p.Retried, lost: p.Lost}
		all, err := v.list(ctx, a.Settings)
		p.Lost = v.stillLost
		if v.endsFirst {
			p.Retried = true
			if !page(source.SyncPage{Checkpoint: source.EncodeCheckpoint(p)}) {
				return source.ErrStopped
			}
		}
		if err != nil {
			return err
		}
		switch {
		case len(v.missed) > 0:
			p.Missed = true
		case a.Settings.Text(sitemap) != "" && !p.look(len(all), v.Now().UTC()):
			p.Doubted = true
		}
		return v.read(ctx, p, all, page)
	})
}

// visit is one call of Read, with the sites it has read.
type visit struct {
	*Connector
	sites      map[string]*site
	maxSitemap int64 // bytes of a file
	access     source.Access
	retried    bool // checkpoint.Retried
	endsFirst  bool // a sitemap may be readable soon, and retried is not set
	missed     []missedSitemap
	gone       []missedSitemap        // that count as gone
	lost       map[uint32]lostSitemap // those that were missing before, by the hash of the URL
	stillLost  map[uint32]lostSitemap // and those that still are, or of which that is not known
	stored     map[string]bool        // which of the pages before known are stored
	known      int
}

// list returns the pages of a source.
func (v *visit) list(ctx context.Context, s source.Settings) ([]listed, error) {
	if list := s.Text(sitemap); list != "" {
		return v.sitemap(ctx, list)
	}
	var all []listed
	for _, u := range s.List(urls) {
		all = append(all, listed{url: wellFormed(u)})
	}
	return all, nil
}

// wellFormed returns a valid uri for address. Sitemaps and old settings may contain
// unescaped blanks and quotes.
func wellFormed(address string) string {
	if uri.CheckWeb(address) != nil {
		return uri.Link(address)
	}
	return address
}

// read yields the pages from p on.
func (v *visit) read(ctx context.Context, p checkpoint, all []listed, yield func(source.SyncPage) bool) error {
	next := after(all, p.Last)
	for {
		page := source.SyncPage{Notice: cmp.Or(v.missedNotice(), p.doubt(), v.goneNotice())}
		begun := v.Now()
		for ; next < len(all) && len(page.Items)+len(page.Skipped) < pagesAPage && v.Now().Sub(begun) < source.LongPage; p.Last, next = all[next].url, next+1 {
			passed, err := v.passOver(ctx, p, all, next, &page)
			if err != nil {
				return err
			}
			if passed {
				continue
			}
			address := all[next].url
			read := len(page.Items)
			later, isGone, err := v.one(ctx, address, p, &page)
			var limited *source.SyncError
			if errors.As(err, &limited) {
				p.Waited = true
				if page.Checkpoint = source.EncodeCheckpoint(p); !yield(page) {
					return source.ErrStopped
				}
			}
			if err != nil {
				return err
			}
			if isGone {
				if err := v.removeGone(ctx, &p, all, next, &page); err != nil {
					return err
				}
			} else if !later {
				p.isThere(address)
			}
			p.Waited = p.Waited && len(page.Items) == read
			if later && !p.failsMuch() {
				p.Failed = append(p.Failed, address)
			}
		}
		done := next >= len(all)
		page.Last, page.Exact = done, done && !p.Doubted && !p.Missed
		if done {
			p = p.end()
		}
		page.Checkpoint = source.EncodeCheckpoint(p)
		if !yield(page) {
			return source.ErrStopped
		}
		if done {
			return nil
		}
	}
}

// passOver reports whether the page at index n need not be fetched, and says so in page: its address is too long, or it is stored and,
// by the sitemap, unchanged.
func (v *visit) passOver(ctx context.Context, p checkpoint, all []listed, n int, page *source.SyncPage) (bool, error) {
	one := all[n]
	if one.long {
		page.Skipped = append(page.Skipped, source.SkippedItem{URI: one.url, Why: fmt.Sprintf("its URL has more than %d bytes", fetch.MaxURL)})
		return true, nil
	}
	if p.Since.IsZero() || one.changed.IsZero() || !one.changed.Before(p.Since) || p.rereads(one.url) {
		return false, nil
	}
	stored, err := v.isStored(ctx, all, n)
	if err == nil && stored {
		page.Unread = append(page.Unread, one.url)
	}
	return stored, err
}

// perLookup is how many pages are looked up at a time.
const perLookup = 200

// isStored reports whether the page at index n is stored. A page that is gone and not stored needs no removal.
func (v *visit) isStored(ctx context.Context, all []listed, n int) (bool, error) {
	if v.access.Stored == nil {
		return true, nil
	}
	if n >= v.known {
		v.known = min(n+perLookup, len(all))
		var uris []string
		for _, one := range all[n:v.known] {
			uris = append(uris, one.url)
		}
		var err error
		if v.stored, err = v.access.Stored(ctx, uris); err != nil {
			return false, err
		}
	}
	return v.stored[all[n].url], nil
}

// removeGone removes the page at index n, which is gone now, if it was also gone at an earlier look: while a site is
// being changed, pages may be missing for some time. A page that is not stored needs no removal.
func (v *visit) removeGone(ctx context.Context, p *checkpoint, all []listed, n int, page *source.SyncPage) error {
	stored, err := v.isStored(ctx, all, n)
	switch {
	case err != nil:
		return err
	case !stored:
		p.isThere(all[n].url)
	case p.isGone(all[n].url, v.Now()):
		page.Removed = append(page.Removed, all[n].url) // a full scan with a doubted sitemap would leave it
	default:
		page.Unread = append(page.Unread, all[n].url)
	}
	return nil
}

// one fetches a page into page. An unreadable page is listed as skipped, not an error; its stored copy stays if it may still exist.
// isGone means that it does not. It returns later if it may be readable then, and a *source.SyncError if the site
// asks to wait and that was not done.
func (v *visit) one(ctx context.Context, address string, p checkpoint, page *source.SyncPage) (later, isGone bool, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		page.Skipped = append(page.Skipped, source.SkippedItem{URI: address, Why: "it is not an absolute http or https URL"})
		return false, false, nil
	}
	s, err := v.site(ctx, u)
	if err != nil {
		return false, false, err
	}
	if !s.allows(u) {
		page.Skipped = append(page.Skipped, source.SkippedItem{URI: address, Why: s.forbids()})
		switch {
		case s.failed == nil: // the site forbids it
			page.Removed = append(page.Removed, address)
		case s.failed.Code == fetch.Blocked:
			isGone = true // if its name still leads to no public address at another look
		default: // the site may only be down
			later, page.Unread = true, append(page.Unread, address)
		}
		return later, isGone, nil
	}
	if err := s.wait(ctx, v.Pause); err != nil {
		return false, false, err
	}
	got, err := v.Fetch.GetBy(ctx, address, func(to *url.URL) error { return v.follow(ctx, to) })
	var failed *fetch.Error
	var forbidden *forbiddenError
	switch {
	case errors.As(err, &forbidden):
		page.Skipped = append(page.Skipped, source.SkippedItem{URI: address, Why: "it redirects to " + startOf(forbidden.to.String()) + ": " + forbidden.site.forbids()})
		if failed := forbidden.site.failed; failed != nil && failed.Code != fetch.Blocked { // the site may only be down
			page.Unread = append(page.Unread, address)
			return true, false, nil
		}
		return false, true, nil // if it still does so at another look
	case err == nil && got.NoIndex && v.access.Settings.Text(sitemap) != "": // nobody named the page itself
		page.Skipped = append(page.Skipped, source.SkippedItem{URI: address, Why: "it asks robots not to index it (noindex)"})
		return false, true, nil // if it still does so at another look
	case err == nil:
		page.Items = append(page.Items, source.Item{URI: address, Title: source.ClipTitle(got.Title), Body: got.Content, SourceType: "documentation", Project: u.Hostname()})
		return false, false, nil
	case !errors.As(err, &failed):
		return false, false, err // ctx has ended
	}
	var answered *fetch.StatusError
	var unreached *url.Error
	if errors.As(err, &answered) && !p.Waited && isLimit(answered) {
		return false, false, v.limited(u, answered)
	}
	page.Skipped = append(page.Skipped, source.SkippedItem{URI: address, Why: failed.Detail})
	if gone(failed, answered) {
		return false, true, nil
	}
	page.Unread = append(page.Unread, address)
	return failed.Code == fetch.TimedOut || errors.As(err, &unreached) || answered != nil && temporary(answered.Status), false, nil
}

// forbiddenError says that a page redirects to one that the site there does not allow to be read.
type forbiddenError struct {
	to   *url.URL
	site *site
}

func (e *forbiddenError) Error() string { return "robots.txt does not allow " + e.to.String() }

// follow returns an error unless a page may be read to which another one redirects.
func (v *visit) follow(ctx context.Context, to *url.URL) error {
	s, err := v.site(ctx, to)
	if err == nil && !s.allows(to) {
		err = &forbiddenError{to, s}
	}
	return err
}

// gone reports whether a page is no longer there for everyone: who may read one that needs a sign-in is not known. Status 403 does not say
// so, because sites send it to clients that they take for too fast, too.
func gone(failed *fetch.Error, answered *fetch.StatusError) bool {
	return failed.Code == fetch.Blocked || failed.Code == fetch.Unsupported ||
		answered != nil && slices.Contains([]int{http.StatusNotFound, http.StatusGone, http.StatusUnauthorized}, answered.Status)
}

// isLimit reports whether a site wants fewer requests, or says when it is back.
func isLimit(answered *fetch.StatusError) bool {
	return answered.Status == http.StatusTooManyRequests || answered.Status == http.StatusServiceUnavailable && answered.RetryAfter != ""
}

// limited returns the failure for a site that wants fewer requests.
func (v *visit) limited(u *url.URL, answered *fetch.StatusError) *source.SyncError {
	until := v.Now().Add(usualWait)
	if seconds, err := strconv.Atoi(answered.RetryAfter); err == nil && seconds > 0 {
		until = v.Now().Add(time.Duration(min(seconds, maxWait)) * time.Second)
	} else if at, err := http.ParseTime(answered.RetryAfter); err == nil && at.After(v.Now()) {
		until = at
	}
	return &source.SyncError{Code: source.RateLimited, RetryAt: until, AllParts: true, Cause: answered,
		Detail: u.Hostname() + " allows no more requests before " + until.UTC().Format(time.RFC3339) + "."}
}

// unreadable returns the *source.SyncError for a list that cannot be read.
func unreadable(what string, err error) error {
	var failed *fetch.Error
	if errors.As(err, &failed) {
		code := source.Unreadable
		if failed.Code == fetch.Blocked {
			code = source.Blocked
		}
		return &source.SyncError{Code: code, Detail: fmt.Sprintf("The %s cannot be read. %s", what, failed.Detail), Cause: err}
	}
	return err
}
