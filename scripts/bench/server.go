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
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// server is docent serve with a team of its own.
type server struct {
	cmd        *exec.Cmd
	url        string
	key        string // the team's
	collection string
	client     http.Client
}

// startServer serves new data in a folder below b's.
func startServer(ctx context.Context, b *bench, name string) (*server, error) {
	binary := filepath.Join(b.folder, "docent")
	if _, err := output(ctx, "go", "build", "-trimpath", "-o", binary, "./cmd/docent"); err != nil {
		return nil, err
	}
	data := filepath.Join(b.folder, name)
	var made struct{ Team struct{ ID string } }
	if err := printed(ctx, &made, binary, "team", "create", "--data", data, "--name", "Bench", "--admin", "ada", "--json"); err != nil {
		return nil, err
	}
	var key struct{ Secret string }
	if err := printed(ctx, &key, binary, "key", "create", "--data", data, "--team", made.Team.ID, "--kind", "team", "--name", "bench", "--json"); err != nil {
		return nil, err
	}
	s := &server{key: key.Secret, client: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}, Timeout: time.Minute}}
	s.cmd = exec.CommandContext(ctx, binary, "serve", "--data", data, "--addr", "127.0.0.1:0", "--no-demo")
	// Its log is as long as its load; what it writes to a file costs what it costs in production.
	log, err := os.Create(data + ".log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s.cmd.Stderr = log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if err := s.begin(ctx, out); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// begin reads where the server listens and makes a collection.
func (s *server) begin(ctx context.Context, out io.Reader) error {
	greeting := make([]byte, 4096)
	n, err := out.Read(greeting)
	if err != nil {
		return fmt.Errorf("docent serve does not start: %w", err)
	}
	for word := range strings.FieldsSeq(string(greeting[:n])) {
		if strings.HasPrefix(word, "http://") {
			s.url = word
		}
	}
	if s.url == "" {
		return fmt.Errorf("docent serve does not say where it is: %q", greeting[:n])
	}
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

// stop ends the server as an operator does.
func (s *server) stop() error {
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("docent serve: %w", err)
	}
	return nil
}

// memory is the largest resident size that the process has had.
func (s *server) memory() string {
	var kilobytes int64
	if _, err := fmt.Sscan(field(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid), "VmHWM", ""), &kilobytes); err != nil {
		return "unknown"
	}
	return mebibytes(kilobytes << 10)
}

// do sends a request and returns the body of its reply, which must have status.
func (s *server) do(ctx context.Context, method, path string, body any, status int) ([]byte, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, bytes.NewReader(encoded))
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

func printed(ctx context.Context, into any, name string, args ...string) error {
	out, err := output(ctx, name, args...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, into); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	return nil
}
