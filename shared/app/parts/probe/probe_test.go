package probe_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"docent/shared/app/parts/probe"
	"docent/shared/connect/connecttest"
	"docent/shared/source"
)

// A request that names a server must not leave a connection to it behind: each may name another one.
func TestAProbeKeepsNoConnection(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{}, 1)
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	server.StartTLS()
	defer server.Close()
	settings := source.NewSettings(map[string]any{"baseUrl": server.URL, "projects": []string{"group/project"}})
	check := probe.With(connecttest.Fetcher(server))
	if err := check(t.Context(), "gitlab", source.Access{Settings: settings, Secrets: map[string]string{"accessToken": "t"}}); err == nil {
		t.Error("a server without projects passes")
	}
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		t.Error("the connection is still open")
	}
}
