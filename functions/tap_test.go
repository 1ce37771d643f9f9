package functions_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"

	"docent/testkit/moto"
)

// tap is between the functions and the server of AWS's protocols. It counts requests and can cut the connection at
// one of them. Nothing runs in parallel with a transaction: a transaction that the server rolls back would also
// roll back what ran in parallel.
type tap struct {
	URL string

	mu    sync.Mutex
	count int
	at    int    // the request to cut at; 0: none
	after bool   // cut after the server has done it, not before
	cut   func() // called at the cut
	dead  bool   // cut: nothing passes until it is armed again

	cutting      sync.WaitGroup // a cut in progress
	line         sync.RWMutex   // a transaction holds it alone
	transactions moto.Transactions
}

func newTap(t *testing.T, endpoint string) *tap {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	p := &tap{}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // it is part of the signature
		},
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // killed clients
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cutNow, cutLater, cut := p.next()
		if cutNow {
			cut()
			panic(http.ErrAbortHandler)
		}
		if cutLater {
			p.forward(forward, httptest.NewRecorder(), r)
			cut()
			panic(http.ErrAbortHandler)
		}
		p.forward(forward, w, r)
	}))
	t.Cleanup(server.Close)
	p.URL = server.URL
	return p
}

func (p *tap) forward(to http.Handler, w http.ResponseWriter, r *http.Request) {
	if moto.IsTransaction(r) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client left before the request was complete
		}
		p.line.Lock()
		defer p.line.Unlock()
		moto.Send(w, p.transactions.CarryOut(to, r, body))
		return
	}
	p.line.RLock()
	defer p.line.RUnlock()
	// The server completes requests whose client has left.
	to.ServeHTTP(w, r.WithContext(context.WithoutCancel(r.Context())))
}

// next counts a request and reports whether the connection is cut before or after it.
func (p *tap) next() (now, later bool, cut func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	switch {
	case p.dead:
		return true, false, func() {}
	case p.at != 0 && p.count == p.at:
		p.dead = true
		p.cutting.Add(1)
		kill := p.cut
		return !p.after, p.after, func() { kill(); p.cutting.Done() }
	}
	return false, false, nil
}

// arm counts from 0 and cuts at the n-th request, or never if n is 0.
func (p *tap) arm(n int, after bool, cut func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count, p.at, p.after, p.cut, p.dead = 0, n, after, cut, false
}

// disarm returns how many requests there were since arm, and whether the connection was cut. It waits for the cut,
// which may come after the reply if the reply does not wait for the request.
func (p *tap) disarm() (count int, wasCut bool) {
	p.cutting.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	count, wasCut = p.count, p.dead
	p.count, p.at, p.dead = 0, 0, false
	return count, wasCut
}
