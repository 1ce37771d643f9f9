package app

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"docent/shared/source"
)

// storedConnector is a provider that is the same in every release's tests. Every part has two
// pages of one item each. After the first page, the part's name decides what happens:
//   - "slow": the provider limits the rate for an hour
//   - "crash": another sync is requested, and then the process stops
//
// Both happen only without a saved checkpoint, so that a part continues from the checkpoint of
// the fixture.
type storedConnector struct{ now func() time.Time }

// storedAsk requests another sync of the source that is being read.
type storedAsk struct{}

var errStoredCrash = errors.New("the process stops here")

// storedConnections are the connectors of an installation of the tests.
func storedConnections(now func() time.Time) map[source.ProviderName]source.Connection {
	c := source.Connection{Connector: storedConnector{now}, SyncEvery: 15 * time.Minute, FullScanEvery: 24 * time.Hour}
	return map[source.ProviderName]source.Connection{"github": c, "web": c}
}

func (storedConnector) Parts(s source.Settings) []string {
	return append(s.List("repositories"), s.List("urls")...)
}

func (c storedConnector) Read(ctx context.Context, _ source.Access, part string, place []byte) iter.Seq2[source.SyncPage, error] {
	page := func(n int) source.SyncPage {
		return source.SyncPage{Last: n == 2, Checkpoint: fmt.Appendf(nil, "page %d", n), Items: []source.Item{{
			URI: fmt.Sprintf("https://provider.test/%s/%d", strings.TrimPrefix(part, "https://"), n), Title: fmt.Sprintf("%s %d", part, n),
			Body: fmt.Sprintf("Page %d of what was synced.", n), SourceType: "documentation"}}}
	}
	return func(yield func(source.SyncPage, error) bool) {
		if place == nil {
			if !yield(page(1), nil) {
				return
			}
			switch {
			case strings.Contains(part, "slow"):
				yield(source.SyncPage{}, &source.SyncError{Code: source.RateLimited, Detail: "The provider wants fewer requests.", RetryAt: c.now().Add(time.Hour)})
				return
			case strings.Contains(part, "crash"):
				if ask, ok := ctx.Value(storedAsk{}).(func()); ok {
					ask()
				}
				yield(source.SyncPage{}, errStoredCrash)
				return
			}
		}
		if string(place) == "page 2" { // nothing is new
			yield(source.SyncPage{Last: true, Checkpoint: place}, nil)
			return
		}
		yield(page(2), nil)
	}
}

func (storedConnector) PartContains(_ source.Settings, part, uri string) bool {
	return strings.HasPrefix(uri, "https://provider.test/"+strings.TrimPrefix(part, "https://")+"/")
}

func (storedConnector) IsDeleted(context.Context, source.Access, string, string) (bool, error) {
	return false, nil
}
