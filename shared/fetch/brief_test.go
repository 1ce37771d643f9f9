package fetch_test

import (
	"errors"
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

func TestAReplyIsReadToItsBoundOnly(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(make([]byte, 1000)) // the client may be gone
	}))
	defer server.Close()
	f := fetch.NewReaching(nil, func(netip.AddrPort) bool { return true }, server.Certificate())
	for most, want := range map[int64]error{999: fetch.ErrTooLarge, 1000: nil} {
		reply, err := f.AtMost(most).Client(0).Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(reply.Body)
		reply.Body.Close()
		if int64(len(text)) != most || !errors.Is(err, want) {
			t.Errorf("at most %d: %d bytes, %v", most, len(text), err)
		}
	}
}
