package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// startWait bounds how long LocalStack may take to listen.
const startWait = 2 * time.Minute

// server is a running LocalStack.
type server struct {
	endpoint string
	root     string // of the project
	scripts  string // this folder
	python   string
	log      *os.File
	command  *exec.Cmd
	lifeline io.Closer // its standard input, whose end stops it
}

// guard runs LocalStack beside a cat of standard input and ends it when that ends, which
// the system sees to even if this process is killed. LocalStack has nothing to save, and
// its functions end when they no longer reach it.
const guard = `exec 3<&0; "$@" </dev/null & server=$!; cat <&3 >/dev/null; kill -9 $server; wait $server`

// start starts the LocalStack that scripts/venv localstack installed, on the loopback
// interface and with nothing in it. What it writes goes below folder.
func start(ctx context.Context, root, folder string) (*server, error) {
	s := &server{root: root, scripts: filepath.Join(root, "scripts", "localstack"),
		python: filepath.Join(root, ".cache", "localstack", "bin", "python3")}
	if _, err := os.Stat(s.python); err != nil {
		return nil, errors.New("LocalStack is not installed: run scripts/venv localstack")
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String() // nobody listens there in a moment
	if err := listener.Close(); err != nil {
		return nil, err
	}
	s.endpoint = "http://" + address
	if s.log, err = os.Create(filepath.Join(folder, "log")); err != nil {
		return nil, err
	}
	s.command = exec.CommandContext(ctx, "/bin/sh", "-c", guard, "sh", s.python, "-B", filepath.Join(s.scripts, "start.py"))
	// Nothing of this process's environment reaches the functions.
	s.command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "TMPDIR=" + folder, "FILESYSTEM_ROOT=" + folder,
		"PYTHONUNBUFFERED=1", "GATEWAY_LISTEN=" + address,
		// It asks nothing of its maker's servers, and is asked nothing by name.
		"API_ENDPOINT=http://127.0.0.1:9", "DISABLE_EVENTS=1", "SKIP_SSL_CERT_DOWNLOAD=1", "DNS_ADDRESS=0"}
	s.command.Stdout, s.command.Stderr = s.log, s.log
	if s.lifeline, err = s.command.StdinPipe(); err != nil {
		return nil, errors.Join(err, s.log.Close())
	}
	if err := s.command.Start(); err != nil {
		return nil, errors.Join(err, s.log.Close())
	}
	if err := s.ready(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %s", err, s.tail()), s.stop())
	}
	return s, nil
}

func (s *server) ready(ctx context.Context) error {
	for end := time.Now().Add(startWait); ; {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.endpoint+"/_localstack/health", nil)
		if err != nil {
			return err
		}
		if response, err := http.DefaultClient.Do(request); err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(end) {
			return fmt.Errorf("LocalStack did not listen within %v", startWait)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// tail returns the end of LocalStack's log.
func (s *server) tail() string {
	const most = 4000 // bytes
	text, err := os.ReadFile(s.log.Name())
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}

// stop ends LocalStack with all that is in it, and its functions with it.
func (s *server) stop() error {
	err := s.lifeline.Close()
	_ = s.command.Wait() // it was ended, which is what it reports
	return errors.Join(err, s.log.Close())
}
