package web

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"docent/shared/fetch"
	"docent/shared/source"
)

// Bounds of sitemaps. The protocol itself allows 50 MB per file.
const (
	maxSitemap  = 50 << 20 // bytes of a file, compressed or not
	maxSitemaps = 200      // files that an index names
	maxListed   = 16 << 20 // bytes of all URLs of a source
	shownURL    = 200      // bytes of a URL that is too long, for the message about it
)

// siteList collects the pages of a site while its sitemaps are read, so that what is left out is never kept.
type siteList struct {
	home  *url.URL
	other string // the host of the first page or sitemap that is left out because it is not on home's
	pages []listed
	known map[string]bool
	bytes int // of the URLs of pages
}

func newSiteList(home *url.URL) *siteList { return &siteList{home: home, known: map[string]bool{}} }

// add adds a page, unless it is on another host or known. Its error says that the list has become too long.
func (l *siteList) add(e sitemapEntry) error {
	u, ok := l.below(e.location)
	if !ok {
		return nil
	}
	u.Fragment = ""
	page := listed{url: wellFormed(u.String()), changed: lastmod(e.changed)}
	switch page.long = e.long || len(page.url) > fetch.MaxURL; {
	case page.long:
		page.url = startOf(page.url)
	case l.known[page.url]:
		return nil
	default:
		l.known[page.url] = true
	}
	l.pages, l.bytes = append(l.pages, page), l.bytes+len(page.url)
	if l.isTooLong() {
		return &source.SyncError{Code: source.TooLarge, Detail: "The sitemap names more pages than the limit for one source. Connect a part of it."}
	}
	return nil
}

func (l *siteList) isTooLong() bool { return len(l.pages) > maxPages || l.bytes > maxListed }

// empty returns the failure for a sitemap without pages. One of another host is often that of a site that has moved, to which it redirects.
func (l *siteList) empty() error {
	failed := &source.SyncError{Code: source.Unreadable, Detail: "The sitemap names no page of the site " + l.home.Host + "."}
	if l.other != "" {
		failed.Detail = "The sitemap names no page of the site " + l.home.Host + ", but some of " + startOf(l.other) + ". Only pages of a sitemap's own site are read: set its address there."
	}
	return failed
}

// startOf returns the start of a URL that is too long, which is a URL too.
func startOf(address string) string {
	address = strings.ToValidUTF8(address[:min(len(address), shownURL)], "")
	if i := strings.LastIndexByte(address, '%'); i >= 0 && i > len(address)-3 { // it would cut an escaped character
		address = address[:i]
	}
	return address
}

// below returns location as a URL, or false if it is not on the host of home.
func (l *siteList) below(location string) (*url.URL, bool) {
	u, err := l.home.Parse(strings.TrimSpace(location))
	if err == nil && !strings.EqualFold(u.Host, l.home.Host) {
		l.other = cmp.Or(l.other, u.Host)
	}
	if err != nil || !strings.EqualFold(u.Host, l.home.Host) || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, false
	}
	return u, true
}

// lastmod parses a time in the W3C's profile of ISO 8601, or returns the zero time. A day, a month or a year may mean any time in it, so
// that is its end.
func lastmod(text string) time.Time {
	text = strings.TrimSpace(text)
	for _, f := range []struct {
		form                string
		years, months, days int
	}{{form: time.RFC3339}, {form: "2006-01-02T15:04Z07:00"}, {form: time.DateOnly, days: 1}, {form: "2006-01", months: 1}, {form: "2006", years: 1}} {
		if t, err := time.Parse(f.form, text); err == nil {
			return t.AddDate(f.years, f.months, f.days)
		}
	}
	return time.Time{}
}

// file reads one file, a sitemap or an index of them, and calls visit with each entry.
func (v *visit) file(ctx context.Context, u *url.URL, visit func(index bool, e sitemapEntry) error) error {
	s, err := v.site(ctx, u)
	if err != nil {
		return err
	}
	if s.failed != nil {
		return unreadable("sitemap", s.failed)
	}
	if !s.allows(u) {
		return &source.SyncError{Code: source.Disallowed, Detail: "The robots.txt of the site does not allow its sitemap to be read."}
	}
	if err := s.wait(ctx, v.Pause); err != nil {
		return err
	}
	raw, err := v.Fetch.Raw(ctx, u.String(), v.maxSitemap)
	if err != nil {
		return unreadable("sitemap", err)
	}
	if raw.Status != http.StatusOK {
		code := source.Unreadable
		if raw.Status == http.StatusNotFound || raw.Status == http.StatusGone {
			code = source.NotThere
		}
		return &source.SyncError{Code: code, Detail: fmt.Sprintf("The sitemap could not be fetched: its status is %d.", raw.Status), Cause: &fetch.StatusError{Status: raw.Status, RetryAfter: raw.RetryAfter}}
	}
	body, err := unpacked(raw.Body, v.maxSitemap)
	if err != nil {
		return err
	}
	return parse(body, visit)
}

// unpacked returns the text of a file, which may be a gzip. It is unpacked while it is read, up to most bytes; more is fetch.ErrTooLarge.
func unpacked(body []byte, most int64) (io.Reader, error) {
	if !bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
		return bytes.NewReader(body), nil
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, broken(err)
	}
	return &boundedReader{z, most + 1, &source.SyncError{Code: source.TooLarge, Detail: "The sitemap is larger than 50 MB uncompressed.", Cause: fetch.ErrTooLarge}}, nil
}

func broken(err error) error {
	return &source.SyncError{Code: source.Unreadable, Detail: "The sitemap is not a valid XML sitemap or sitemap index.", Cause: err}
}
