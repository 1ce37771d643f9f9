// Package connect says what a connector's package provides beside its
// source.Provider.
package connect

import (
	"time"

	"docent/shared/fetch"
	"docent/shared/source"
)

// Opener opens the connector of a provider; it is Provider.Opener. The connector
// reaches what f reaches.
type Opener interface {
	Open(f *fetch.Fetcher, now func() time.Time) source.Connector
}
