package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"docent/shared/logtest"
	"docent/shared/team"
)

// servedOnAWS is a standing process on AWS.
type servedOnAWS struct {
	t    *testing.T
	base string
	key  string
	stop func() error
}

// serveOnAWS starts a process on the installation and returns once it listens.
func serveOnAWS(t *testing.T, m *motoHome, key string) *servedOnAWS {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	ended := make(chan error, 1)
	log := &logtest.Buffer{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the process logged:\n%s", log)
		}
	})
	go func() {
		err := ServeAWS(ctx, ServeConfig{Addr: "127.0.0.1:0", Out: writer, Log: slog.New(slog.NewTextHandler(log, nil)), Parts: Parts{Embedder: storedEmbedder()}}, m.Config, "moto")
		writer.CloseWithError(err)
		ended <- err
	}()
	var greeting [200]byte
	n, err := reader.Read(greeting[:])
	if err != nil {
		cancel()
		t.Fatalf("it does not start: %v", err)
	}
	s := &servedOnAWS{t: t, key: key, stop: func() error { cancel(); return <-ended }}
	t.Cleanup(cancel)
	if _, err := fmt.Sscanf(string(greeting[:n]), "Docent is ready at %s (data in moto).", &s.base); err != nil {
		t.Fatalf("%q: %v", greeting[:n], err)
	}
	return s
}

func (s *servedOnAWS) must(status int, method, path string, body any) []byte {
	s.t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.base+path, bytes.NewReader(encoded))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Prefer", "wait=20")
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer reply.Body.Close()
	content, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != status {
		s.t.Fatalf("%s %s: %d, want %d: %s %v", method, path, reply.StatusCode, status, content, err)
	}
	return content
}

// TestAProcessOnAWSIsTheWholeOfDocent puts a document and asks about it at one process, which ends; another one on
// the same installation knows both.
func TestAProcessOnAWSIsTheWholeOfDocent(t *testing.T) {
	t.Parallel()
	m := newMoto(t, time.Now)
	teams := TeamsOnAWS(m.Config, slog.New(slog.DiscardHandler))
	acme, _, err := teams.CreateTeam(t.Context(), "acme", "ada")
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := teams.CreateKey(t.Context(), acme.ID, team.NewKey{Kind: team.KindTeam, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	first := serveOnAWS(t, m, key)
	var wiki, page struct{ ID string }
	decodeStored(t, storedReply{body: first.must(201, "POST", "/collections", map[string]string{"name": "wiki", "description": "d"})}, &wiki)
	decodeStored(t, storedReply{body: first.must(200, "PUT", "/documents", map[string]string{"collectionId": wiki.ID, "uri": "https://wiki.test/heron", "title": "Herons",
		"body": "## Herons\n\nThe heron wades in shallow water at dawn."})}, &page)
	for state := ""; state != "indexed"; {
		var d struct{ Indexing struct{ State string } }
		decodeStored(t, storedReply{body: first.must(200, "GET", "/documents/"+page.ID, nil)}, &d)
		if state = d.Indexing.State; state == "failed" {
			t.Fatal("indexing failed")
		}
	}
	question := newID()
	first.must(204, "PUT", "/answers/"+question, map[string]string{"question": "Where does the heron wade?"})
	var a struct{ State string }
	answered := string(first.must(200, "GET", "/answers/"+question, nil))
	decodeStored(t, storedReply{body: []byte(answered)}, &a)
	if a.State != "complete" || !strings.Contains(answered, "shallow water") {
		t.Errorf("answered %s", answered)
	}
	if err := first.stop(); err != nil {
		t.Errorf("it did not end well: %v", err)
	}
	second := serveOnAWS(t, m, key)
	if again := string(second.must(200, "GET", "/answers/"+question, nil)); again != answered {
		t.Errorf("another process replies %s, want %s", again, answered)
	}
	if err := second.stop(); err != nil {
		t.Errorf("it did not end well: %v", err)
	}
	for name, q := range m.queues {
		if left, err := waiting(t.Context(), q); err != nil || len(left) > 0 {
			t.Errorf("left in the queue %s: %q, %v", name, left, err)
		}
	}
}

func TestAProcessOnAWSNeedsItsInstallation(t *testing.T) {
	t.Parallel()
	serve := ServeConfig{Addr: "127.0.0.1:0", Out: io.Discard, Log: slog.New(slog.DiscardHandler)}
	if err := ServeAWS(t.Context(), serve, Config{}, "nowhere"); err == nil || !strings.Contains(err.Error(), "DOCENT_REBUILDS_QUEUE_URL") {
		t.Errorf("without queues: %v", err)
	}
	m := newMoto(t, time.Now)
	m.TablePrefix = "missing-"
	if err := ServeAWS(t.Context(), serve, m.Config, "nowhere"); err == nil || !strings.Contains(err.Error(), "read the data of nowhere") {
		t.Errorf("without tables: %v", err)
	}
}
