// Package web reads the web pages of a list or a sitemap, as far as the robots.txt of
// their sites allows. It reaches public addresses only, reads one page at a time and
// pauses between two pages of a site.
package web

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
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
	longestPage = 30 * time.Second       // of reading, after which what was read is stored: a sync must show that it lives
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

// IsDeleted is never called, because every full scan is exact.
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
			p.Begun = c.Now().UTC()
		}
		v := &visit{c, map[string]*site{}, maxSitemap}
		all, err := v.list(ctx, a.Settings)
		if err != nil {
			return err
		}
		return v.read(ctx, p, all, page)
	})
}

// visit is one call of Read, with the sites it has read.
type visit struct {
	*Connector
	sites      map[string]*site
	maxSitemap int64 // bytes of a file
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
		var page source.SyncPage
		begun := v.Now()
		for ; next < len(all) && len(page.Items)+len(page.Skipped) < pagesAPage && v.Now().Sub(begun) < longestPage; p.Last, next = all[next].url, next+1 {
			one := all[next]
			if one.long {
				page.Skipped = append(page.Skipped, source.SkippedItem{URI: one.url, Why: fmt.Sprintf("its URL has more than %d bytes", fetch.MaxURL)})
				continue
			}
			if !p.Since.IsZero() && !one.changed.IsZero() && one.changed.Before(p.Since) {
				page.Unread = append(page.Unread, one.url)
				continue
			}
			if err := v.one(ctx, one.url, &page); err != nil {
				return err
			}
		}
		done := next >= len(all)
		if done {
			// A day earlier, because the times of sitemaps are rarely exact.
			p = checkpoint{Since: p.Begun.Add(-24 * time.Hour)}
		}
		page.Checkpoint, page.Last, page.Exact = source.EncodeCheckpoint(p), done, done
		if !yield(page) {
			return source.ErrStopped
		}
		if done {
			return nil
		}
	}
}

// one fetches a page into page. An unreadable page is listed as skipped, not an error;
// its stored copy stays if it may still exist.
func (v *visit) one(ctx context.Context, address string, page *source.SyncPage) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		page.Skipped = append(page.Skipped, source.SkippedItem{URI: address, Why: "it is not an absolute http or https URL"})
		return nil
	}
	s, err := v.site(ctx, u)
	if err != nil {
		return err
	}
	if !s.allows(u) {
		if s.failed != nil && s.failed.Code != fetch.Blocked { // what was forbidden is gone, but this site may only be down
			page.Unread = append(page.Unread, address)
		}
		page.Skipped = append(page.Skipped, source.SkippedItem{URI: address, Why: s.forbids()})
		return nil
	}
	if err := s.wait(ctx, v.Pause); err != nil {
		return err
	}
	got, err := v.Fetch.Get(ctx, address)
	var failed *fetch.Error
	switch {
	case err == nil:
		page.Items = append(page.Items, source.Item{URI: address, Title: got.Title, Body: got.Content, SourceType: "documentation", Project: u.Hostname()})
		return nil
	case !errors.As(err, &failed):
		return err // ctx has ended
	}
	var answered *fetch.StatusError
	gone := failed.Code == fetch.Blocked || failed.Code == fetch.Unsupported ||
		errors.As(err, &answered) && (answered.Status == http.StatusNotFound || answered.Status == http.StatusGone)
	if !gone {
		page.Unread = append(page.Unread, address)
	}
	page.Skipped = append(page.Skipped, source.SkippedItem{URI: address, Why: failed.Detail})
	return nil
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
