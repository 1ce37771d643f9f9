package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
)

const (
	hookClients  = 4
	hookOps      = 400
	hookKills    = 30
	hookGap      = 60          // the most requests and posts between a start and the next kill
	hookPatience = time.Minute // after the last start
)

// happening is what clients did, and what the receiver has to hear of it.
type happening struct {
	*crash
	receiver *hookReceiver
	acts     atomic.Int64

	mu       sync.Mutex
	expected [][]string // events, each with its alternatives, as the receiver names them
}

// TestServeDeliversEveryEventWhenKilled kills docent serve at random moments: when a client has sent or got something, or
// when a receiver of webhooks has a post and has not answered. One of two receivers fails for a while. Every event arrives
// at both, at least once and signed. The server is the program, linked so that it posts to this machine.
func TestServeDeliversEveryEventWhenKilled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute; run without -short")
	}
	r := newHookReceiver(t)
	h := &happening{crash: newCrash(t, "-X docent/shared/app/parts/hooks.reached=127.0.0.1/32"), receiver: r}
	h.start()
	endpoints := map[string]string{}
	for path := range r.taken {
		var made struct{ ID, Secret string }
		h.asAdmin(201, "POST", "/webhook-endpoints", map[string]any{"url": r.URL + path, "eventTypes": []string{"document.created",
			"document.indexed", "document.deleted", "answer.asked", "answer.completed", "answer.failed"}}, &made)
		endpoints[path], r.secrets[path] = made.ID, made.Secret
	}
	r.arm(h.server.Process)
	finished := make(chan struct{})
	go func() { h.clients(); close(finished) }()
	kills, late := 0, time.NewTimer(time.Hour)
	defer late.Stop()
	for settled := false; !settled || kills < hookKills || len(h.missing()) > 0; {
		select {
		case <-r.killed:
			_ = h.ended() // the kill is no failure
			h.start()
			if kills++; kills < hookKills {
				r.arm(h.server.Process)
			}
			late.Reset(hookPatience)
		case <-finished:
			settled, finished = true, nil
			late.Reset(hookPatience)
		case <-r.came:
		case <-late.C:
			t.Fatalf("not delivered %s after %d kills: %q", hookPatience, kills, h.missing())
		}
	}
	h.checkFeed()
	for path, id := range endpoints {
		h.checkDeliveries(path, id)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.atPost == 0 || len(r.refused) == 0 || len(r.wrong) > 0 {
		t.Errorf("%d kills at a post; %d deliveries were refused; not verified: %q", r.atPost, len(r.refused), r.wrong)
	}
	t.Logf("%d kills, %d of them at a post; %d events at two endpoints in %d posts, %d refused", kills, r.atPost, len(h.expected), r.posts, len(r.refused))
}

// clients do things until each is acknowledged. During a part of it, a receiver fails.
func (h *happening) clients() {
	var all sync.WaitGroup
	for n := range hookClients {
		all.Go(func() {
			for op := range hookOps / hookClients {
				switch act := h.acts.Add(1); act {
				case hookOps / 4:
					h.receiver.fail(true)
				case hookOps * 3 / 4:
					h.receiver.fail(false)
				}
				h.act(n, op)
			}
		})
	}
	all.Wait()
}

// act puts a document, puts and deletes one, or asks.
func (h *happening) act(n, op int) {
	name := fmt.Sprintf("%d/%d", n, op)
	page, id := h.page(name, "The token of this page is tok"+name), h.id(pageURI(name))
	switch op % 4 {
	case 0:
		id = uuid.NewString()
		h.acknowledged(204, "PUT", "/answers/"+id, map[string]string{"question": "What is tok" + name + "?"})
		h.expect([]string{"answer.asked " + id}, []string{"answer.completed " + id, "answer.failed " + id})
	case 1:
		h.acknowledged(200, "PUT", "/documents", page)
		h.acknowledged(204, "DELETE", "/documents/"+id, nil)
		h.expect([]string{"document.created " + id}, []string{"document.deleted " + id})
	default:
		h.acknowledged(200, "PUT", "/documents", page)
		h.expect([]string{"document.created " + id}, []string{"document.indexed " + id})
	}
}

// acknowledged repeats a request until it is acknowledged. The server may be killed at its beginning and its end.
func (h *happening) acknowledged(status int, method, path string, body any) {
	h.receiver.tell()
	h.until(status, method, path, body)
	h.receiver.tell()
}

func (h *happening) expect(events ...[]string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.expected = append(h.expected, events...)
}

func (h *happening) missing() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.receiver.missing(h.expected)
}

// asAdmin sends a request with the key of the admin and reads the reply.
func (h *happening) asAdmin(status int, method, path string, body, into any) {
	h.t.Helper()
	got, reply, err := h.sendAs(h.t.Context(), h.admin, method, path, body)
	if err == nil && got == status {
		err = json.Unmarshal(reply, into)
	}
	if err != nil || got != status {
		h.t.Fatalf("%s %s: %d %.300s, %v", method, path, got, reply, err)
	}
}

// checkFeed waits for the security events in the feed, which follow a kill by some seconds, and checks that the receiver
// heard of each.
func (h *happening) checkFeed() {
	h.t.Helper()
	wanted := 0
	for _, e := range h.expected {
		if !strings.Contains(e[0], "completed") && !strings.Contains(e[0], "indexed") {
			wanted++
		}
	}
	ctx, cancel := context.WithTimeout(h.t.Context(), hookPatience)
	defer cancel()
	var events [][]string
	for after := ""; len(events) < wanted && ctx.Err() == nil; {
		var page struct {
			Events     []struct{ ID, EventType string }
			NextCursor string
			HasMore    bool
		}
		h.asAdmin(200, "GET", "/security-events?limit=200&eventType=document.created&eventType=document.deleted&eventType=answer.asked&after="+after, nil, &page)
		for _, e := range page.Events {
			events = append(events, []string{e.EventType + " " + e.ID})
		}
		if after = page.NextCursor; !page.HasMore {
			pause(ctx)
		}
	}
	if missing := h.receiver.missing(events); len(missing) > 0 || len(events) != wanted {
		h.t.Errorf("%d events in the feed, want %d; not delivered: %q", len(events), wanted, missing)
	}
}

// checkDeliveries checks that the server knows of the newest deliveries that they were made, and has not disabled the
// endpoint.
func (h *happening) checkDeliveries(path, id string) {
	h.t.Helper()
	var shown struct{ DisabledReason string }
	h.asAdmin(200, "GET", "/webhook-endpoints/"+id, nil, &shown)
	counts := map[string]int{"waiting": 1}
	for counts["waiting"] > 0 && h.t.Context().Err() == nil { // the last reply may not be recorded yet
		var page []struct{ Status string }
		h.asAdmin(200, "GET", "/webhook-endpoints/"+id+"/deliveries?limit=200", nil, &page)
		clear(counts)
		for _, d := range page {
			counts[d.Status]++
		}
	}
	if shown.DisabledReason != "" || counts["delivered"] != 200 {
		h.t.Errorf("%s: disabled %q, deliveries %v", path, shown.DisabledReason, counts)
	}
}
