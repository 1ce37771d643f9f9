package slack

import (
	"context"

	"docent/shared/fetch"
	"docent/shared/source"
)

// ProbeAt is Probe of a server.
func ProbeAt(ctx context.Context, base string, f *fetch.Fetcher, a source.Access) error {
	return opener{base: base}.Probe(ctx, f, a)
}
