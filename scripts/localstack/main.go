// Command localstack runs the user's script localstack/deploy against a LocalStack
// without containers. Then it checks that each resource of the template exists and
// that the requests that the script prints are answered.
//
// LocalStack comes from the Python package index; start.py replaces
// its containers. The script gets only the address.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"docent/testkit/installed"
)

// wait bounds the whole run.
const wait = 15 * time.Minute

// The template that localstack/deploy writes, relative to the root of the project.
const template = ".cache/localstack-stack/Docent.template.json"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, wait)
	err := run(ctx, os.Stdout)
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "localstack:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) (err error) {
	root, err := installed.Root()
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "docent-localstack-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	begin := time.Now()
	s, err := start(ctx, root, folder)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			fmt.Fprintf(out, "\nLocalStack's log ends with:\n%s\n", s.tail())
		}
		err = errors.Join(err, s.stop())
	}()
	fmt.Fprintf(out, "LocalStack answers at %s after %s\n\n== localstack/deploy\n", s.endpoint, time.Since(begin).Round(time.Second))

	begin = time.Now()
	var printed bytes.Buffer
	deploy := exec.CommandContext(ctx, filepath.Join(root, "localstack", "deploy"))
	deploy.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+s.endpoint, "CI=true") // without colours and progress bars
	deploy.Stdout, deploy.Stderr = io.MultiWriter(&printed, out), out
	if err := deploy.Run(); err != nil {
		return fmt.Errorf("localstack/deploy: %w", err)
	}
	fmt.Fprintf(out, "\n== deployed after %s; each resource of the template\n", time.Since(begin).Round(time.Second))
	if err := s.check(ctx, out); err != nil {
		return fmt.Errorf("check the resources: %w", err)
	}
	fmt.Fprintf(out, "\n== the requests that it prints\n")
	return play(ctx, root, printed.String(), out)
}

// check compares the resources in LocalStack with the template.
func (s *server) check(ctx context.Context, out io.Writer) error {
	program := exec.CommandContext(ctx, s.python, "-B", filepath.Join(s.scripts, "check.py"), filepath.Join(s.root, template), "docent")
	program.Env = []string{"AWS_ENDPOINT_URL=" + s.endpoint, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test",
		"AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull}
	program.Stdout, program.Stderr = out, out
	return program.Run()
}
