package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"docent/testkit/apitest"
)

// piped makes standard input one that the returned end writes. A test that calls it is not parallel: standard input is the process's.
func piped(t *testing.T) *os.File {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stdin
	os.Stdin = read
	t.Cleanup(func() {
		os.Stdin = before
		_ = write.Close()
		_ = read.Close()
	})
	return write
}

// TestADashReadsTheQuestion: a hyphen stands for standard input, as in the commands that take files, and is not asked.
func TestADashReadsTheQuestion(t *testing.T) {
	api := apitest.New(t)
	var sent []byte
	api.Refuse = func(w http.ResponseWriter, r *http.Request) bool {
		sent, _ = io.ReadAll(r.Body)
		apitest.Problem(w, http.StatusForbidden, "missing-scope", "Only the request is of interest.")
		return true
	}
	for _, command := range []string{"ask", "search", "research"} {
		for text, want := range map[string]struct {
			status int
			said   string
		}{
			"\ufeffHow do I undo?\n": {exitFailed, "Only the request is of interest."},
			" \n":                    {exitUsage, "standard input, which - stands for, is empty"},
		} {
			sent = nil
			in := piped(t)
			if _, err := in.WriteString(text); err != nil {
				t.Fatal(err)
			}
			_ = in.Close()
			status, out, said := docent(t, command, "--server", api.URL, "--key", apitest.Key, "-")
			if status != want.status || !strings.Contains(said, want.said) || bytes.Contains(sent, []byte(`"How do I undo?"`)) != (status == exitFailed) {
				t.Errorf("%s - with %q: status %d, sent %s, %s%s", command, text, status, sent, out, said)
			}
		}
	}
}

// TestAnInterruptEndsReadingStandardInput: one interrupt is enough while a command waits for a terminal or for the other end of a pipe.
func TestAnInterruptEndsReadingStandardInput(t *testing.T) {
	api := apitest.New(t)
	for _, args := range [][]string{
		{"ask", "-"}, {"eval", "-"}, {"source", "import", "x", "-"}, {"team", "saml", "set", "-"}, {"restore", "--data", t.TempDir(), "-"},
	} {
		piped(t)
		if args[0] != "restore" {
			args = append(args, "--server", api.URL, "--key", apitest.Key)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		var status int
		var out, said bytes.Buffer
		go func() {
			status = run(ctx, args, &out, &said)
			close(ended)
		}()
		stop()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatalf("%q goes on", args)
		}
		if status != exitFailed || !strings.Contains(said.String(), "stopped before it was done") {
			t.Errorf("%q: status %d, %s%s", args, status, &out, &said)
		}
	}
}
