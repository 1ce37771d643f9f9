package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"
)

// Bounds of a run.
const (
	maxTime    = 10 * time.Minute
	maxClients = 1000
)

// attackers is the argument with which a run starts this program to play the attacks only.
const attackers = "attackers"

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	if len(args) == 1 && args[0] == attackers {
		return serveRun(ctx, in, out)
	}
	var p plan
	flags := flag.NewFlagSet("attack", flag.ContinueOnError)
	program := flags.String("docent", "bin/docent", "the program")
	flags.DurationVar(&p.Time, "for", time.Minute, "how long to attack, at most 10m")
	flags.IntVar(&p.Clients, "clients", 200, "attacking clients, at most 1000")
	flags.StringVar(&p.Only, "only", "", "play only attacks whose names start with this")
	flags.Uint64Var(&p.Seed, "seed", 1, "of everything random")
	alone := flags.Duration("alone", 0, "how long the quiet team works alone first; 0: half of -for")
	keep := flags.String("log", "", "write the server's log to this file")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if p.Time <= 0 || p.Time > maxTime || p.Clients < 1 || p.Clients > maxClients || *alone < 0 || *alone > maxTime {
		return fmt.Errorf("-for and -alone are at most %v, -clients is 1 to %d", maxTime, maxClients)
	}
	if len(chosen(p.Only)) == 0 {
		return fmt.Errorf("no attack's name starts with %q", p.Only)
	}
	if *alone == 0 {
		*alone = p.Time / 2
	}
	p.Hold, p.Patience, p.Size = min(30*time.Second, p.Time/2), 30*time.Second, maxBody
	return measure(ctx, *program, p, *alone, *keep, out)
}

// measure starts the server, fills it, and measures the quiet team alone and during the attacks.
func measure(ctx context.Context, program string, p plan, alone time.Duration, keep string, out io.Writer) (err error) {
	folder, err := os.MkdirTemp("", "docent-attack-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	s, err := startServer(ctx, program, folder, keep)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	begin := time.Now()
	if p.Target, err = fill(ctx, s.Address(), s.admins, p.Size); err != nil {
		return fmt.Errorf("fill the server: %w", err)
	}
	fmt.Fprintf(out, "%s %s/%s, %d processors; %d clients for %v, seed %d; filled in %s\n", runtime.Version(), runtime.GOOS,
		runtime.GOARCH, runtime.NumCPU(), p.Clients, p.Time, p.Seed, time.Since(begin).Round(time.Second))

	attacked, end := context.WithCancel(ctx)
	defer end()
	var r result
	if r.filled = readMemory(s.Command.Process.Pid); r.filled.peak == 0 {
		return errors.New("the server's memory cannot be read from /proc")
	}
	memory := watchMemory(s.Command.Process.Pid, end)
	defer memory.stop()
	if r.alone, err = p.Target.Quiet.work(ctx, alone); err != nil {
		return err
	}
	played := make(chan error, 1)
	go func() {
		defer end()
		var err error
		r.tallies, err = play(attacked, p)
		played <- err
	}()
	r.attacked, err = p.Target.Quiet.work(attacked, 2*maxTime)
	if err = errors.Join(err, <-played); err != nil {
		return fmt.Errorf("play the attacks, at %s of memory: %w", mebibytes(memory.highest().all), err)
	}
	if ctx.Err() != nil {
		return ctx.Err() // the measurement is incomplete
	}
	r.memory, r.highest = readMemory(s.Command.Process.Pid), memory.highest()
	if r.log, err = s.readLog(); err != nil {
		return err
	}
	return r.print(out)
}

// serveRun plays the plan from its input and writes the tallies.
func serveRun(ctx context.Context, in io.Reader, out io.Writer) error {
	var p plan
	if err := json.NewDecoder(in).Decode(&p); err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	return json.NewEncoder(out).Encode(assault(ctx, p))
}
