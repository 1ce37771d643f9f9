package moto

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// OneAtATime returns the endpoint of a proxy that forwards requests to endpoint one after another, except for those of SQS. The server spoils
// transactions and conditional writes that run at the same time. Each request is forwarded completely, even if its sender leaves; a
// transaction that is repeated has its first reply.
func OneAtATime(t testing.TB, endpoint string) string {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)} // of senders that have left
	var turn sync.Mutex
	var transactions Transactions
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the sender left before the request was complete
		}
		if !strings.HasPrefix(r.Header.Get("X-Amz-Target"), "AmazonSQS.") { // those may wait for messages
			turn.Lock()
			defer turn.Unlock()
		}
		Send(w, transactions.CarryOut(proxy, r, body))
	}))
	t.Cleanup(server.Close)
	return server.URL
}
