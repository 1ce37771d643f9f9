// Package connectors has the connectors of data sources. They add more than a megabyte to a
// binary, so only docent serve and the function syncing link it.
package connectors

import (
	"crypto/x509"
	"encoding/base64"
	"net/netip"
	"time"

	"docent/shared/app"
	"docent/shared/connect"
	"docent/shared/fetch"
	"docent/shared/fetch/page"
	"docent/shared/source"
)

// reached is an address prefix that Public's connectors may use in addition to public
// addresses: the one of a test's stand-in for a provider. Only the linker sets it (-X), in a
// binary that a test builds.
var reached string

// trusted is the certificate of that stand-in in base64 of its DER form. It is set like
// reached.
var trusted string

// Public returns the connectors, which reach public addresses only.
func Public(now func() time.Time) map[source.ProviderName]source.Connection {
	if reached != "" {
		own := netip.MustParsePrefix(reached)
		return With(fetch.NewReaching(page.Read, func(to netip.AddrPort) bool { return fetch.Public(to) || own.Contains(to.Addr()) }, certificates()...))(now)
	}
	return With(fetch.New(page.Read))(now)
}

// certificates decodes trusted. It panics if the test has set something else.
func certificates() []*x509.Certificate {
	der, err := base64.StdEncoding.DecodeString(trusted)
	if err != nil {
		panic(err)
	}
	all, err := x509.ParseCertificates(der)
	if err != nil {
		panic(err)
	}
	return all
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
