package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// goOutput runs a command of go at the root of the repository and returns its output. The error includes what it printed.
func goOutput(ctx context.Context, args ...string) ([]byte, error) {
	return outputWith(ctx, nil, "go", args...)
}

// outputWith returns the output of a program, with variables added to its environment.
func outputWith(ctx context.Context, environment []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), environment...)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, tail(out), tail(errors.Bytes()))
	}
	return out, nil
}

// tail returns the end of a text, short enough for an error.
func tail(text []byte) []byte { return text[max(0, len(text)-4000):] }
