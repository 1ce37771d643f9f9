// Package hooks posts to webhook endpoints. Only docent serve and the function delivering link it.
package hooks

import (
	"context"
	"errors"
	"net/netip"

	"docent/shared/app"
	"docent/shared/fetch"
	"docent/shared/webhook"
)

// reached is an address prefix that Public reaches in addition to public addresses: the one of a
// test's receiver. Only the linker sets it (-X), in a binary that a test builds.
var reached string

// Public returns the function that posts to endpoints. It reaches public addresses only.
func Public() app.Post {
	if reached != "" {
		own := netip.MustParsePrefix(reached)
		return With(fetch.NewReaching(nil, func(to netip.AddrPort) bool { return fetch.Public(to) || own.Contains(to.Addr()) }))
	}
	return With(fetch.New(nil))
}

// Local reports whether Public reaches the loopback interface.
func Local() bool { return reached != "" }

// With returns the function that posts to what f reaches.
func With(f *fetch.Fetcher) app.Post {
	return func(ctx context.Context, r webhook.Request) webhook.Reply {
		posted, err := f.Post(ctx, r.URL, r.Header, r.Body)
		if err == nil {
			return webhook.Reply{Status: posted.Status, RetryAfter: posted.RetryAfter}
		}
		var failed *fetch.Error
		errors.As(err, &failed)
		switch {
		case failed != nil && (failed.Code == fetch.Blocked || failed.Code == fetch.Unsupported):
			return webhook.Reply{Error: webhook.BlockedAddress}
		case failed != nil && failed.Code == fetch.TimedOut:
			return webhook.Reply{Error: webhook.TimedOut}
		default:
			return webhook.Reply{Error: webhook.ConnectionFailed}
		}
	}
}
