package clients

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"docent/shared/fetch"
	"docent/shared/oauth"
)

// serve serves descriptions over TLS.
func serve(t *testing.T) *httptest.Server {
	t.Helper()
	m := http.NewServeMux()
	as := func(media string, bytes int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", media)
			_, _ = w.Write([]byte("{" + strings.Repeat(" ", bytes-2) + "}")) // the client may be gone
		}
	}
	m.HandleFunc("/json", as("application/json; charset=utf-8", 2))
	m.HandleFunc("/client", as("application/client+json", 2))
	m.HandleFunc("/full", as("application/json", oauth.MaxDocument))
	m.HandleFunc("/large", as("application/json", 1<<20))
	m.HandleFunc("/page", as("text/html", 2))
	m.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/json", http.StatusFound) })
	m.HandleFunc("/broken", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	server := httptest.NewTLSServer(m)
	t.Cleanup(server.Close)
	return server
}

func anywhere(netip.AddrPort) bool { return true }

func TestADescriptionIsRead(t *testing.T) {
	t.Parallel()
	server := serve(t)
	read := reader(fetch.NewReaching(nil, anywhere, server.Certificate()))
	for path, bytes := range map[string]int{"/json": 2, "/client": 2, "/full": oauth.MaxDocument, "/large": oauth.MaxDocument + 1} {
		text, err := read(t.Context(), server.URL+path)
		if err != nil || len(text) != bytes {
			t.Errorf("%s: %d bytes, %v", path, len(text), err)
		}
	}
}

// Whoever is signed in names the server, and may name another one each time.
func TestNoConnectionToAPublisherIsKept(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{}, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}")) // read to its end, or no connection would be kept
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	server.StartTLS()
	defer server.Close()
	if _, err := reader(fetch.NewReaching(nil, anywhere, server.Certificate()))(t.Context(), server.URL+"/client"); err != nil {
		t.Error(err)
	}
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		t.Error("the connection is still open")
	}
}

func TestWhatIsNoDescription(t *testing.T) {
	t.Parallel()
	server := serve(t)
	trusting := fetch.NewReaching(nil, anywhere, server.Certificate())
	for name, c := range map[string]struct {
		from         *fetch.Fetcher
		path, reason string
	}{
		"a page":               {trusting, "/page", "does not say that it is JSON"},
		"nothing":              {trusting, "/none", "status 404"},
		"a redirect":           {trusting, "/moved", "status 302"},
		"a broken connection":  {trusting, "/broken", "could not be reached"},
		"an unknown authority": {fetch.NewReaching(nil, anywhere), "/json", "certificate is not trusted"},
		"a private address":    {fetch.NewReaching(nil, fetch.Public, server.Certificate()), "/json", "not public"},
	} {
		_, err := reader(c.from)(t.Context(), server.URL+c.path)
		var refused *oauth.Error
		if !errors.As(err, &refused) || refused.Code != oauth.InvalidClient || !strings.Contains(refused.Description, c.reason) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := reader(trusting)(ctx, server.URL+"/json"); !errors.Is(err, context.Canceled) {
		t.Errorf("a person who left: %v", err)
	}
}
