// Package ministack starts MiniStack, an emulator of AWS that needs no containers: it
// deploys CloudFormation templates, runs the binaries of functions, stands before them
// as API Gateway, holds every call to the policies of who makes it, and keeps tables,
// queues, buckets and keys in memory.
package ministack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// Region and Account are those of everything in it.
const (
	Region  = "us-east-1"
	Account = "000000000000"
)

// startWait bounds how long it may take to listen.
const startWait = 2 * time.Minute

// Server is a running emulator.
type Server struct {
	Endpoint string // of AWS's protocols, without a slash at its end
	root     string
	command  *exec.Cmd
	lifeline io.Closer // its standard input, whose end stops it
}

// guard runs the emulator beside a cat of standard input and ends it when that ends,
// which the system sees to even if this process is killed.
const guard = `exec 3<&0; "$1" </dev/null & server=$!; cat <&3 >/dev/null; kill $server; wait $server`

// Start starts the emulator that scripts/venv ministack put below root, on the
// loopback interface and with nothing in it. The functions that it runs are told to
// reach AWS at functionsAWS (empty: at the emulator itself). What it prints goes to log.
func Start(ctx context.Context, root, functionsAWS string, log io.Writer) (*Server, error) {
	program := filepath.Join(root, ".cache", "ministack", "bin", "ministack")
	if _, err := os.Stat(program); err != nil {
		return nil, errors.New("MiniStack is not installed: run scripts/venv ministack")
	}
	address, port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	s := &Server{Endpoint: "http://" + address, root: root}
	if functionsAWS == "" {
		functionsAWS = s.Endpoint
	}
	s.command = exec.CommandContext(ctx, "/bin/sh", "-c", guard, "sh", program)
	// Nothing of this process's environment reaches the functions.
	s.command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir(), "PYTHONUNBUFFERED=1", "GATEWAY_PORT=" + port,
		"BIND_HOST=127.0.0.1", "MINISTACK_HOST=127.0.0.1", "MINISTACK_REGION=" + Region, "MINISTACK_ACCOUNT_ID=" + Account,
		"AUTH=true", // every call is held to the policies of its caller
		"DOCENT_AWS_ENDPOINT=" + functionsAWS}
	s.command.Stdout, s.command.Stderr = log, log
	if s.lifeline, err = s.command.StdinPipe(); err != nil {
		return nil, err
	}
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	if err := s.ready(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Server) ready(ctx context.Context) error {
	for end := time.Now().Add(startWait); ; {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Endpoint+"/_ministack/health", nil)
		if err != nil {
			return err
		}
		if response, err := http.DefaultClient.Do(request); err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(end) {
			return fmt.Errorf("MiniStack did not listen within %v", startWait)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// Version is what the list of its packages pins it to.
func (s *Server) Version() string {
	list, err := os.ReadFile(filepath.Join(s.root, "testkit", "ministack", "requirements.txt"))
	if err != nil {
		return "of an unknown version"
	}
	_, after, _ := strings.Cut(string(list), "\nministack==")
	version, _, _ := strings.Cut(after, "\n")
	return version
}

// Stop ends the emulator and all that is in it.
func (s *Server) Stop() error {
	err := s.lifeline.Close()
	_ = s.command.Wait() // it was ended, which is what it reports
	return err
}

// Config returns the settings of an AWS client with all rights in the emulator.
func (s *Server) Config() aws.Config {
	return aws.Config{Region: Region, BaseEndpoint: &s.Endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")}
}

// Environment is what a program needs to take the emulator for AWS.
func (s *Server) Environment() []string {
	return []string{"AWS_REGION=" + Region, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_ENDPOINT_URL=" + s.Endpoint,
		"AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull}
}

// freePort is one that nobody listens on just now.
func freePort(ctx context.Context) (address, port string, err error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	address = l.Addr().String()
	_, port, err = net.SplitHostPort(address)
	return address, port, errors.Join(err, l.Close())
}
