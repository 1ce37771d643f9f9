// Package moto starts moto_server, which speaks the protocols of DynamoDB, SQS, S3 and KMS, for the tests of the
// engines that need AWS.
package moto

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"docent/testkit/emulator"
	"docent/testkit/installed"
)

// startWait is how long the server may take to listen.
const startWait = 2 * time.Minute

// errMissing means that the server is not installed.
var errMissing = errors.New("moto_server is not installed: run make moto")

// Start returns the endpoint of a server on the loopback interface. The first call starts it, all tests of one test
// binary share it, and it ends with the process. Nothing is reset between tests: each uses its own names. If the
// server is not installed, the test is skipped; in CI (CI=true) it fails.
func Start(t testing.TB) (endpoint string) {
	t.Helper()
	endpoint, err := start()
	switch {
	case errors.Is(err, errMissing) && os.Getenv("CI") != "true":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	return endpoint
}

// Run is Start for a program that is not a test.
func Run() (endpoint string, err error) { return start() }

// Config returns the settings of an AWS client that uses endpoint.
func Config(endpoint string) aws.Config {
	return aws.Config{
		Region:       "us-east-1",
		BaseEndpoint: aws.String(endpoint),
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
	}
}

var start = sync.OnceValues(func() (string, error) {
	program, err := find()
	if err != nil {
		return "", err
	}
	endpoint, err := run(program)
	if err != nil {
		return "", fmt.Errorf("start %s: %w", program, err)
	}
	return endpoint, nil
})

//go:embed server.py
var server string

// find returns the path of the Python that has the server.
func find() (string, error) {
	program, err := installed.Program("moto", "moto_server") // installed last
	if err == nil {
		program, err = installed.Program("moto", "python3")
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = errMissing
	}
	return program, err
}

// run starts the server, which ends with this process.
func run(program string) (endpoint string, err error) {
	output, printed := io.Pipe()
	process, err := emulator.Start(context.Background(), emulator.Options{Program: program, Arguments: []string{"-c", server, "-H", "127.0.0.1", "-p", "0"},
		Environment: append(os.Environ(), "PYTHONUNBUFFERED=1", "NO_COLOR=1"), Output: printed})
	if err != nil {
		return "", err
	}
	go func() {
		process.Wait()
		printed.Close()
	}()
	found := make(chan string, 1)
	go read(output, found)
	select {
	case endpoint, ok := <-found:
		if !ok {
			return "", errors.New("it ended before it listened")
		}
		return endpoint, nil
	case <-time.After(startWait):
		return "", errors.Join(fmt.Errorf("it did not listen within %v", startWait), process.Stop())
	}
}

var listening = regexp.MustCompile(`Running on (http://127\.0\.0\.1:\d+)`)

// read sends the endpoint that the server reports. It continues to read, so that the server never blocks on a full
// pipe.
func read(output io.Reader, found chan<- string) {
	defer close(found)
	lines := bufio.NewReader(output)
	for reported := false; ; {
		line, err := lines.ReadString('\n')
		if m := listening.FindStringSubmatch(line); m != nil && !reported {
			found <- m[1]
			reported = true
		}
		if err != nil {
			return
		}
	}
}
