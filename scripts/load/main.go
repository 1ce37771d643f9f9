// Command load puts load on docent serve on this machine for a bounded time, at rates that
// do not drop when replies are slow, and prints what clients saw of each operation.
//
//	go run ./scripts/load -docent PROGRAM [-for 60s] [-rate 200]
//
// It starts the server itself, on its own data, which it removes, and uses the
// loopback interface only. A wrong reply is a failure.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Bounds of a run.
const (
	mostTime = 10 * time.Minute
	mostRate = 5000 // requests per second
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	flags := flag.NewFlagSet("load", flag.ContinueOnError)
	program := flags.String("docent", "bin/docent", "the program")
	lasting := flags.Duration("for", time.Minute, "how long, at most 10m")
	rate := flags.Int("rate", 200, "requests per second, at most 5000")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *lasting <= 0 || *lasting > mostTime || *rate < len(mix) || *rate > mostRate {
		return fmt.Errorf("-for is above 0 and at most %v, -rate %d to %d", mostTime, len(mix), mostRate)
	}
	folder, err := os.MkdirTemp("", "docent-load-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	s, err := start(ctx, *program, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.fill(ctx); err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	fmt.Printf("%s %s/%s, %d processors; %d documents; %d requests per second for %v\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), documents, *rate, *lasting)
	return report(os.Stdout, attack(ctx, s, *rate, *lasting))
}

// server is docent serve with one team.
type server struct {
	base, key  string
	collection string
	command    *exec.Cmd
	log        *os.File
}

// start creates a team and starts the server.
func start(ctx context.Context, program, folder string) (*server, error) {
	data := filepath.Join(folder, "data")
	var team struct{ Team struct{ ID string } }
	var key struct{ Secret string }
	if err := command(ctx, &team, program, "team", "create", "--data", data, "--name", "Load", "--admin", "ada@load.example", "--json"); err != nil {
		return nil, err
	}
	if err := command(ctx, &key, program, "key", "create", "--data", data, "--team", team.Team.ID, "--kind", "team", "--name", "load", "--json"); err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	s := &server{base: "http://" + address + "/v1", key: key.Secret}
	if s.log, err = os.Create(filepath.Join(folder, "serve.log")); err != nil {
		return nil, err
	}
	s.command = exec.CommandContext(ctx, program, "serve", "--data", data, "--addr", address, "--no-demo", "--team-rate", "0")
	s.command.Stderr = s.log
	out, err := s.command.StdoutPipe()
	if err == nil {
		err = s.command.Start()
	}
	if err != nil {
		return nil, err
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // it prints a greeting when it listens
		return nil, fmt.Errorf("docent serve does not start: %w", errors.Join(err, s.stop()))
	}
	return s, nil
}

func (s *server) stop() error {
	err := s.command.Process.Signal(syscall.SIGTERM)
	return errors.Join(err, s.command.Wait(), s.log.Close())
}

func command(ctx context.Context, into any, program string, args ...string) error {
	out, err := exec.CommandContext(ctx, program, args...).Output()
	if err != nil {
		return fmt.Errorf("docent %s: %w", strings.Join(args[:2], " "), err)
	}
	return json.Unmarshal(out, into)
}
