package main_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"docent/testkit/installed"
)

// maxProgram is the size limit of the program as make build links it. CONTRIBUTING.md says what its dependencies
// cost.
const maxProgram = 56_200_000

// TestREADMECommands runs every command of the README in order, against the
// program as it is built, on a new data folder. `make` lines are checked against
// the Makefile's verbs, because running them here would run this test.
func TestREADMECommands(t *testing.T) {
	t.Parallel()
	root := repositoryRoot(t)
	work := t.TempDir()
	binary := filepath.Join(work, "bin", "docent")
	run(t, root, "go", "build", "-ldflags", "-s -w", "-o", binary, "./cmd/docent")
	if info, err := os.Stat(binary); err != nil || info.Size() > maxProgram {
		t.Errorf("the program is over %d bytes: %v, %v", maxProgram, info, err)
	}
	address := freeAddress(t)
	key, stop := serve(t, binary, work, address)
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	var script strings.Builder
	fmt.Fprintf(&script, "set -eu -o pipefail\nexport DOCENT_SERVER=http://%s/v1 XDG_CACHE_HOME=%s/cache\n", address, work)
	flush := func() {
		cmd := exec.CommandContext(t.Context(), "bash", "-c", script.String())
		cmd.Dir = work
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Fatalf("the README's commands fail: %v", err)
		}
		if stopped {
			return
		}
		for _, want := range []string{"1,000", "release manager approves", "deployctl undo", `\n\n> **To roll back a release`, `"state":"complete"`} {
			if !strings.Contains(string(out), want) {
				t.Errorf("the README's commands did not print %q", want)
			}
		}
		if n := strings.Count(string(out), "roof of the old brewery"); n != 1 {
			t.Errorf("the private page was quoted %d times: Ada reads it, Ben does not", n)
		}
		if !strings.Contains(string(out), "Nothing in the documents that you can read answers this.") {
			t.Error("Ben got an answer from another page")
		}
	}
	for _, command := range commands(t, filepath.Join(root, "README.md")) {
		if verb, ok := strings.CutPrefix(command, "make "); ok {
			verb, _, _ = strings.Cut(verb, " ")
			if !regexp.MustCompile(`(?m)^` + verb + `:.*## `).Match(makefile) {
				t.Errorf("the Makefile has no verb %s", verb)
			}
			continue
		}
		if strings.Contains(command, "--data") && !stopped {
			flush()
			stop()
			stopped = true
			script.Reset()
			fmt.Fprintf(&script, "set -eu -o pipefail\nTEAM=$(bin/docent team create --data ./data --name Other --admin eve@other.example --json | sed -n 's/.*\"id\": \"\\([^\"]*\\)\".*/\\1/p' | head -n 1)\n")
		}
		command = strings.ReplaceAll(command, "docent_team_...", key)
		script.WriteString(strings.NewReplacer("127.0.0.1:8080", address, "/tmp/", work+"/").Replace(command) + "\n")
	}
	flush()
}

// TestREADMENamesEveryFolder compares "Where things live" with the folders of the repository.
func TestREADMENamesEveryFolder(t *testing.T) {
	t.Parallel()
	root := repositoryRoot(t)
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "## Where things live\n")
	if !found {
		t.Fatal("the README does not say where things live")
	}
	for _, top := range []string{"cmd", "functions", "infra", "scripts", "shared", "testkit"} {
		if !strings.Contains(section, "`"+top) {
			t.Errorf("%s is not named", top)
		}
		entries, err := os.ReadDir(filepath.Join(root, top))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !e.IsDir() || strings.HasPrefix(e.Name(), "cdk.") || top == "infra" {
				continue
			}
			if !strings.Contains(section, "`"+e.Name()+"`") && !strings.Contains(section, "`"+top+"/"+e.Name()+"`") {
				t.Errorf("%s/%s is not named", top, e.Name())
			}
		}
	}
}

// commands returns the lines of the README's sh blocks.
func commands(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, block := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```").FindAllStringSubmatch(string(text), -1) {
		all = append(all, strings.Split(strings.TrimSpace(block[1]), "\n")...)
	}
	if len(all) < 10 {
		t.Fatalf("found %d commands in the README", len(all))
	}
	return all
}

// serve starts docent serve as make run does and returns the demo's team key.
func serve(t *testing.T, binary, dir, address string) (key string, stop func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, "serve", "--data", "./data", "--addr", address)
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	stop = func() {
		if ended {
			return
		}
		ended = true
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("docent serve did not end well: %v", err)
		}
	}
	t.Cleanup(stop)
	keys := make(chan string)
	go func() {
		defer close(keys)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if text, ok := strings.CutPrefix(strings.TrimSpace(lines.Text()), "team key"); ok {
				keys <- strings.TrimSpace(text)
			}
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case key = <-keys:
	case <-ctx.Done():
		t.Fatal("docent serve printed no team key")
	}
	go func() {
		for range keys { // the rest of the output is discarded
		}
	}()
	if reply, err := http.Get("http://" + address + "/healthz"); err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("healthz: %v", err)
	} else {
		_ = reply.Body.Close()
	}
	return key, stop
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

func repositoryRoot(t *testing.T) string {
	t.Helper()
	root, err := installed.Root()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}
