// Package connect declares the interfaces that open a provider's connector and check
// new settings.
package connect

import (
	"context"
	"time"

	"docent/shared/fetch"
	"docent/shared/source"
)

// Opener opens the connector of a provider; it is the type of Provider.Opener. The
// connector reaches only what f reaches.
type Opener interface {
	Open(f *fetch.Fetcher, now func() time.Time) source.Connector
}

// Prober checks new settings at the provider, before the first sync. An Opener may also
// be a Prober. Programs that take requests link it, so it must need little more than
// fetch and a decoder of JSON, and nothing that only a sync needs.
type Prober interface {
	// Probe reports whether a source with these settings and secrets can be read, with a
	// few requests that read little. Its error is a field error if not, which names the
	// setting and says what to do, such as which scope the token lacks; see
	// source.BadSetting. It is a *source.SyncError if the provider cannot tell now. ctx
	// has a deadline of some seconds; what is then left unchecked is found by the sync.
	Probe(ctx context.Context, f *fetch.Fetcher, a source.Access) error
}

// AtOnce is how a Prober pauses before it tries again: not at all, because somebody waits for it.
func AtOnce(ctx context.Context, _ time.Duration) error { return ctx.Err() }
