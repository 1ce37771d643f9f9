package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"docent/shared/fetch"
	"docent/shared/source"
)

// Bounds of sitemaps. The protocol itself allows 50 MB per file.
const (
	maxSitemap  = 50 << 20 // bytes of a file, compressed or not
	maxSitemaps = 200      // files that an index names
)

// sitemapEntry is a page or, in an index, a sitemap.
type sitemapEntry struct {
	Location string `xml:"loc"`
	Changed  string `xml:"lastmod"`
}

// sitemap returns the pages of a sitemap or of an index of sitemaps, sorted by URL. It
// leaves out pages of other hosts, as the protocol requires.
func (v *visit) sitemap(ctx context.Context, address string) ([]listed, error) {
	home, err := url.Parse(address)
	if err != nil {
		return nil, &source.SyncError{Code: source.Unreadable, Detail: "The address of the sitemap is not a URL.", Cause: err}
	}
	entries, index, err := v.file(ctx, home)
	if err != nil {
		return nil, err
	}
	if !index {
		return sorted(entries, home)
	}
	if len(entries) > maxSitemaps {
		return nil, &source.SyncError{Code: source.TooLarge, Detail: "The index names more sitemaps than the limit for one site."}
	}
	var all []sitemapEntry
	for _, one := range entries {
		u, ok := below(one.Location, home)
		if !ok {
			continue
		}
		pages, nested, err := v.file(ctx, u)
		if err != nil {
			return nil, err
		}
		if nested {
			return nil, &source.SyncError{Code: source.Unreadable, Detail: "An index of sitemaps names another index."}
		}
		if all = append(all, pages...); len(all) > maxPages {
			break
		}
	}
	return sorted(all, home)
}

// sorted returns the pages of a site, sorted by URL, each once.
func sorted(entries []sitemapEntry, home *url.URL) ([]listed, error) {
	var all []listed
	for _, e := range entries {
		if u, ok := below(e.Location, home); ok {
			u.Fragment = ""
			all = append(all, listed{wellFormed(u.String()), lastmod(e.Changed)})
		}
	}
	slices.SortFunc(all, func(a, b listed) int { return strings.Compare(a.url, b.url) })
	all = slices.CompactFunc(all, func(a, b listed) bool { return a.url == b.url })
	if len(all) > maxPages {
		return nil, &source.SyncError{Code: source.TooLarge, Detail: "The sitemap names more pages than the limit for one source. Connect a part of it."}
	}
	return all, nil
}

// below returns location as a URL, or false if it is not on the host of home.
func below(location string, home *url.URL) (*url.URL, bool) {
	u, err := home.Parse(strings.TrimSpace(location))
	if err != nil || !strings.EqualFold(u.Host, home.Host) || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, false
	}
	return u, true
}

// lastmod parses a time in the W3C's profile of ISO 8601, or returns the zero time.
func lastmod(text string) time.Time {
	text = strings.TrimSpace(text)
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", time.DateOnly, "2006-01", "2006"} {
		if t, err := time.Parse(form, text); err == nil {
			return t
		}
	}
	return time.Time{}
}

// file reads one file: a sitemap, or an index of them.
func (v *visit) file(ctx context.Context, u *url.URL) (entries []sitemapEntry, index bool, err error) {
	s, err := v.site(ctx, u)
	if err != nil {
		return nil, false, err
	}
	if s.failed != nil {
		return nil, false, unreadable("sitemap", s.failed)
	}
	if !s.allows(u) {
		return nil, false, &source.SyncError{Code: source.Disallowed, Detail: "The robots.txt of the site does not allow its sitemap to be read."}
	}
	if err := s.wait(ctx, v.Pause); err != nil {
		return nil, false, err
	}
	raw, err := v.Fetch.Raw(ctx, u.String(), v.maxSitemap)
	if err != nil {
		return nil, false, unreadable("sitemap", err)
	}
	if raw.Status != http.StatusOK {
		code := source.Unreadable
		if raw.Status == http.StatusNotFound || raw.Status == http.StatusGone {
			code = source.NotThere
		}
		return nil, false, &source.SyncError{Code: code, Detail: fmt.Sprintf("The sitemap could not be fetched: its status is %d.", raw.Status), Cause: &fetch.StatusError{Status: raw.Status}}
	}
	body := raw.Body
	if bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
		if body, err = unpacked(body); err != nil {
			return nil, false, err
		}
	}
	return parse(body)
}

func unpacked(body []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, broken(err)
	}
	out, err := io.ReadAll(io.LimitReader(z, maxSitemap+1))
	if len(out) > maxSitemap {
		return nil, &source.SyncError{Code: source.TooLarge, Detail: "The sitemap is larger than 50 MB uncompressed."}
	}
	if err != nil {
		return nil, broken(err)
	}
	return out, nil
}

func broken(err error) error {
	return &source.SyncError{Code: source.Unreadable, Detail: "The sitemap is not a valid XML sitemap or sitemap index.", Cause: err}
}

// parse decodes one entry at a time, so that it stops at the first error.
func parse(body []byte) (entries []sitemapEntry, index bool, err error) {
	d := xml.NewDecoder(bytes.NewReader(body))
	root := ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) && root != "" {
			return entries, root == "sitemapindex", nil
		}
		if err != nil {
			return nil, false, broken(err)
		}
		start, ok := token.(xml.StartElement)
		switch {
		case !ok:
		case root == "":
			if root = start.Name.Local; root != "urlset" && root != "sitemapindex" {
				return nil, false, broken(errors.New(root))
			}
		case start.Name.Local == "url" || start.Name.Local == "sitemap":
			var e sitemapEntry
			if err := d.DecodeElement(&e, &start); err != nil {
				return nil, false, broken(err)
			}
			if entries = append(entries, e); len(entries) > maxPages {
				return nil, false, &source.SyncError{Code: source.TooLarge, Detail: "The sitemap names more pages than the limit for one source. Connect a part of it."}
			}
		default:
			if err := d.Skip(); err != nil {
				return nil, false, broken(err)
			}
		}
	}
}
