package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"docent/testkit/moto"
)

// need is a requirement of a fault on the machine.
type need int

const (
	nothing need = iota
	ownDisk      // a disk that can be filled
	onAWS        // AWS in trouble
	strace       // the program strace, and the right to trace a process that this one started
)

// has reports whether the machine has what a fault needs.
func (w *world) has(n need) bool {
	switch n {
	case ownDisk:
		return w.ballast != ""
	case onAWS:
		return w.cloud != nil
	case strace:
		_, err := exec.LookPath("strace")
		return err == nil && w.cloud == nil
	default:
		return true
	}
}

// faults are the faults of the server. Each is over when do returns; the server gets no help afterwards except the restart of
// its process, as a service manager does.
var faults = []struct {
	name  string
	needs need
	do    func(ctx context.Context, w *world, random *rand.Rand) error
}{
	{"kill -9", nothing, func(ctx context.Context, w *world, _ *rand.Rand) error {
		w.kill()
		return w.start(ctx)
	}},
	// It is killed again while it starts, and recovers what the first kill left.
	{"kill twice", nothing, func(ctx context.Context, w *world, random *rand.Rand) error {
		w.kill()
		if err := w.start(ctx); err != nil {
			return err
		}
		wait(ctx, time.Duration(random.IntN(200))*time.Millisecond)
		w.kill()
		return w.start(ctx)
	}},
	{"terminate", nothing, func(ctx context.Context, w *world, _ *rand.Rand) error {
		if err := w.server.Stop(); err != nil {
			return fmt.Errorf("it does not end well: %w", err)
		}
		return w.start(ctx)
	}},
	// To the process, the clock jumps ahead and every request and lease is late: as a virtual machine that is suspended, or a disk
	// that does not answer.
	{"standstill", nothing, func(ctx context.Context, w *world, random *rand.Rand) error {
		process := w.server.Command.Process
		if err := process.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		wait(ctx, time.Duration(1+random.IntN(5))*time.Second)
		return process.Signal(syscall.SIGCONT)
	}},
	// Each sync of a file takes 200 ms longer, as on a disk that others keep busy.
	{"disk slow", strace, func(ctx context.Context, w *world, _ *rand.Rand) error {
		return w.slow(ctx, 5*time.Second)
	}},
	{"disk full", ownDisk, func(ctx context.Context, w *world, _ *rand.Rand) error {
		if err := w.fill(); err != nil {
			return err
		}
		wait(ctx, 3*time.Second)
		return os.Remove(w.ballast)
	}},
	{"full, killed", ownDisk, func(ctx context.Context, w *world, _ *rand.Rand) error {
		if err := w.fill(); err != nil {
			return err
		}
		wait(ctx, time.Second)
		w.kill()
		if err := os.Remove(w.ballast); err != nil {
			return err
		}
		return w.start(ctx)
	}},
	{"throttled", onAWS, inTrouble(moto.Trouble{Refused: 0.5, Late: 0.2, Delay: 100 * time.Millisecond}, 8*time.Second)},
	{"refused", onAWS, inTrouble(moto.Trouble{Refused: 1}, 10*time.Second)}, // each call, longer than a call is tried again
	{"cut", onAWS, inTrouble(moto.Trouble{Cut: 0.3}, 8*time.Second)},
	{"late", onAWS, inTrouble(moto.Trouble{Late: 1, Delay: time.Second}, 8*time.Second)},
	// Later than the server waits for a reply: each call is carried out, and nobody reads what came of it.
	{"too late", onAWS, inTrouble(moto.Trouble{Late: 0.3, Delay: 8 * time.Second}, 15*time.Second)},
	{"cut, killed", onAWS, func(ctx context.Context, w *world, _ *rand.Rand) error {
		w.cloud.unsteady.Make(moto.Trouble{Refused: 0.2, Cut: 0.3})
		defer w.cloud.unsteady.Make(usual)
		wait(ctx, 2*time.Second)
		w.kill()
		return w.start(ctx)
	}},
}

// inTrouble returns what makes a trouble of AWS for a time.
func inTrouble(t moto.Trouble, lasting time.Duration) func(context.Context, *world, *rand.Rand) error {
	return func(ctx context.Context, w *world, _ *rand.Rand) error {
		w.cloud.unsteady.Make(t)
		defer w.cloud.unsteady.Make(usual)
		wait(ctx, lasting)
		return nil
	}
}

// slow delays each sync of a file by the server for a time.
func (w *world) slow(ctx context.Context, lasting time.Duration) error {
	tracing, end := context.WithCancel(ctx)
	defer end()
	var said bytes.Buffer
	tracer := exec.CommandContext(tracing, "strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace=fdatasync,fsync",
		"-e", "inject=fdatasync,fsync:delay_exit=200ms", "-p", strconv.Itoa(w.server.Command.Process.Pid))
	tracer.Stderr = &said
	tracer.Cancel = func() error { return tracer.Process.Signal(os.Interrupt) } // it detaches and ends
	time.AfterFunc(lasting, end)
	if err := tracer.Run(); tracing.Err() == nil {
		return fmt.Errorf("strace ended early: %w: %s", err, said.Bytes())
	}
	return ctx.Err()
}

// fill writes the ballast until the disk is full.
func (w *world) fill() error {
	file, err := os.Create(w.ballast)
	if err != nil {
		return err
	}
	for chunk := make([]byte, 64<<10); err == nil; {
		_, err = file.Write(chunk)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return errors.Join(err, file.Close())
	}
	return file.Close()
}
