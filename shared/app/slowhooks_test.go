package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/shared/webhook"
)

// TestTeamsWithSlowEndpointsDelayNoOther has a team whose endpoints all take their time, as many as it may have, with events
// that happen one after the other, so that each has a worker, and two more such teams, whose endpoints get a part of the workers that
// are left. Another team's event is delivered in the meantime.
func TestTeamsWithSlowEndpointsDelayNoOther(t *testing.T) {
	t.Parallel()
	release, held, quick := make(chan struct{}), make(chan struct{}, 100), make(chan struct{}, 100)
	post := func(ctx context.Context, r webhook.Request) webhook.Reply {
		if strings.Contains(r.URL, "quick") {
			quick <- struct{}{}
			return webhook.Reply{Status: 204}
		}
		held <- struct{}{}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return webhook.Reply{Status: 204}
	}
	l, err := OpenLocal(t.Context(), t.TempDir(), LocalOptions{Parts: Parts{Post: post}, NoSync: true, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	l.process.work(ctx, &workers, workOptions{turn: l.process.tidy}, l.log)
	defer func() {
		close(l.process.stopping)
		stop()
		workers.Wait()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	defer close(release)
	test := func(team, url string) {
		t.Helper()
		e, _, err := l.services.webhooks.Create(t.Context(), team, webhook.Fields{URL: url, EventTypes: []string{"answer.completed"}})
		if err == nil {
			_, err = l.services.webhooks.Test(t.Context(), team, e.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	after := func(c <-chan struct{}, what string) {
		t.Helper()
		select {
		case <-c:
		case <-time.After(10 * time.Second):
			t.Fatalf("no post to %s", what)
		}
	}
	for i := range webhook.MaxPerTeam {
		test("slow", fmt.Sprintf("https://slow%d.example.com/", i))
		after(held, fmt.Sprintf("slow endpoint %d", i+1))
	}
	for _, team := range []string{"slow-2", "slow-3"} {
		for i := range webhook.MaxPerTeam {
			test(team, fmt.Sprintf("https://slow%d.example.com/", i))
		}
	}
	for range 6 {
		after(held, "endpoints of other slow teams")
	}
	test("other", "https://quick.example.com/")
	after(quick, "another team's endpoint")
}
