// Package connectors has the connectors of data sources. They add more than a megabyte to a
// binary, so only docent serve and the function syncing link it.
package connectors

import (
	"time"

	"docent/shared/app"
	"docent/shared/app/parts/reach"
	"docent/shared/connect"
	"docent/shared/fetch"
	"docent/shared/fetch/page"
	"docent/shared/source"
)

// Public returns the connectors, which reach public addresses only.
func Public(now func() time.Time) map[source.ProviderName]source.Connection {
	return With(reach.Public(page.Read))(now)
}

// With returns the connectors that reach what f reaches.
func With(f *fetch.Fetcher) func(now func() time.Time) map[source.ProviderName]source.Connection {
	return func(now func() time.Time) map[source.ProviderName]source.Connection {
		all := map[source.ProviderName]source.Connection{}
		for _, p := range app.Providers() {
			if p.Opener != nil {
				opener := p.Opener.(connect.Opener) //nolint:forcetypeassert // a test asserts it for every provider
				all[p.Name] = source.Connection{Connector: opener.Open(f, now), SyncEvery: p.SyncEvery, FullScanEvery: p.FullScanEvery}
			}
		}
		return all
	}
}
