package hooks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/app/parts/hooks"
	"docent/shared/fetch"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/queue/local"
	"docent/shared/source"
	"docent/shared/table/bolt/bolttest"
	"docent/shared/webhook"
)

const team = "team-1"

// delivery is what a receiver got and a library verifies.
type delivery struct {
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// delivered makes a real delivery of a test event after a rotation, and returns it under each secret.
func delivered(t *testing.T) []delivery {
	t.Helper()
	got := make(chan delivery, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		d := delivery{Headers: map[string]string{}, Body: string(body)}
		for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
			d.Headers[name] = r.Header.Get(name)
		}
		got <- d
	}))
	t.Cleanup(server.Close)
	sealer, err := source.NewSealer(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	messages := local.New(local.Options{})
	service := &webhook.Service{Table: bolttest.OpenAt(t, time.Now), Outbox: &pending.Outbox{Queue: messages}, Now: time.Now, NewID: uuid.NewString,
		Seal: sealer.Seal, Open: sealer.Open, CheckURL: func(url string) error { return fetch.CheckPost(url, true) }, BaseURL: "https://docent.test/v1"}
	post := hooks.With(fetch.NewReaching(nil, func(to netip.AddrPort) bool { return to.Addr().IsLoopback() }))
	worker := &webhook.Worker{Service: service, Post: post, Log: slog.New(slog.DiscardHandler)}
	e, old, err := service.Create(t.Context(), team, webhook.Fields{URL: server.URL, EventTypes: []string{"document.indexed"}})
	if err != nil {
		t.Fatal(err)
	}
	_, secret, err := service.Rotate(t.Context(), team, e.ID, time.Hour)
	if err == nil {
		_, err = service.Test(t.Context(), team, e.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	batch, err := messages.Receive(t.Context(), queue.MaxBatch, 0)
	if err != nil || len(worker.Batch(t.Context(), batch)) > 0 {
		t.Fatalf("%d messages, %v", len(batch), err)
	}
	d := <-got
	both := []delivery{d, d}
	both[0].Secret, both[1].Secret = secret, old
	return both
}

// TestStandardWebhooksLibrariesVerifyDeliveries gives a delivery to the libraries of PyPI and npm, which
// share no code with Docent.
func TestStandardWebhooksLibrariesVerifyDeliveries(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(root, ".cache", "webhooks-npm")
	for name, command := range map[string][]string{
		"python":     {filepath.Join(root, ".cache", "webhooks", "bin", "python3"), filepath.Join(root, "testkit", "webhooks", "verify.py")},
		"javascript": {"node", filepath.Join(root, "testkit", "webhooks", "verify.js"), modules},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, missing := exec.LookPath(command[0])
			if _, err := os.Stat(filepath.Join(modules, "node_modules", "standardwebhooks")); missing == nil && name == "javascript" {
				missing = err
			}
			if missing != nil {
				if os.Getenv("CI") == "true" {
					t.Fatal("standardwebhooks is not installed: run make webhooks")
				}
				t.Skip("standardwebhooks is not installed: run make webhooks")
			}
			verify := func(d delivery) (string, error) {
				asked, err := json.Marshal(d)
				if err != nil {
					t.Fatal(err)
				}
				cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
				cmd.Stdin = bytes.NewReader(asked)
				out, err := cmd.Output()
				return strings.TrimSpace(string(out)), err
			}
			for _, d := range delivered(t) {
				if kind, err := verify(d); err != nil || kind != webhook.TestEvent {
					t.Errorf("%q, %v", kind, err)
				}
				d.Body += " "
				if kind, err := verify(d); err == nil {
					t.Errorf("a changed body is verified: %q", kind)
				}
			}
		})
	}
}

func TestRepliesAreClassified(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	reaching := hooks.With(fetch.NewReaching(nil, func(to netip.AddrPort) bool { return to.Addr().IsLoopback() }))
	ended, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		post func(context.Context, webhook.Request) webhook.Reply
		url  string
		want webhook.Reply
	}{
		"reply":   {t.Context(), reaching, server.URL, webhook.Reply{Status: 503, RetryAfter: "7"}},
		"private": {t.Context(), hooks.Public(), server.URL, webhook.Reply{Error: webhook.BlockedAddress}},
		"closed":  {t.Context(), reaching, gone.URL, webhook.Reply{Error: webhook.ConnectionFailed}},
		"late":    {ended, reaching, server.URL, webhook.Reply{Error: webhook.TimedOut}},
	} {
		if got := c.post(c.ctx, webhook.Request{URL: c.url}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
