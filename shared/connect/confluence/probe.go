package confluence

import (
	"context"
	"net/url"
	"time"

	"docent/shared/connect"
	"docent/shared/connect/atlassian"
	"docent/shared/fetch"
	"docent/shared/source"
)

// Probe asks Confluence for each space and, because that is the same in most of them,
// whether the first one can be searched and its readers are known.
func (opener) Probe(ctx context.Context, f *fetch.Fetcher, a source.Access) error {
	c := &Connector{Client: atlassian.Client{HTTP: f.Client(0), Now: time.Now, Pause: connect.AtOnce}}
	return atlassian.Probe(ctx, a, spaces, func(space string, first bool) error {
		r := c.open(a, space+" "+pages)
		if _, err := r.spaceID(ctx); err != nil || !first {
			return err
		}
		return r.probeFirst(ctx)
	})
}

func (r *reading) probeFirst(ctx context.Context) error {
	if _, err := r.search(ctx, url.Values{"cql": {r.cql(checkpoint{Full: true})}, "limit": {"1"}}); err != nil {
		return err
	}
	if err := r.readSpaceReaders(ctx); err != nil || r.Notice == nil {
		return err
	}
	return r.Notice
}
