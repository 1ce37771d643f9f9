// Command e2e plays the request scripts in this folder against installations of Docent and reports
// which passed. Without flags it plays them at docent serve and
// at the deployed template; with -base at an installation that runs already.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
}

type options struct {
	targets string
	base    string
	at      string
	dir     string
	scripts string
	docent  string
	folder  string // of the assembly
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var o options
	flags := flag.NewFlagSet("e2e", flag.ContinueOnError)
	flags.StringVar(&o.targets, "targets", "serve,stack", "what to start and test, separated by commas")
	flags.StringVar(&o.base, "base", "", "base URL of an installation to test instead; the admins' keys are in E2E_ADMIN and E2E_RIVAL")
	flags.StringVar(&o.at, "at", "", "where that installation is reached, when its base URL does not lead there")
	flags.StringVar(&o.dir, "dir", "scripts/e2e", "where the scripts are")
	flags.StringVar(&o.folder, "assembly", ".cache/e2e/cdk.out", "the synthesised stack, with functions built for this machine")
	flags.StringVar(&o.docent, "docent", "bin/docent", "the program")
	flags.StringVar(&o.scripts, "scripts", "", "play only scripts whose names contain one of these, separated by commas")
	if err := flags.Parse(args); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(o.dir, "*.txt"))
	if err != nil {
		return err
	}
	if files = chosen(files, o.scripts); len(files) == 0 {
		return fmt.Errorf("no script in %s has a matching name", o.dir)
	}
	begin := time.Now()
	fmt.Fprintf(out, "%s %s/%s, %d processors\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	var outcomes []outcome
	if o.base != "" {
		h := Target{Name: "remote", Base: strings.TrimSuffix(o.base, "/"), At: strings.TrimSuffix(o.at, "/"),
			Admin: os.Getenv("E2E_ADMIN"), Rival: os.Getenv("E2E_RIVAL")}
		if h.At == "" {
			h.At = h.Base
		}
		outcomes = play(h, files, out)
	} else if outcomes, err = playTargets(ctx, o, files, out); err != nil {
		return err
	}
	return summary(outcomes, time.Since(begin), out)
}

// chosen returns the files whose names contain one of the parts.
func chosen(files []string, parts string) (some []string) {
	for _, file := range files {
		for part := range strings.SplitSeq(parts, ",") {
			if strings.Contains(filepath.Base(file), part) {
				some = append(some, file)
				break
			}
		}
	}
	return some
}

// playTargets starts each target, plays files against it and stops it.
func playTargets(ctx context.Context, o options, files []string, out io.Writer) (all []outcome, err error) {
	folder, err := os.MkdirTemp("", "docent-e2e-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if os.Getenv("E2E_KEEP") == "" {
			err = errors.Join(err, os.RemoveAll(folder))
		}
	}()
	for name := range strings.SplitSeq(o.targets, ",") {
		begin := time.Now()
		h, stop, err := start(ctx, name, o, folder, out)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(out, "\n%s: ready after %s\n", name, time.Since(begin).Round(time.Millisecond))
		begin = time.Now()
		outcomes := play(h, files, out)
		fmt.Fprintf(out, "%s: %d scripts in %s\n", name, len(outcomes), time.Since(begin).Round(time.Millisecond))
		all = append(all, outcomes...)
		if h.Refusals != nil {
			all = append(all, allowed(h, out))
		}
		if err := stop(); err != nil {
			return nil, fmt.Errorf("stop %s: %w", name, err)
		}
	}
	return all, nil
}

// allowed fails if a function made a call that its policy does not allow.
func allowed(h Target, out io.Writer) outcome {
	refusals := h.Refusals()
	for _, said := range refusals {
		fmt.Fprintf(out, "%s: denied: %s\n", h.Name, said)
	}
	return outcome{name: "policies", failed: len(refusals) > 0}
}

func start(ctx context.Context, name string, o options, folder string, out io.Writer) (Target, func() error, error) {
	switch name {
	case "serve":
		return serve(ctx, o.docent, folder)
	case "stack":
		return deployed(ctx, o.docent, o.folder, folder, out)
	default:
		return Target{}, nil, errors.New("there is no such target")
	}
}

func summary(outcomes []outcome, took time.Duration, out io.Writer) error {
	passed, failed, skipped := 0, 0, 0
	for _, o := range outcomes {
		switch {
		case o.failed:
			failed++
		case o.skipped:
			skipped++
		default:
			passed++
		}
	}
	fmt.Fprintf(out, "\n%d passed, %d failed, %d skipped in %s\n", passed, failed, skipped, took.Round(time.Second))
	if failed > 0 {
		return fmt.Errorf("%d scripts failed", failed)
	}
	return nil
}
