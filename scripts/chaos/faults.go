package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"time"
)

// faults are what happens to the server. Each is over when do returns; the server gets no help afterwards but for the restart of
// its process, as a service manager does.
var faults = []struct {
	name  string
	fills bool // it needs a disk that can be filled
	do    func(ctx context.Context, w *world, random *rand.Rand) error
}{
	{"kill -9", false, func(ctx context.Context, w *world, _ *rand.Rand) error {
		w.kill()
		return w.start(ctx)
	}},
	// It is killed again while it starts, and recovers what the first kill left.
	{"kill twice", false, func(ctx context.Context, w *world, random *rand.Rand) error {
		w.kill()
		if err := w.start(ctx); err != nil {
			return err
		}
		wait(ctx, time.Duration(random.IntN(200))*time.Millisecond)
		w.kill()
		return w.start(ctx)
	}},
	{"terminate", false, func(ctx context.Context, w *world, _ *rand.Rand) error {
		if err := w.server.Stop(); err != nil {
			return fmt.Errorf("it does not end well: %w", err)
		}
		return w.start(ctx)
	}},
	// To the process, the clock jumps ahead and every request and lease is late: as a virtual machine that is suspended, or a disk
	// that does not answer.
	{"standstill", false, func(ctx context.Context, w *world, random *rand.Rand) error {
		process := w.server.Command.Process
		if err := process.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		wait(ctx, time.Duration(1+random.IntN(5))*time.Second)
		return process.Signal(syscall.SIGCONT)
	}},
	{"disk full", true, func(ctx context.Context, w *world, _ *rand.Rand) error {
		if err := w.fill(); err != nil {
			return err
		}
		wait(ctx, 3*time.Second)
		return os.Remove(w.ballast)
	}},
	{"full, killed", true, func(ctx context.Context, w *world, _ *rand.Rand) error {
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
