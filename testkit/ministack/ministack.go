// Package ministack starts MiniStack, an emulator of AWS that needs no containers. It deploys CloudFormation
// templates, runs the binaries of functions, is their API Gateway, checks every call against the policies of the
// caller, and keeps tables, queues, buckets and keys in memory.
package ministack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"docent/testkit/emulator"
)

// Region and Account are the same for everything in it.
const (
	Region  = "us-east-1"
	Account = "000000000000"
)

// Server is a running emulator.
type Server struct {
	Endpoint string // of AWS's protocols, without a trailing slash
	root     string
	server   *emulator.Server
}

// Start starts the emulator that scripts/venv ministack installed below root, empty, on the loopback interface. Its
// functions reach AWS at functionsAWS (empty: at the emulator itself). Its output goes to log.
func Start(ctx context.Context, root, functionsAWS string, log io.Writer) (*Server, error) {
	program := filepath.Join(root, ".cache", "ministack", "bin", "ministack")
	if _, err := os.Stat(program); err != nil {
		return nil, errors.New("MiniStack is not installed: run scripts/venv ministack")
	}
	address, err := emulator.FreeAddress(ctx)
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	s := &Server{Endpoint: "http://" + address, root: root}
	if functionsAWS == "" {
		functionsAWS = s.Endpoint
	}
	s.server, err = emulator.Start(ctx, emulator.Options{Program: program, Output: log,
		// Nothing of this process's environment reaches the functions.
		Environment: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir(), "PYTHONUNBUFFERED=1", "GATEWAY_PORT=" + port,
			"BIND_HOST=127.0.0.1", "MINISTACK_HOST=127.0.0.1", "MINISTACK_REGION=" + Region, "MINISTACK_ACCOUNT_ID=" + Account,
			"AUTH=true", // every call is checked against the policies of its caller
			"DOCENT_AWS_ENDPOINT=" + functionsAWS}})
	if err != nil {
		return nil, err
	}
	if err := s.server.Ready(ctx, s.Endpoint+"/_ministack/health"); err != nil {
		return nil, fmt.Errorf("start MiniStack: %w", errors.Join(err, s.Stop()))
	}
	return s, nil
}

// Version returns the version to which the list of its packages pins it.
func (s *Server) Version() string {
	list, err := os.ReadFile(filepath.Join(s.root, "testkit", "ministack", "requirements.txt"))
	if err != nil {
		return "of an unknown version"
	}
	_, after, _ := strings.Cut(string(list), "\nministack==")
	version, _, _ := strings.Cut(after, "\n")
	return version
}

// Stop ends the emulator and everything in it.
func (s *Server) Stop() error { return s.server.Stop() }

// Config returns the settings of an AWS client with all rights in the emulator.
func (s *Server) Config() aws.Config {
	return aws.Config{Region: Region, BaseEndpoint: &s.Endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")}
}

// Environment returns the variables with which a program uses the emulator as AWS.
func (s *Server) Environment() []string {
	return []string{"AWS_REGION=" + Region, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_ENDPOINT_URL=" + s.Endpoint,
		"AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull}
}
