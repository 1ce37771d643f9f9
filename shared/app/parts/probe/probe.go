// Package probe checks the settings of new data sources at their providers. It links no
// connector, so that the function admin stays small.
package probe

import (
	"context"

	"docent/shared/app"
	"docent/shared/app/parts/reach"
	"docent/shared/connect"
	"docent/shared/fetch"
	"docent/shared/source"
)

// Public returns the check, which reaches public addresses only.
func Public() app.Probe { return With(reach.Public(nil)) }

// With returns the check that reaches what f reaches. Providers without one pass it.
func With(f *fetch.Fetcher) app.Probe {
	f = f.Brief().AtMost(source.MaxProbed)
	probers := map[source.ProviderName]connect.Prober{}
	for _, p := range app.Providers() {
		if prober, ok := p.Opener.(connect.Prober); ok {
			probers[p.Name] = prober
		}
	}
	return func(ctx context.Context, provider source.ProviderName, a source.Access) error {
		if probers[provider] == nil {
			return nil
		}
		return probers[provider].Probe(ctx, f, a)
	}
}
