package collectors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const repository = "../.."

// server is docent serve, which is killed and restarted.
type server struct {
	t                  *testing.T
	binary, dir, url   string
	address, user, key string
	process            *exec.Cmd
	acknowledged       atomic.Int64
	step               chan struct{} // one for each acknowledged write
}

func newServer(t *testing.T, writes int) *server {
	t.Helper()
	s := &server{t: t, dir: t.TempDir(), step: make(chan struct{}, writes)}
	s.binary = filepath.Join(s.dir, "docent")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", s.binary, "./cmd/docent")
	build.Dir = repository
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build docent: %v\n%s", err, out)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = listener.Addr().String()
	s.url = "http://" + s.address + "/v1"
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	var team struct{ Team struct{ ID string } }
	s.docent(&team, "team", "create", "--data", s.data(), "--name", "Acme", "--admin", "ada@acme.test", "--json")
	var key struct{ Secret string }
	s.docent(&key, "key", "create", "--data", s.data(), "--team", team.Team.ID, "--kind", "team", "--name", "collector", "--json")
	s.key = key.Secret
	return s
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

func (s *server) docent(into any, args ...string) {
	s.t.Helper()
	out, err := exec.CommandContext(s.t.Context(), s.binary, args...).Output()
	if err != nil {
		s.t.Fatalf("docent %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	if err := json.Unmarshal(out, into); err != nil {
		s.t.Fatalf("docent %s: %v", strings.Join(args, " "), err)
	}
}

func (s *server) start() {
	s.t.Helper()
	s.process = exec.CommandContext(s.t.Context(), s.binary, "serve", "--data", s.data(), "--addr", s.address, "--no-demo")
	s.process.Stderr = logFile(s.t, s.dir, "docent.log")
	out, err := s.process.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // it prints a greeting when it listens
		s.t.Fatalf("docent serve does not start: %v", err)
	}
}

func (s *server) kill() {
	s.t.Helper()
	kill(s.t, s.process)
}

func kill(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // the kill is no failure
}

func logFile(t *testing.T, dir, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// reached waits until n writes are acknowledged.
func (s *server) reached(n int64) {
	for s.acknowledged.Load() < n {
		<-s.step
	}
}

// send makes one request. It returns status 0 if there was no reply.
func (s *server) send(method, path string, body any) (status int, answer []byte) {
	s.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Error(err)
		return 0, nil
	}
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, bytes.NewReader(raw))
	if err != nil {
		s.t.Error(err)
		return 0, nil
	}
	request.Header.Set("Authorization", "Bearer "+s.key)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil
	}
	defer func() { _ = response.Body.Close() }()
	if answer, err = io.ReadAll(response.Body); err != nil {
		return 0, nil
	}
	return response.StatusCode, answer
}

// until repeats a request until it is acknowledged.
func (s *server) until(want int, method, path string, body any) []byte {
	s.t.Helper()
	for s.t.Context().Err() == nil {
		status, answer := s.send(method, path, body)
		switch {
		case status == want:
			return answer
		case status != 0 && status != http.StatusServiceUnavailable:
			s.t.Errorf("%s %s: %d %s", method, path, status, answer)
			return answer
		}
		time.Sleep(10 * time.Millisecond) // it is being restarted
	}
	return nil
}

// write renames collections: one event per acknowledged request, however often it was sent.
func (s *server) write(all *sync.WaitGroup, writers, each int) {
	for w := range writers {
		var made struct{ ID string }
		if err := json.Unmarshal(s.until(http.StatusCreated, "POST", "/collections",
			map[string]string{"name": fmt.Sprintf("w%d", w), "description": "d"}), &made); err != nil {
			s.t.Fatal(err)
		}
		all.Go(func() {
			for n := range each {
				s.until(http.StatusOK, "PATCH", "/collections/"+made.ID, map[string]string{"name": name(w, n)})
				s.acknowledged.Add(1)
				s.step <- struct{}{}
			}
		})
	}
}

func name(writer, n int) string { return fmt.Sprintf("w%d-%d", writer, n) }
