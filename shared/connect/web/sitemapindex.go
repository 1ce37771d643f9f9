package web

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"docent/shared/fetch"
	"docent/shared/source"
)

// failFor limits the time for sitemaps of an index that fail and may be readable soon. The others are then missed without being asked for, so
// that a reading gets to the pages.
const failFor = time.Minute

// sitemap returns the pages of a sitemap or of an index of sitemaps, sorted by URL, each once. It
// leaves out pages of other hosts, as the protocol requires. Sitemaps of an index that cannot be read are in v.missed, or in v.gone if they
// have been missing for long. The first that may be
// readable soon is an error, with v.endsFirst, unless v.retried is set.
func (v *visit) sitemap(ctx context.Context, address string) ([]listed, error) {
	home, err := url.Parse(address)
	if err != nil {
		return nil, &source.SyncError{Code: source.Unreadable, Detail: "The address of the sitemap is not a URL.", Cause: err}
	}
	list := newSiteList(home)
	sitemaps, err := v.index(ctx, list)
	var answered *fetch.StatusError
	if errors.As(err, &answered) && answered.RetryAfter != "" && isLimit(answered) {
		return nil, v.limited(home, answered)
	}
	if err != nil {
		return nil, err
	}
	v.stillLost = map[uint32]lostSitemap{}
	for _, u := range sitemaps {
		if l, known := v.lost[hashOf(u.String())]; known {
			v.stillLost[hashOf(u.String())] = l
		}
	}
	var failing time.Duration // time that sitemaps took that may be readable soon
	for _, u := range v.rotated(sitemaps) {
		if failing >= failFor {
			v.missed = append(v.missed, missedSitemap{startOf(u.String()), &source.SyncError{Code: source.Unreadable,
				Detail: "Others of the site had failed for a minute before."}})
			continue
		}
		begun := v.Now()
		err := v.file(ctx, u, func(index bool, e sitemapEntry) error {
			if index {
				return &source.SyncError{Code: source.Unreadable, Detail: "An index of sitemaps names another index."}
			}
			return list.add(e)
		})
		var failed *source.SyncError
		switch {
		case err == nil:
			delete(v.stillLost, hashOf(u.String()))
		case errors.As(err, &failed) && failed.Code == source.NotThere && v.isGone(u):
			v.gone = append(v.gone, missedSitemap{startOf(u.String()), failed})
		case errors.As(err, &failed) && !list.isTooLong() && ctx.Err() == nil:
			v.missed = append(v.missed, missedSitemap{startOf(u.String()), failed})
			if mayPass(failed) {
				failing += v.Now().Sub(begun)
				if v.endsFirst = !v.retried; v.endsFirst {
					return nil, failed
				}
			}
		default:
			return nil, err
		}
	}
	switch {
	case len(list.pages) > 0:
	case len(v.missed) > 0:
		return nil, v.missed[0].why
	default: // as after a failed build; what is stored stays
		return nil, list.empty()
	}
	slices.SortFunc(list.pages, func(a, b listed) int { return strings.Compare(a.url, b.url) })
	return list.pages, nil
}

// isGone notes that a sitemap of the index is missing, and reports whether it counts as gone.
func (v *visit) isGone(u *url.URL) bool {
	key := hashOf(u.String())
	if _, known := v.stillLost[key]; !known && len(v.stillLost) >= maxLost {
		return false
	}
	v.stillLost[key] = v.lost[key].again(v.Now())
	return v.stillLost[key].isGone()
}

// rotated returns the sitemaps of an index from another one on at each look, so that those behind many that never answer are read too.
func (v *visit) rotated(sitemaps []*url.URL) []*url.URL {
	if len(sitemaps) == 0 {
		return nil
	}
	first := hashOf(v.Now().String()) % uint32(len(sitemaps))
	return slices.Concat(sitemaps[first:], sitemaps[:first])
}

// index reads the sitemap of list. It adds the pages that it names to list, and returns the sitemaps that it names if it is an index.
func (v *visit) index(ctx context.Context, list *siteList) (sitemaps []*url.URL, err error) {
	err = v.file(ctx, list.home, func(index bool, e sitemapEntry) error {
		if !index {
			return list.add(e)
		}
		u, ok := list.below(e.location)
		switch {
		case ok && len(sitemaps)+len(v.missed) == maxSitemaps:
			return &source.SyncError{Code: source.TooLarge, Detail: "The index names more sitemaps than the limit for one site."}
		case ok && e.long:
			v.missed = append(v.missed, missedSitemap{startOf(u.String()), &source.SyncError{Code: source.TooLarge,
				Detail: fmt.Sprintf("Its URL has more than %d bytes.", fetch.MaxURL)}})
		case ok:
			sitemaps = append(sitemaps, u)
		}
		return nil
	})
	return sitemaps, err
}

// missedSitemap is a sitemap of an index that could not be read. Which pages it names is not known, so none may be taken for removed.
type missedSitemap struct {
	url string // the start of it if it is long
	why *source.SyncError
}

// missedNotice returns the warning about the sitemaps that could not be read, or nil.
func (v *visit) missedNotice() *source.SyncError {
	if len(v.missed) == 0 {
		return nil
	}
	first, which := v.missed[0], "The sitemap %s, which the index names, was passed over"
	if n := len(v.missed); n > 1 {
		which = fmt.Sprintf("%d sitemaps that the index names, the first of them", n) + " %s, were passed over"
	}
	return &source.SyncError{Code: first.why.Code, Cause: first.why,
		Detail: fmt.Sprintf(which, first.url) + ", so no page is taken for removed. " + first.why.Detail}
}

// goneNotice returns the warning about the sitemaps that count as gone, or nil.
func (v *visit) goneNotice() *source.SyncError {
	if len(v.gone) == 0 {
		return nil
	}
	return &source.SyncError{Code: source.NotThere, Cause: v.gone[0].why, Detail: fmt.Sprintf(
		"The sitemap %s, which the index names, has been missing for two weeks. Pages that no other sitemap names are removed.", v.gone[0].url)}
}

// mayPass reports whether a sitemap that could not be read may be readable soon.
func mayPass(err error) bool {
	var answered *fetch.StatusError
	var unreached *fetch.Error
	switch {
	case errors.As(err, &answered):
		return temporary(answered.Status)
	case errors.As(err, &unreached):
		return unreached.Code == fetch.TimedOut || unreached.Code == fetch.Failed && !errors.Is(err, fetch.ErrTooLarge)
	default:
		return false
	}
}
