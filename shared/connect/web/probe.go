package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"docent/shared/apierr"
	"docent/shared/fetch"
	"docent/shared/pause"
	"docent/shared/source"
)

// Bounds of a probe.
const (
	probedPages   = 5
	probedSitemap = source.MaxProbed // bytes, compressed or not
)

// Probe asks for the sitemap, or for the first pages of the list.
func (opener) Probe(ctx context.Context, f *fetch.Fetcher, a source.Access) error {
	v := &visit{Connector: &Connector{Fetch: f, Now: time.Now, Pause: pause.For}, sites: map[string]*site{}, maxSitemap: probedSitemap}
	if address := a.Settings.Text(sitemap); address != "" {
		return v.probeSitemap(ctx, address)
	}
	for i, address := range a.Settings.List(urls) {
		err := v.probePage(ctx, fmt.Sprintf("%s/%d", urls, i), wellFormed(address))
		if i > 0 && ctx.Err() != nil {
			return nil // the first sync finds what is wrong with the rest
		}
		if err != nil || i == probedPages-1 {
			return err
		}
	}
	return nil
}

func (v *visit) probeSitemap(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	list, isIndex := newSiteList(u), false
	err = v.file(ctx, u, func(index bool, e sitemapEntry) error {
		if index {
			isIndex = true
			return nil
		}
		return list.add(e)
	})
	if err == nil && !isIndex && len(list.pages) == 0 {
		err = list.empty()
	}
	var answered *fetch.StatusError
	var unreached *fetch.Error
	switch {
	case errors.Is(err, fetch.ErrTooLarge):
		return nil // the sync reads more
	case errors.As(err, &answered) && temporary(answered.Status), errors.As(err, &unreached) && unreached.Code != fetch.Blocked:
		return err
	default:
		return source.BadSetting(err, map[string]string{source.NotThere: sitemap, source.Unreadable: sitemap, source.Blocked: sitemap,
			source.Disallowed: sitemap, source.TooLarge: sitemap})
	}
}

func (v *visit) probePage(ctx context.Context, setting, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	s, err := v.site(ctx, u)
	switch {
	case err != nil:
		return err
	case s.failed != nil:
		return source.BadSetting(unreadable("page", s.failed), map[string]string{source.Blocked: setting})
	case !s.allows(u):
		return apierr.BadField("/settings/"+setting, "is not allowed by the robots.txt of its site")
	}
	if err := s.wait(ctx, v.Pause); err != nil {
		return err
	}
	raw, err := v.Fetch.Raw(ctx, address, fetch.MaxBytes)
	switch {
	case errors.Is(err, fetch.ErrTooLarge):
		return apierr.BadField("/settings/"+setting, "is larger than 2 MB")
	case err != nil:
		return source.BadSetting(unreadable("page", err), map[string]string{source.Blocked: setting})
	case temporary(raw.Status):
		return &source.SyncError{Code: source.Unreadable, Detail: fmt.Sprintf("A page returned status %d.", raw.Status)}
	case raw.Status != http.StatusOK:
		return apierr.BadField("/settings/"+setting, "cannot be read: the page returned status %d", raw.Status)
	}
	return nil
}

// temporary reports whether a status says that a later request may succeed.
func temporary(status int) bool {
	return status >= http.StatusInternalServerError || status == http.StatusTooManyRequests
}
