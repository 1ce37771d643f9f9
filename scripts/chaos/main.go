// Command chaos puts load on docent serve while its process is killed or paused, its disk is full or slow, or AWS
// refuses its calls. It checks that nothing that was acknowledged is lost, that no reply is wrong, and that the server
// recovers without help. It prints what happened and
// exits with status 1 if something was lost or wrong.
//
//	go run ./scripts/chaos -docent bin/docent [-engine aws] [-for 3m] [-clients 8] [-seed 1]
//
// It starts the server itself, on data of its own that it removes, and connects to the loopback interface only. README.md lists
// the faults; the disk is only filled where this program may mount a small one (Linux, root), and slowed where strace is.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error says it
	program := flags.String("docent", "bin/docent", "the program")
	lasting := flags.Duration("for", 3*time.Minute, "how long, at least 10s")
	clients := flags.Int("clients", 8, "clients at the same time, 1 to 64")
	engine := flags.String("engine", "local", "local: docent serve on data of its own; aws: on AWS in trouble")
	seed := flags.Uint64("seed", 1, "of the choice of faults")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *lasting < 10*time.Second || *clients < 1 || *clients > 64 || flags.NArg() > 0 || *engine != "local" && *engine != "aws" {
		return errors.New("-for must be at least 10s, -clients 1 to 64, -engine local or aws; arguments are not allowed")
	}
	w, err := newWorld(ctx, *program, *engine == "aws")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.remove()) }()
	return w.live(ctx, *lasting, *clients, rand.New(rand.NewPCG(*seed, 1)), out) //nolint:gosec // a run can be repeated
}

// live has clients write, and one fault after another happen, until the time is over.
func (w *world) live(ctx context.Context, lasting time.Duration, clients int, random *rand.Rand, out io.Writer) error {
	if w.cloud != nil {
		w.cloud.unsteady.Make(usual)
	}
	if w.cloud == nil && !w.has(ownDisk) {
		fmt.Fprintln(out, "The disk is not filled: this program may not mount one.")
	}
	if w.cloud == nil && !w.has(strace) {
		fmt.Fprintln(out, "The disk is not slowed: strace is not installed.")
	}
	ending, end := context.WithTimeout(ctx, lasting)
	defer end()
	var all sync.WaitGroup
	pace := lasting * time.Duration(clients) / mostWrites
	for n := range clients {
		all.Go(func() { w.client(ending, n, pace) })
	}
	began := time.Now()
	happened := map[string]int{}
	var order []int
	for ending.Err() == nil {
		wait(ending, time.Duration(1+random.IntN(4))*time.Second)
		if len(order) == 0 { // each fault comes before one comes again
			order = random.Perm(len(faults))
		}
		f := faults[order[0]]
		order = order[1:]
		if ending.Err() != nil || !w.has(f.needs) {
			continue
		}
		if err := f.do(ctx, w, random); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		recovered, err := w.recovers(ctx)
		if err != nil {
			return fmt.Errorf("after %s: %w", f.name, err)
		}
		happened[f.name]++
		fmt.Fprintf(out, "%6.1fs  %-12s writes again after %.1fs; %d acknowledged, %d refused\n",
			time.Since(began).Seconds(), f.name, recovered.Seconds(), w.acknowledged.Load(), w.refused.Load())
	}
	all.Wait()
	if err := w.report(ctx, happened, out); err != nil {
		return err
	}
	return ctx.Err()
}

// report checks that nothing acknowledged is lost and no reply was wrong, and prints what happened.
func (w *world) report(ctx context.Context, happened map[string]int, out io.Writer) error {
	lost := w.check(ctx)
	for _, problem := range lost {
		fmt.Fprintln(out, "LOST:", problem)
	}
	for _, reply := range w.wrong {
		fmt.Fprintln(out, "WRONG:", reply)
	}
	if w.cloud != nil {
		fmt.Fprintf(out, "AWS: %v; replies by status: %v\n", w.cloud.unsteady.Counts(), w.replies)
	}
	fmt.Fprintf(out, "%d writes acknowledged, %d refused or unanswered; faults %v; %d documents and %d answers checked, %d lost\n",
		w.acknowledged.Load(), w.refused.Load(), happened, len(w.documents), len(w.questions), len(lost))
	if len(lost)+len(w.wrong) > 0 {
		return fmt.Errorf("%d lost, %d wrong replies", len(lost), len(w.wrong))
	}
	return nil
}

// wait waits, unless ctx ends before.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
