// Package connectors has the connectors of data sources. They are more than a megabyte of
// a binary, so only docent serve and the function syncing link it.
package connectors

import (
	"crypto/x509"
	"encoding/base64"
	"net/netip"
	"time"

	"docent/shared/connect/github"
	"docent/shared/connect/web"
	"docent/shared/fetch"
	"docent/shared/pause"
	"docent/shared/source"
)

// How often data sources are synced. Webhooks report most changes at once; a sync finds
// the others.
const (
	githubEvery = 15 * time.Minute
	githubWhole = 24 * time.Hour
	webEvery    = 24 * time.Hour
	webWhole    = 7 * 24 * time.Hour
)

// reached is a prefix of addresses that Public's connectors reach in addition to public
// ones: those of a test's stand-in for a provider. Only the linker sets it (-X), in a
// binary that a test builds.
var reached string

// trusted is the certificate of such a stand-in, base64 of its DER form, set like
// reached.
var trusted string

// Public returns the connectors, which reach public addresses only.
func Public(now func() time.Time) map[source.Provider]source.Connection {
	if reached != "" {
		own := netip.MustParsePrefix(reached)
		return With(fetch.NewReaching(func(to netip.AddrPort) bool { return fetch.Public(to) || own.Contains(to.Addr()) }, certificates()...))(now)
	}
	return With(fetch.New())(now)
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
func With(f *fetch.Fetcher) func(now func() time.Time) map[source.Provider]source.Connection {
	return func(now func() time.Time) map[source.Provider]source.Connection {
		return map[source.Provider]source.Connection{
			source.GitHub: {Connector: &github.Connector{HTTP: f.Client(0), Now: now, Pause: pause.For}, SyncEvery: githubEvery, FullScanEvery: githubWhole},
			source.Web:    {Connector: &web.Connector{Fetch: f, Now: now, Pause: pause.For}, SyncEvery: webEvery, FullScanEvery: webWhole},
		}
	}
}
