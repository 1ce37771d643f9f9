// Package connectors has the connectors of data sources. It stands apart from app
// because they are more than a megabyte of a binary: docent serve and the function
// that reads sources link it, the others do not.
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

// How often data sources are read. A webhook tells of most changes at once; what it
// does not, or what got lost, a sync finds.
const (
	githubEvery = 15 * time.Minute
	githubWhole = 24 * time.Hour
	webEvery    = 24 * time.Hour
	webWhole    = 7 * 24 * time.Hour
)

// reached is a prefix of addresses that Public's connectors reach besides public
// ones: those of a test's stand-in for a provider. It is set by the linker alone
// (-X), in a binary that a test builds for itself; nothing at run time changes it.
var reached string

// trusted is the certificate of such a stand-in, base64 of its DER form; it is set as
// reached is.
var trusted string

// Public returns the connectors, which reach public addresses only.
func Public(now func() time.Time) map[source.Provider]source.Connection {
	if reached != "" {
		own := netip.MustParsePrefix(reached)
		return With(fetch.NewReaching(func(to netip.AddrPort) bool { return fetch.Public(to) || own.Contains(to.Addr()) }, certificates()...))(now)
	}
	return With(fetch.New())(now)
}

// certificates returns trusted as what it holds; one that cannot be read is a fault of
// the test that has set it.
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
