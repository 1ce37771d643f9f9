package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/temoto/robotstxt"

	"docent/shared/fetch"
)

// maxRobots is what RFC 9309 section 2.5 has read of a robots.txt at least, in bytes.
const maxRobots = 500 << 10

// site is a host with the rules that it has for Docent.
type site struct {
	rules *robotstxt.RobotsData
	met   bool // a page of it was read
}

// site reads the robots.txt of a host, once a visit.
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
		// Who can not be asked has not allowed anything: RFC 9309 section 2.3.1.4.
		raw = fetch.Raw{Status: http.StatusServiceUnavailable}
	default:
		return nil, err
	}
	rules, err := robotstxt.FromStatusAndBytes(raw.Status, raw.Body)
	if err != nil { // a status that tells nothing, or a file that is none
		rules, err = robotstxt.FromStatusAndBytes(http.StatusServiceUnavailable, nil)
	}
	if err != nil {
		return nil, err
	}
	s := &site{rules: rules}
	v.sites[origin] = s
	return s, nil
}

// allows tells whether the site lets Docent read a page.
func (s *site) allows(u *url.URL) bool {
	target := u.EscapedPath()
	if target == "" {
		target = "/"
	}
	if u.RawQuery != "" {
		target += "?" + u.RawQuery
	}
	return s.rules.TestAgent(target, fetch.UserAgent)
}

// wait pauses between two pages of the site, as long as it asks for within bounds.
func (s *site) wait(ctx context.Context, pause func(context.Context, time.Duration) error) error {
	if !s.met {
		s.met = true
		return nil
	}
	return pause(ctx, min(max(s.rules.FindGroup(fetch.UserAgent).CrawlDelay, usualPause), longestWait))
}
