package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"docent/testkit/serving"
)

// server is docent serve with its own team.
type server struct {
	*serving.Server
	key        string // the team's
	collection string
	client     http.Client
}

// startServer serves new data in a folder below b's, with further flags of docent serve.
func startServer(ctx context.Context, b *bench, name string, flags ...string) (*server, error) {
	binary := filepath.Join(b.folder, "docent")
	if _, err := goOutput(ctx, "build", "-trimpath", "-o", binary, "./cmd/docent"); err != nil {
		return nil, err
	}
	data := filepath.Join(b.folder, name)
	team, err := serving.NewTeam(ctx, binary, "Bench", "--data", data)
	if err != nil {
		return nil, err
	}
	s := &server{client: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}, Timeout: time.Minute}}
	if s.key, err = serving.NewTeamKey(ctx, binary, data, team.ID, "bench"); err != nil {
		return nil, err
	}
	// The log grows with the load; writing it to a file costs what it costs in production.
	log, err := os.Create(data + ".log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	if s.Server, err = serving.Start(ctx, serving.Options{Program: binary, Data: data, Flags: append([]string{"--team-rate", "0"}, flags...), Log: log}); err != nil {
		return nil, err
	}
	if err := s.addCollection(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *server) addCollection(ctx context.Context) error {
	var made struct{ ID string }
	reply, err := s.do(ctx, http.MethodPost, "/collections", map[string]string{"name": "bench", "description": "bench"}, 201)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(reply, &made); err != nil {
		return fmt.Errorf("read the collection: %w", err)
	}
	s.collection = made.ID
	return nil
}

// memory returns the largest resident size of the process so far.
func (s *server) memory() string {
	var kilobytes int64
	if _, err := fmt.Sscan(field(fmt.Sprintf("/proc/%d/status", s.Command.Process.Pid), "VmHWM", ""), &kilobytes); err != nil {
		return "unknown"
	}
	return mebibytes(kilobytes << 10)
}

// do sends a request and returns the body of its reply, which must have the given status.
func (s *server) do(ctx context.Context, method, path string, body any, status int) ([]byte, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, s.Base+path, bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Prefer", "wait=20")
	reply, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err == nil && reply.StatusCode != status {
		err = fmt.Errorf("%s %s: %d %.300s", method, path, reply.StatusCode, text)
	}
	return text, err
}

// put stores a small document and returns its id.
func (s *server) put(ctx context.Context, name, body string) (string, error) {
	reply, err := s.do(ctx, http.MethodPut, "/documents", map[string]string{"collectionId": s.collection,
		"uri": "https://bench.test/" + name, "title": "Page " + name, "body": body}, 200)
	if err != nil {
		return "", err
	}
	var made struct{ ID string }
	if err := json.Unmarshal(reply, &made); err != nil {
		return "", fmt.Errorf("read the document's id: %w", err)
	}
	return made.ID, nil
}
