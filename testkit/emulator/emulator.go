// Package emulator starts the servers that stand in for AWS, so that none outlives the process that started it.
package emulator

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"time"
)

// startWait is how long a server may take to answer.
const startWait = 2 * time.Minute

// Server is a running server.
type Server struct {
	command  *exec.Cmd
	lifeline io.Closer // the guard's standard input, whose end stops the server
}

// guard runs a server next to a cat of standard input and sends the server a signal when that input ends. The system
// ends the input even if this process is killed.
const guard = `exec 3<&0; signal=$1; shift; "$@" </dev/null & server=$!; cat <&3 >/dev/null; kill -$signal $server; wait $server`

// Options describe a server.
type Options struct {
	Program     string
	Arguments   []string
	Environment []string  // all of it; empty: the environment of this process
	Output      io.Writer // what the server prints
	StopBy      string    // the signal that stops the server; empty: TERM
}

// Start starts a server that runs until Stop, until ctx ends or until this process ends.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.StopBy == "" {
		o.StopBy = "TERM"
	}
	s := &Server{command: exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", guard, "sh", o.StopBy, o.Program}, o.Arguments...)...)}
	s.command.Env, s.command.Stdout, s.command.Stderr = o.Environment, o.Output, o.Output
	var err error
	if s.lifeline, err = s.command.StdinPipe(); err != nil {
		return nil, err
	}
	return s, s.command.Start()
}

// Ready waits until a GET of url returns 200.
func (s *Server) Ready(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startWait, fmt.Errorf("no answer within %v", startWait))
	defer cancel()
	for ctx.Err() == nil {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		if response, err := http.DefaultClient.Do(request); err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return context.Cause(ctx)
}

// Stop ends the server and waits until it has ended.
func (s *Server) Stop() error {
	err := s.lifeline.Close()
	s.Wait()
	return err
}

// Wait waits until the server has ended.
func (s *Server) Wait() {
	_ = s.command.Wait() // the signal that ended it is not a failure
}

// FreeAddress returns an address of the loopback interface at which nothing listens at the moment.
func FreeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
