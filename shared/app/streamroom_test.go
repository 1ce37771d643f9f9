package app

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"docent/shared/httpapi"
)

// TestAStreamThatIsRefusedAsksNothing: a team that has as many open streams as it may gets a 503, and neither a question of
// its day is used up nor one is stored.
func TestAStreamThatIsRefusedAsksNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(_ *home, b *base, _ *Parts) {
		b.wait = func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
	})
	surface := h.services.surface("https://docent.test/v1", 0, nil)
	surface.Answering = nil // nobody answers
	h.handler = root(httpapi.New(surface, httpapi.Areas()...))
	const question = "How tall is the zebra?"
	h.must(204, "PUT", streamedID, map[string]string{"question": question})
	ctx, leave := context.WithCancel(t.Context())
	var streams sync.WaitGroup
	defer streams.Wait()
	defer leave()
	open := func() (opened bool) {
		begun := make(chan bool, 2)
		streams.Go(func() {
			r := httptest.NewRequestWithContext(ctx, "GET", "/v1"+streamedID, nil)
			r.Header.Set("Authorization", "Bearer "+h.key)
			r.Header.Set("Accept", "text/event-stream")
			opened := sync.OnceFunc(func() { begun <- true })
			w := &watchedWriter{httptest.NewRecorder(), func(text string) {
				if strings.Contains(text, "answer.created") {
					opened()
				}
			}}
			h.handler.ServeHTTP(w, r)
			begun <- false
		})
		return <-begun
	}
	count := 0
	for open() {
		if count++; count > 5000 {
			t.Fatal("any number of streams may be open")
		}
	}
	left := func() string {
		return h.must(204, "PUT", streamedID, map[string]string{"question": question}).header.Get("RateLimit")
	}
	before, stored := left(), h.list("/answers")
	for name, c := range map[string]struct {
		method, path string
		body         any
	}{
		"answer":   {"PUT", "/answers/" + questionID, map[string]string{"question": question}},
		"chat":     {"POST", "/chat/completions", chatRequest(true, question)},
		"response": {"POST", "/responses", asked(question, "stream", true)},
	} {
		reply := h.must(503, c.method, c.path, c.body, "Accept", "text/event-stream")
		if reply.text(t, "code") != "unavailable" || reply.header.Get("Retry-After") == "" {
			t.Errorf("%s: %v %s", name, reply.header, reply.body)
		}
	}
	answersLeft := func(header string) string {
		_, rest, _ := strings.Cut(header, `"answers-day";r=`)
		number, _, _ := strings.Cut(rest, ";")
		return number
	}
	if after := left(); answersLeft(after) != answersLeft(before) || answersLeft(before) == "" || h.list("/answers") != stored {
		body, _ := json.Marshal([]string{before, after})
		t.Errorf("after %d open streams: %s, and %d questions instead of %d", count, body, h.list("/answers"), stored)
	}
}
