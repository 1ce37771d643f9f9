package saml

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"docent/shared/apierr"
	"docent/shared/fetch"
	"docent/shared/scim/scimtest"
	"docent/shared/team"
)

// host serves pages over TLS by path.
func host(t *testing.T, pages map[string]http.HandlerFunc) *httptest.Server {
	t.Helper()
	m := http.NewServeMux()
	for path, page := range pages {
		m.HandleFunc(path, page)
	}
	server := httptest.NewTLSServer(m)
	t.Cleanup(server.Close)
	return server
}

func sends(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) } // the client may be gone
}

func TestFetch(t *testing.T) {
	t.Parallel()
	server := host(t, map[string]http.HandlerFunc{"/metadata": sends(scimtest.Metadata), "/moved": func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/metadata?app=1", http.StatusFound)
	}})
	get := fetcher(fetch.NewReaching(nil, func(netip.AddrPort) bool { return true }, server.Certificate()))
	for _, path := range []string{"/metadata", "/metadata?app=1", "/moved"} {
		m, text, err := get(t.Context(), server.URL+path)
		if err != nil || string(text) != scimtest.Metadata || m.EntityID != "https://idp.test/" || m.MetadataURL != server.URL+path {
			t.Errorf("%s: %+v, %v", path, m, err)
		}
	}
}

func TestWhatIsNotFetched(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(sends(scimtest.Metadata))
	defer plain.Close()
	other := httptest.NewTLSServer(nil)
	defer other.Close()
	server := host(t, map[string]http.HandlerFunc{
		"/page":   sends("<!DOCTYPE html><html></html>"),
		"/empty":  sends(""),
		"/large":  sends(scimtest.Metadata + strings.Repeat(" ", team.MaxSAMLBytes)),
		"/broken": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"/plain":  func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, plain.URL, http.StatusFound) },
		"/round":  func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/round", http.StatusFound) },
	})
	trusting := func(allowed func(netip.AddrPort) bool) func(context.Context, string) (team.SAMLProvider, []byte, error) {
		return fetcher(fetch.NewReaching(nil, allowed, server.Certificate()))
	}
	anywhere := trusting(func(netip.AddrPort) bool { return true })
	for name, c := range map[string]struct {
		address string
		detail  string
	}{
		"without TLS":               {plain.URL, "https address"},
		"no address":                {"metadata.xml", "https address"},
		"no host":                   {"https:///metadata", "https address"},
		"with a password":           {"https://ada:secret@idp.test/", "https address"},
		"too long":                  {"https://idp.test/" + strings.Repeat("x", maxURL), "https address"},
		"a page":                    {server.URL + "/page", "cannot be used: The metadata must not have a document type"},
		"nothing there":             {server.URL + "/empty", "cannot be used"},
		"an unknown page":           {server.URL + "/none", "status 404"},
		"a broken connection":       {server.URL + "/broken", "could not be reached"},
		"a redirect to plain http":  {server.URL + "/plain", "redirects to an address without TLS"},
		"redirects without end":     {server.URL + "/round", "could not be reached"},
		"another one's certificate": {strings.Replace(server.URL, "127.0.0.1", "localhost", 1), "certificate is not trusted"},
	} {
		_, _, err := anywhere(t.Context(), c.address)
		var e *apierr.Error
		if !errors.As(err, &e) || e.Kind != apierr.Invalid || len(e.Fields) != 1 || e.Fields[0].Pointer != "/url" || !strings.Contains(e.Detail, c.detail) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := anywhere(t.Context(), server.URL+"/large"); !apierr.IsCode(err, apierr.CodeTooLarge) {
		t.Errorf("more than a megabyte: %v", err)
	}
	for name, get := range map[string]func(context.Context, string) (team.SAMLProvider, []byte, error){
		"a private address": trusting(fetch.Public), "the fetcher of programs": Fetcher(),
	} {
		var e *apierr.Error
		if _, _, err := get(t.Context(), server.URL+"/metadata"); !errors.As(err, &e) || !strings.Contains(e.Detail, "not public") {
			t.Errorf("%s: %v", name, err)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := anywhere(gone, server.URL+"/metadata"); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that is gone: %v", err)
	}
}
