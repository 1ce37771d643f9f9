package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"docent/testkit/emulator"
)

// server is a running LocalStack.
type server struct {
	endpoint string
	root     string // of the project
	scripts  string // this folder
	python   string
	log      *os.File
	emulator *emulator.Server
}

// start starts the LocalStack that scripts/venv localstack installed, empty, on the loopback interface. Its files
// go below folder.
func start(ctx context.Context, root, folder string) (*server, error) {
	s := &server{root: root, scripts: filepath.Join(root, "scripts", "localstack"),
		python: filepath.Join(root, ".cache", "localstack", "bin", "python3")}
	if _, err := os.Stat(s.python); err != nil {
		return nil, errors.New("LocalStack is not installed: run scripts/venv localstack")
	}
	address, err := emulator.FreeAddress(ctx)
	if err != nil {
		return nil, err
	}
	s.endpoint = "http://" + address
	if s.log, err = os.Create(filepath.Join(folder, "log")); err != nil {
		return nil, err
	}
	s.emulator, err = emulator.Start(ctx, emulator.Options{Program: s.python, Arguments: []string{"-B", filepath.Join(s.scripts, "start.py")}, Output: s.log,
		StopBy: "KILL", // it has nothing to save, and its functions end when they no longer reach it
		// Nothing of this process's environment reaches the functions.
		Environment: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "TMPDIR=" + folder, "FILESYSTEM_ROOT=" + folder,
			"PYTHONUNBUFFERED=1", "GATEWAY_LISTEN=" + address,
			// It calls none of its maker's servers, and serves no DNS.
			"API_ENDPOINT=http://127.0.0.1:9", "DISABLE_EVENTS=1", "SKIP_SSL_CERT_DOWNLOAD=1", "DNS_ADDRESS=0"}})
	if err != nil {
		return nil, errors.Join(err, s.log.Close())
	}
	if err := s.emulator.Ready(ctx, s.endpoint+"/_localstack/health"); err != nil {
		return nil, fmt.Errorf("start LocalStack: %w: %s", errors.Join(err, s.stop()), s.tail())
	}
	return s, nil
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

// stop ends LocalStack, everything in it and its functions.
func (s *server) stop() error { return errors.Join(s.emulator.Stop(), s.log.Close()) }
