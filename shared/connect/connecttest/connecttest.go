// Package connecttest has what the tests of connectors share.
package connecttest

import (
	"context"
	"errors"
	"net"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"docent/shared/apierr"
	"docent/shared/fetch"
	"docent/shared/fetch/page"
	"docent/shared/source"
)

// Fetcher returns a Fetcher that reaches s and others only.
func Fetcher(s *httptest.Server, others ...*httptest.Server) *fetch.Fetcher {
	reached := map[netip.AddrPort]bool{}
	for _, one := range append(others, s) {
		own, _ := one.Listener.Addr().(*net.TCPAddr)
		reached[own.AddrPort()] = true
	}
	allowed := func(to netip.AddrPort) bool { return reached[to] }
	if s.Certificate() == nil { // it speaks plain HTTP
		return fetch.NewReaching(page.Read, allowed)
	}
	return fetch.NewReaching(page.Read, allowed, s.Certificate())
}

// Probe asks a provider whether a source can be read, and checks the answer as Check does.
func Probe(t *testing.T, p source.Provider, f *fetch.Fetcher, a source.Access, pointer, says string) {
	t.Helper()
	prober, ok := p.Opener.(interface { // connect.Prober, which nothing below connectors imports
		Probe(ctx context.Context, f *fetch.Fetcher, a source.Access) error
	})
	if !ok {
		t.Fatalf("%s has no probe", p.Name)
	}
	Check(t, prober.Probe(t.Context(), f, a), pointer, says)
}

// Check compares the error of a Probe with the text that it must contain; says is "" if there must be none. A pointer names
// the setting that it must be about. Without one it is a *source.SyncError, which says nothing about the settings.
func Check(t *testing.T, err error, pointer, says string) {
	t.Helper()
	var wrong *apierr.Error
	var failed *source.SyncError
	switch {
	case says == "" && err == nil:
	case says == "" || err == nil || !strings.Contains(err.Error(), says):
		t.Errorf("%v, want %q", err, says)
	case pointer == "" && !errors.As(err, &failed):
		t.Errorf("%v is not a SyncError", err)
	case pointer != "" && (!errors.As(err, &wrong) || wrong.Fields[0].Pointer != pointer):
		t.Errorf("%v is not about %s", err, pointer)
	}
}
