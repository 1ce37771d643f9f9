// Package sdk_test runs the tests of the SDKs, and programs that use other libraries, against docent serve.
package sdk_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"docent/testkit/installed"
	"docent/testkit/serving"
)

// missing skips the test because the programs that verb installs are not there, or fails it in CI.
func missing(t *testing.T, verb string) {
	t.Helper()
	text := "this machine lacks what `make " + verb + "` installs"
	if os.Getenv("CI") == "true" {
		t.Fatal(text)
	}
	t.Skip(text)
}

func repositoryRoot(t *testing.T) string {
	t.Helper()
	root, err := installed.Root()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// need returns the path of a file below .cache, which verb installs.
func need(t *testing.T, verb string, parts ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{repositoryRoot(t), ".cache"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		missing(t, verb)
	}
	return path
}

// shared is a folder for what all tests use.
var shared string

// build builds the program once for all tests.
var build = sync.OnceValues(func() (string, error) {
	program := filepath.Join(shared, "docent")
	if out, err := exec.Command("go", "build", "-o", program, "docent/cmd/docent").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return program, nil
})

func TestMain(m *testing.M) {
	var err error
	if shared, err = os.MkdirTemp("", "docent-sdk-"); err != nil {
		log.Fatal(err)
	}
	code := m.Run()
	_ = os.RemoveAll(shared)
	os.Exit(code)
}

// server is a running docent serve with one team.
type server struct {
	base    string // ends in /v1
	key     string // of the team
	program string
	data    string
	team    serving.Team
}

// serve starts docent serve with a team, until the test ends.
func serve(t *testing.T) server {
	t.Helper()
	program, err := build()
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "data")
	made, err := serving.NewTeam(t.Context(), program, "Acme", "--data", data)
	if err != nil {
		t.Fatal(err)
	}
	key, err := serving.NewTeamKey(t.Context(), program, data, made.ID, "sdk")
	if err != nil {
		t.Fatal(err)
	}
	running, err := serving.Start(context.Background(), serving.Options{Program: program, Data: data, Flags: []string{"--no-meaning"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := running.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server{base: running.Base, key: key, program: program, data: data, team: made}
}

// run runs a program in a folder and returns what it prints. The program finds the server by its environment.
func (s server) run(t *testing.T, folder, program string, arguments ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, arguments...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "DOCENT_SERVER="+s.base, "DOCENT_API_KEY="+s.key, "NO_COLOR=1")
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", filepath.Base(program), strings.Join(arguments, " "), err, tail(out.String()), tail(problems.String()))
	}
	return out.String()
}

// tail returns the end of a long text.
func tail(text string) string { return text[max(0, len(text)-8000):] }
