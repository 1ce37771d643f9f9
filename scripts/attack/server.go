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

// teams is how many teams there are: the quiet one, and those whose clients attack.
const teams = 1 + 4

// server is docent serve on data of its own.
type server struct {
	address string   // HOST:PORT
	admins  []string // personal keys of the teams' admins, the quiet team's first
	command *exec.Cmd
	log     *os.File
}

// startServer makes the teams below folder and starts the server. Its log goes to the file keep, if
// that is not empty.
func startServer(ctx context.Context, program, folder, keep string) (*server, error) {
	data, s := filepath.Join(folder, "data"), &server{}
	for n := range teams {
		key, err := newTeam(ctx, program, data, fmt.Sprint("team", n))
		if err != nil {
			return nil, err
		}
		s.admins = append(s.admins, key)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.address = l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	if keep == "" {
		keep = filepath.Join(folder, "serve.log")
	}
	if s.log, err = os.Create(keep); err != nil {
		return nil, err
	}
	s.command = exec.CommandContext(ctx, program, "serve", "--data", data, "--addr", s.address, "--no-demo")
	s.command.Stderr = s.log
	s.command.Cancel = func() error { return s.command.Process.Signal(syscall.SIGTERM) }
	out, err := s.command.StdoutPipe()
	if err == nil {
		err = s.command.Start()
	}
	if err != nil {
		return nil, errors.Join(err, s.log.Close())
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // it greets when it is ready
		return nil, fmt.Errorf("docent serve does not start: %w", errors.Join(err, s.stop()))
	}
	return s, nil
}

// stop ends the server as an operator does.
func (s *server) stop() error {
	err := s.command.Process.Signal(syscall.SIGTERM)
	return errors.Join(err, s.command.Wait(), s.log.Close())
}

// newTeam makes a team with the command line and returns its admin's key.
func newTeam(ctx context.Context, program, data, name string) (key string, err error) {
	create := exec.CommandContext(ctx, program, "team", "create", "--json", "--data", data, "--name", name, "--admin", "ada@"+name+".example")
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
