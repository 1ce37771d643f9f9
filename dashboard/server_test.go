package dashboard_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"

	"docent/dashboard"
	"docent/shared/app"
	"docent/shared/app/parts/agents"
	"docent/shared/app/parts/identity"
	"docent/shared/app/parts/saml"
)

// serve runs the whole product with its demo team, and returns the link that it prints.
func serve(t testing.TB) (link string) {
	t.Helper()
	return serveWith(t, app.Parts{FetchSAML: saml.Fetcher(), SignOn: identity.Providers()})
}

// serveWith is serve with some parts, to which it adds those that every test has.
func serveWith(t testing.TB, p app.Parts) (link string) {
	t.Helper()
	p.Tools, p.ParseSAML, p.Pages = agents.Tools, saml.Parse, dashboard.Pages(true, "")
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	out, in := io.Pipe()
	ended := make(chan error, 1)
	folder := t.TempDir() // before the cleanup, so that it is removed after the server has ended
	go func() {
		ended <- app.Serve(ctx, app.ServeConfig{DataDir: folder, Addr: "127.0.0.1:0", Program: "docent", Demo: true, Out: in,
			Log: slog.New(slog.DiscardHandler), Parts: p})
		_ = in.Close()
	}()
	t.Cleanup(func() {
		cancel()
		_, _ = io.Copy(io.Discard, out)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); strings.Contains(line, "/dashboard/#/sign-in/") {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return line
		}
	}
	t.Fatal("docent serve prints no link")
	return ""
}
