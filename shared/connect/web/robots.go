package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"docent/shared/fetch"
)

// maxRobots is the least limit on the bytes of a robots.txt that RFC 9309 section 2.5
// allows.
const maxRobots = 500 << 10

// site is a host with its robots.txt.
type site struct {
	rules rules
	read  bool // a page of it was read
	// failed says why its robots.txt could not be read, so that nothing is allowed; nil: it could.
	failed *fetch.Error
}

// site returns the site of u. It reads its robots.txt once per visit.
func (v *visit) site(ctx context.Context, u *url.URL) (*site, error) {
	origin := u.Scheme + "://" + u.Host
	if s := v.sites[origin]; s != nil {
		return s, nil
	}
	raw, err := v.Fetch.Raw(ctx, origin+"/robots.txt", maxRobots)
	var failed *fetch.Error
	switch {
	case err == nil:
	case errors.As(err, &failed):
		// If robots.txt cannot be read, nothing is allowed: RFC 9309 section 2.3.1.4.
		raw = fetch.Raw{Status: http.StatusServiceUnavailable}
	default:
		return nil, err
	}
	own := noRules // unless there is a robots.txt, or none by the server's word
	switch {
	case raw.Status >= http.StatusBadRequest && !temporary(raw.Status):
		own = rules{}
	case raw.Status >= http.StatusOK && raw.Status < http.StatusMultipleChoices:
		own = parseRules(string(raw.Body))
	}
	if temporary(raw.Status) && failed == nil {
		failed = &fetch.Error{Code: fetch.Failed, Detail: "The robots.txt of the site returned status " + strconv.Itoa(raw.Status) + ".", Cause: &fetch.StatusError{Status: raw.Status}}
	}
	s := &site{rules: own, failed: failed}
	v.sites[origin] = s
	return s, nil
}

// allows reports whether the site allows Docent to read a page.
func (s *site) allows(u *url.URL) bool {
	target := u.EscapedPath()
	if target == "" {
		target = "/"
	}
	if u.RawQuery != "" {
		target += "?" + u.RawQuery
	}
	return s.rules.allow(target)
}

// forbids says why a page that the site does not allow is not read.
func (s *site) forbids() string {
	var answered *fetch.StatusError
	switch {
	case s.failed == nil:
		return "the site's robots.txt does not allow it"
	case errors.As(s.failed.Cause, &answered):
		return "its robots.txt could not be read: its status is " + strconv.Itoa(answered.Status)
	case s.failed.Code == fetch.TimedOut, s.failed.Code == fetch.Failed && !errors.Is(s.failed.Cause, fetch.ErrTooLarge):
		return "its robots.txt could not be read: the site could not be reached"
	}
	return "its robots.txt could not be read: " + strings.TrimSuffix(s.failed.Detail, ".")
}

// wait pauses before every page of the site but the first, for its crawl delay within
// bounds.
func (s *site) wait(ctx context.Context, pause func(context.Context, time.Duration) error) error {
	if !s.read {
		s.read = true
		return nil
	}
	return pause(ctx, min(max(s.rules.delay, usualPause), longestWait))
}
