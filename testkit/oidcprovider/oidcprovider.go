// Package oidcprovider runs an OpenID Connect provider that shares no code with Docent: the npm
// package oidc-provider.
package oidcprovider

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"docent/testkit/installed"
)

// Client is a program that may sign people in there.
type Client struct {
	ID        string   `json:"client_id"`
	Secret    string   `json:"client_secret,omitempty"`
	Redirects []string `json:"redirect_uris"`
	Auth      string   `json:"token_endpoint_auth_method,omitempty"` // client_secret_basic if empty; none: no secret
	Signature string   `json:"id_token_signed_response_alg,omitempty"`
}

// User is what the provider says of a person.
type User struct {
	Email    string `json:"email,omitempty"`
	Verified bool   `json:"email_verified"`
}

// patience bounds a request.
const patience = 20 * time.Second

// Provider is a running provider.
type Provider struct{ Issuer string }

// Where the provider says the e-mail address of a person.
const (
	InToken  = true  // in the ID token too, as many providers
	UserInfo = false // at the UserInfo endpoint only, as the standard has it with the code flow
)

// Start runs a provider with clients, and users by their subjects, until the test ends. inToken is
// InToken or UserInfo. If it is not installed the test is skipped, or fails in CI.
func Start(t testing.TB, clients []Client, users map[string]User, inToken bool) *Provider {
	t.Helper()
	root, err := installed.Root()
	if err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(root, ".cache", "oidcprovider")
	_, missing := os.Stat(filepath.Join(modules, "node_modules", "oidc-provider"))
	node, err := exec.LookPath("node")
	if err := errors.Join(missing, err); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("oidc-provider is not installed: run make oidcprovider (%v)", err)
		}
		t.Skip("oidc-provider is not installed: run make oidcprovider")
	}
	text, err := json.Marshal(map[string]any{"clients": clients, "users": users, "inToken": inToken})
	if err != nil {
		t.Fatal(err)
	}
	var faults strings.Builder
	cmd := exec.Command(node, filepath.Join(root, "testkit", "oidcprovider", "provider.mjs"), modules)
	cmd.Stderr = &faults
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	if _, err := in.Write(append(text, '\n')); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	issuer, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("oidc-provider has not started: %v\n%s", err, faults.String())
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return &Provider{strings.TrimSpace(issuer)}
}

// Visit opens the address to which a program has sent a browser, signs in as the user with the
// subject, and returns where the provider sends the browser back. A subject that is not a user's is
// refused.
func (p *Provider) Visit(t testing.TB, address, subject string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil || u.Scheme+"://"+u.Host != p.Issuer {
		t.Fatalf("the browser was not sent to the provider, but to %s (%v)", address, err)
	}
	q := u.Query()
	q.Set("login_hint", subject)
	u.RawQuery = q.Encode()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	var back *url.URL
	client := &http.Client{Jar: jar, Timeout: patience, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if r.URL.Host == u.Host {
			return nil
		}
		back = r.URL
		return http.ErrUseLastResponse
	}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, u.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || back == nil {
		t.Fatalf("the provider answered with status %d and leads nowhere (%v): %s", reply.StatusCode, err, text)
	}
	return back
}
