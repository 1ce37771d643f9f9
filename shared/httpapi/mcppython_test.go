package httpapi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestThePythonClientCallsEveryTool lets the official Python SDK, which shares no code with the
// server, connect in each way that it supports. If the SDK is not installed, it is skipped, or
// fails in CI.
func TestThePythonClientCallsEveryTool(t *testing.T) {
	t.Parallel()
	script := filepath.Join("..", "..", "testkit", "mcpclient", "client.py")
	python := filepath.Join("..", "..", ".cache", "mcpclient", "bin", "python3")
	if _, err := os.Stat(python); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("the Python client is not installed: run make mcpclient")
		}
		t.Skip("the Python client is not installed: run make mcpclient")
	}
	for _, mode := range []string{"legacy", "auto"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t)
			acme := a.newTenant("acme")
			a.tracker(acme)
			a.clock.Step(7_000_000_000) // waiting for an answer is over after three looks
			server := httptest.NewServer(a.handler)
			defer server.Close()
			calls := make(map[string]map[string]any)
			for name, call := range toolCalls {
				calls[name] = call.arguments
			}
			input, err := json.Marshal(calls)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), python, script, server.URL+"/v1/mcp", mode)
			cmd.Env = append(os.Environ(), "DOCENT_API_KEY="+acme.pat, "PYTHONDONTWRITEBYTECODE=1")
			cmd.Stdin = bytes.NewReader(input)
			output, err := cmd.Output()
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				t.Fatalf("%v: %s", err, exit.Stderr)
			}
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Server, Protocol, Refusal string
				Tools                     []string
				Replies                   map[string]struct {
					Text  string
					Error bool
				}
			}
			if err := json.Unmarshal(output, &got); err != nil {
				t.Fatalf("%v: %s", err, output)
			}
			if got.Server != "docent" || got.Protocol == "" {
				t.Errorf("%q speaks %q", got.Server, got.Protocol)
			}
			if len(got.Tools) != len(toolCalls) {
				t.Errorf("tools %q: toolCalls in mcp_test.go must call every one, and no other", got.Tools)
			}
			if got.Refusal != "A valid API key is required." {
				t.Errorf("with a wrong key it says %q", got.Refusal)
			}
			for name, call := range toolCalls {
				if !slices.Contains(got.Tools, name) {
					t.Errorf("%s is not listed", name)
				}
				if reply := got.Replies[name]; reply.Error || !strings.Contains(reply.Text, call.holds) {
					t.Errorf("%s: %t %s", name, reply.Error, reply.Text)
				}
			}
		})
	}
}
