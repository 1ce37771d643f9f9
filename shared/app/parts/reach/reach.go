// Package reach makes the Fetcher of the programs that call providers.
package reach

import (
	"crypto/x509"
	"encoding/base64"
	"net/netip"

	"docent/shared/fetch"
)

// reached is an address prefix that may be reached in addition to public addresses: the
// one of a test's stand-in for a provider. Only the linker sets it (-X), in a binary that
// a test builds.
var reached string

// trusted is the certificate of that stand-in in base64 of its DER form. It is set like
// reached.
var trusted string

// Public returns a Fetcher that reaches public addresses only. read may be nil if it
// fetches no pages.
func Public(read fetch.Reader) *fetch.Fetcher {
	if reached == "" {
		return fetch.New(read)
	}
	own := netip.MustParsePrefix(reached)
	return fetch.NewReaching(read, func(to netip.AddrPort) bool { return fetch.Public(to) || own.Contains(to.Addr()) }, certificates()...)
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
