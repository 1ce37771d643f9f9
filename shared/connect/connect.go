// Package connect declares the interface that opens a provider's connector.
package connect

import (
	"time"

	"docent/shared/fetch"
	"docent/shared/source"
)

// Opener opens the connector of a provider; it is the type of Provider.Opener. The
// connector reaches only what f reaches.
type Opener interface {
	Open(f *fetch.Fetcher, now func() time.Time) source.Connector
}
