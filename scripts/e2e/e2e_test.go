package main

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"docent/dashboard"
	"docent/shared/app"
	"docent/shared/app/parts/agents"
	"docent/shared/app/parts/connectors"
	"docent/shared/app/parts/identity"
	"docent/shared/app/parts/saml"
	"docent/shared/team"
)

// newTarget serves Docent in this process, with the two teams of the scripts.
func newTarget(t *testing.T) Target {
	t.Helper()
	folder := t.TempDir()
	h := Target{Name: "serve"}
	local, err := app.OpenLocal(t.Context(), folder, app.LocalOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]*string{ours: &h.Admin, theirs: &h.Rival} {
		made, user, err := local.Teams.CreateTeam(t.Context(), name, "ada@"+name+".example")
		if err != nil {
			t.Fatal(err)
		}
		if _, *key, err = local.Teams.CreateKey(t.Context(), made.ID, team.NewKey{Kind: team.KindPersonal, Name: "scripts", UserID: user.ID}); err != nil {
			t.Fatal(err)
		}
	}
	if err := local.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	greeting, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- app.Serve(ctx, app.ServeConfig{DataDir: folder, Addr: "127.0.0.1:0", Out: out,
			Parts: app.Parts{Tools: agents.Tools, Connect: connectors.Public, ParseSAML: saml.Parse, FetchSAML: saml.Fetcher(), SignOn: identity.Providers(), Pages: dashboard.Pages(true, "")}, Log: slog.New(slog.DiscardHandler)})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	line, err := bufio.NewReader(greeting).ReadString('\n')
	if h.Base = regexp.MustCompile(`http://\S+`).FindString(line); err != nil || h.Base == "" {
		t.Fatalf("%q, %v", line, err)
	}
	h.At = h.Base
	return h
}

// TestScriptsAtServe plays every script as make e2e does, but without binaries.
func TestScriptsAtServe(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var out strings.Builder
	for _, o := range play(newTarget(t), files, &out) {
		if o.failed {
			t.Errorf("%s failed", o.name)
		}
	}
	if t.Failed() {
		t.Log(out.String())
	}
}

// TestAScriptThatIsWrongFails checks that an unmet expectation ends a script with its line and the reply.
func TestAScriptThatIsWrongFails(t *testing.T) {
	t.Parallel()
	h := newTarget(t)
	for _, tt := range []struct{ name, script, want string }{
		{"status", "GET /me\nstatus 204", "want status 204 of GET /me: 200"},
		{"member", "GET /me\nis key.kind personal", `key.kind is "team"`},
		{"member that must not match", "GET /me\n! is key.kind team", `key.kind is "team"`},
		{"pattern", "GET /me\nlike key.kind ^p", `key.kind is "team"`},
		{"text", "GET /me\nhas nowhere", `"nowhere": not as expected`},
		{"text that must not occur", "GET /me\n! has kind", `"kind": not as expected`},
		{"header", "GET /me\nheader X-Nothing .", "header X-Nothing"},
		{"nothing to save", "GET /me\nsave ID no.such", "there is no no.such"},
		{"an unknown argument", "GET /me why", `"why" is neither`},
		{"unknown command", "FETCH /me", "unknown command"},
		{"a fault that is impossible", "fault tables", "nothing of this target can be broken"},
		{"an invalid key", "GET /me as=docent_team_x\nstatus 200", "401"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "wrong.txt")
			if err := os.WriteFile(file, []byte(tt.script+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			outcomes := play(h, []string{file}, &out)
			if len(outcomes) != 1 || !outcomes[0].failed || !strings.Contains(out.String(), tt.want) {
				t.Errorf("%+v\n%s", outcomes, &out)
			}
		})
	}
}

func TestTheTapBreaksOnePartAndKeepsWhatIsDenied(t *testing.T) {
	t.Parallel()
	aws := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/denied" {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte("AccessDenied: not yours"))
		}
	}))
	t.Cleanup(aws.Close)
	p, err := newFaultProxy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	if err := p.forwardTo(aws.URL); err != nil {
		t.Fatal(err)
	}
	status := func(service, path string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/"+service+"/aws4_request, Signature=s")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0
		}
		response.Body.Close()
		return response.StatusCode
	}
	for part, want := range map[string]map[string]int{
		"none":   {"dynamodb": 200, "sqs": 200, "s3": 200},
		"tables": {"dynamodb": 400, "sqs": 200, "s3": 200},
		"queues": {"dynamodb": 200, "sqs": 0, "s3": 200},
		"bucket": {"dynamodb": 200, "sqs": 200, "s3": 404},
	} {
		if err := p.fault(part); err != nil {
			t.Fatal(err)
		}
		for service, code := range want {
			if got := status(service, "/"); got != code {
				t.Errorf("%s broken: %s gives %d, want %d", part, service, got, code)
			}
		}
	}
	if err := p.fault("network"); err == nil {
		t.Error("a part that there is none of was broken")
	}
	if err := p.fault("none"); err != nil || len(p.refusals()) != 0 {
		t.Errorf("%v, %v", err, p.refusals())
	}
	if code := status("s3", "/denied"); code != 403 || len(p.refusals()) != 1 {
		t.Errorf("%d, %v", code, p.refusals())
	}
}
