// Package serving runs docent serve, the program as it is built, on data of its own.
package serving

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// Server is a running docent serve without a demo team.
type Server struct {
	Base    string // the URL of the API, such as http://127.0.0.1:8080/v1
	Command *exec.Cmd
}

// Options say how docent serve is started. Only Program and Data are required.
type Options struct {
	Program, Data string
	Address       string    // HOST:PORT to listen on; empty: a free port of the loopback interface
	Flags         []string  // further flags of docent serve
	Environment   []string  // added to the environment of this process
	Log           io.Writer // receives what the server logs; nil: nothing does
}

// Start starts docent serve and returns once it listens. When ctx ends, the server is signalled to stop.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	arguments := append([]string{"serve", "--data", o.Data, "--addr", o.Address, "--no-demo"}, o.Flags...)
	s := &Server{Command: exec.CommandContext(ctx, o.Program, arguments...)}
	s.Command.Env = append(os.Environ(), o.Environment...)
	s.Command.Stderr = o.Log
	s.Command.Cancel = func() error { return s.Command.Process.Signal(syscall.SIGTERM) }
	out, err := s.Command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.Command.Start(); err != nil {
		return nil, err
	}
	greeting, err := bufio.NewReader(out).ReadString('\n') // printed once it listens
	for word := range strings.FieldsSeq(greeting) {
		if strings.HasPrefix(word, "http://") {
			s.Base = word
		}
	}
	if s.Base == "" {
		return nil, fmt.Errorf("docent serve does not start: %q: %w", greeting, errors.Join(err, s.Stop()))
	}
	return s, nil
}

// Address returns the HOST:PORT that the server listens on.
func (s *Server) Address() string {
	address, _, _ := strings.Cut(strings.TrimPrefix(s.Base, "http://"), "/")
	return address
}

// Stop ends the server with SIGTERM, as an operator does, and returns an error if it did not end well.
func (s *Server) Stop() error {
	err := s.Command.Process.Signal(syscall.SIGTERM)
	return errors.Join(err, s.Command.Wait())
}

// Team is a team that docent team create made.
type Team struct {
	ID       string
	AdminKey string // the personal key of its admin
}

// NewTeam makes a team whose admin is ada@NAME.example. The flags say where its data is.
func NewTeam(ctx context.Context, program, name string, flags ...string) (Team, error) {
	return NewTeamIn(ctx, os.Environ(), program, name, flags...)
}

// NewTeamIn is NewTeam in another environment than that of this process.
func NewTeamIn(ctx context.Context, environment []string, program, name string, flags ...string) (Team, error) {
	var made struct {
		Team struct{ ID string }
		Key  struct{ Secret string }
	}
	err := call(ctx, environment, program, append([]string{"team", "create", "--json", "--name", name,
		"--admin", "ada@" + strings.ToLower(name) + ".example"}, flags...), &made)
	return Team{ID: made.Team.ID, AdminKey: made.Key.Secret}, err
}

// NewTeamKey makes a team key, for a program, and returns its secret.
func NewTeamKey(ctx context.Context, program, data, teamID, name string) (string, error) {
	var made struct{ Secret string }
	err := call(ctx, os.Environ(), program, []string{"key", "create", "--json", "--data", data, "--team", teamID, "--kind", "team", "--name", name}, &made)
	return made.Secret, err
}

// call runs the program and reads the JSON that it prints.
func call(ctx context.Context, environment []string, program string, arguments []string, into any) error {
	command := exec.CommandContext(ctx, program, arguments...)
	command.Env = environment
	var problem bytes.Buffer
	command.Stderr = &problem
	out, err := command.Output()
	if err != nil {
		return fmt.Errorf("docent %s: %w: %s", strings.Join(arguments[:2], " "), err, bytes.TrimSpace(problem.Bytes()))
	}
	if err := json.Unmarshal(out, into); err != nil {
		return fmt.Errorf("docent %s: %w", strings.Join(arguments[:2], " "), err)
	}
	return nil
}
