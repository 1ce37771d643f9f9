package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"docent/client"
)

// The endpoints of a hookReceiver, by their paths: one is always well, the other fails for a while.
const steady, failing = "/steady", "/failing"

// hookReceiver receives webhooks at two endpoints, and kills the server that sends them.
type hookReceiver struct {
	*httptest.Server
	killed chan struct{} // receives after each kill
	came   chan struct{} // receives after a post was taken, if there is room

	mu      sync.Mutex
	secrets map[string]string          // by path
	taken   map[string]map[string]bool // by path: type and id of all that was answered 204
	refused map[string]bool            // webhook-ids
	outage  bool                       // a post to failing is refused, but no delivery twice: the pause after the second attempt is 5 minutes
	server  *os.Process                // is killed; nil: nothing is
	gap     int                        // occurrences until then
	posts   int
	atPost  int // kills
	wrong   []string
}

func newHookReceiver(t *testing.T) *hookReceiver {
	r := &hookReceiver{killed: make(chan struct{}, 1), came: make(chan struct{}, 1), secrets: map[string]string{},
		taken: map[string]map[string]bool{steady: {}, failing: {}}, refused: map[string]bool{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// arm has the server killed within the next hookGap occurrences.
func (r *hookReceiver) arm(server *os.Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.server, r.gap = server, rand.IntN(hookGap)
}

// occurred counts a post, or something that a client did, and reports whether it killed the server. r.mu is held.
func (r *hookReceiver) occurred() bool {
	if r.gap--; r.server == nil || r.gap > 0 {
		return false
	}
	if err := r.server.Kill(); err != nil {
		r.wrong = append(r.wrong, err.Error())
	}
	r.server = nil
	r.killed <- struct{}{}
	return true
}

func (r *hookReceiver) tell() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.occurred()
}

func (r *hookReceiver) fail(outage bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outage = outage
}

func (r *hookReceiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return // the server was killed while it sent
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.posts++
	path, id := q.URL.Path, q.Header.Get("Webhook-Id")
	var event struct {
		Type string
		Data struct{ IDs []struct{ ID string } }
	}
	err = client.VerifyWebhook(body, q.Header, r.secrets[path], time.Now())
	if err != nil || json.Unmarshal(body, &event) != nil || len(event.Data.IDs) == 0 {
		r.wrong = append(r.wrong, fmt.Sprintf("%v: %s: %s %v", err, path, body, q.Header))
	}
	switch {
	case r.occurred():
		r.atPost++
		panic(http.ErrAbortHandler) // it gets no reply, and has to send this again
	case r.outage && path == failing && !r.refused[id]:
		r.refused[id] = true
		if len(r.refused)%2 == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	for _, about := range event.Data.IDs {
		r.taken[path][event.Type+" "+about.ID] = true
	}
	w.WriteHeader(http.StatusNoContent)
	select {
	case r.came <- struct{}{}:
	default:
	}
}

// missing returns those of the expected events that an endpoint has not taken. Each is a list of alternatives.
func (r *hookReceiver) missing(expected [][]string) (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, path := range []string{steady, failing} {
		for _, any := range expected {
			if !slices.ContainsFunc(any, func(event string) bool { return r.taken[path][event] }) {
				out = append(out, path+" "+any[0])
			}
		}
	}
	return out
}
