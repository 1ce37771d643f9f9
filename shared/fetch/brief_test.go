package fetch_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"docent/shared/fetch"
)

// Without Brief the connection would stay for 90 seconds.
func TestABriefClientKeepsNoConnection(t *testing.T) {
	t.Parallel()
	for name, http2 := range map[string]bool{"HTTP/1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			closed := make(chan struct{}, 1)
			server := httptest.NewUnstartedServer(http.NotFoundHandler())
			server.EnableHTTP2 = http2
			server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateClosed {
					closed <- struct{}{}
				}
			}
			server.StartTLS()
			defer server.Close()
			f := fetch.NewReaching(nil, func(netip.AddrPort) bool { return true }, server.Certificate()).Brief()
			reply, err := f.Client(0).Get(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, reply.Body) // to its end, or the connection would not be kept
			reply.Body.Close()
			if reply.ProtoMajor == 2 != http2 {
				t.Errorf("the reply is of %s", reply.Proto)
			}
			select {
			case <-closed:
			case <-time.After(20 * time.Second):
				t.Error("the connection is still open")
			}
		})
	}
}
