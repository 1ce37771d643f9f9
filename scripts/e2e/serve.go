package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// The teams that every target has for the scripts.
const (
	ours   = "Scripts"
	theirs = "Rival"
)

// serve starts docent serve, the binary program, on data of its own below folder.
// The server ends with stop.
func serve(ctx context.Context, program, folder string) (h Target, stop func() error, err error) {
	data := filepath.Join(folder, "data")
	h = Target{Name: "serve"}
	for name, key := range map[string]*string{ours: &h.Admin, theirs: &h.Rival} {
		if *key, err = newTeam(ctx, program, os.Environ(), name, "--data", data); err != nil {
			return h, nil, err
		}
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return h, nil, err
	}
	log, err := os.Create(filepath.Join(folder, "serve.log"))
	if err != nil {
		return h, nil, err
	}
	server := exec.CommandContext(ctx, program, "serve", "--data", data, "--addr", address, "--no-demo")
	server.Stderr = log
	server.Cancel = func() error { return server.Process.Signal(syscall.SIGTERM) }
	out, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		return h, nil, errors.Join(err, log.Close())
	}
	stop = func() error {
		err := server.Process.Signal(syscall.SIGTERM)
		return errors.Join(err, server.Wait(), log.Close())
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // it greets when it is ready
		return h, nil, fmt.Errorf("docent serve does not start: %w", errors.Join(err, stop()))
	}
	h.Base = "http://" + address + "/v1"
	h.At = h.Base
	return h, stop, nil
}

// newTeam makes a team with the command line and returns its admin's key.
func newTeam(ctx context.Context, program string, environment []string, name string, flags ...string) (key string, err error) {
	create := exec.CommandContext(ctx, program, append([]string{"team", "create", "--json", "--name", name,
		"--admin", "ada@" + strings.ToLower(name) + ".example"}, flags...)...)
	create.Env = environment
	var problem strings.Builder
	create.Stderr = &problem
	out, err := create.Output()
	if err != nil {
		return "", fmt.Errorf("docent team create: %w: %s", err, strings.TrimSpace(problem.String()))
	}
	var made struct{ Key struct{ Secret string } }
	if err := json.Unmarshal(out, &made); err != nil {
		return "", fmt.Errorf("docent team create: %w", err)
	}
	return made.Key.Secret, nil
}

// freeAddress is one that nobody listens on just now.
func freeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
