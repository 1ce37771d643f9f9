package main

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"docent/shared/app"
	"docent/shared/app/parts/connectors"
	"docent/shared/connect/github/githubtest"
	"docent/shared/connect/slack/slacktest"
	"docent/shared/fetch"
	"docent/shared/fetch/page"
	"docent/shared/team"
)

// fixture is an installation that a test opens and closes.
type fixture struct {
	t         testing.TB
	dir       string
	local     *app.Local
	web       *httptest.Server
	key, pat  string
	closeOnce func()
	parts     app.Parts
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	return newFixtureOf(t, app.Parts{})
}

func newFixtureOf(t testing.TB, parts app.Parts) *fixture {
	t.Helper()
	o := &fixture{t: t, dir: t.TempDir(), closeOnce: func() {}, parts: parts}
	o.open()
	made, admin, err := o.local.Teams.CreateTeam(t.Context(), "Acme", "ada@acme.test")
	if err != nil {
		t.Fatal(err)
	}
	if _, o.key, err = o.local.Teams.CreateKey(t.Context(), made.ID, team.NewKey{Kind: team.KindTeam, Name: "team"}); err != nil {
		t.Fatal(err)
	}
	if _, o.pat, err = o.local.Teams.CreateKey(t.Context(), made.ID, team.NewKey{Kind: team.KindPersonal, Name: "ada", UserID: admin.ID}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.closeOnce() })
	return o
}

func (o *fixture) open() {
	o.t.Helper()
	var err error
	if o.local, err = app.OpenLocal(o.t.Context(), o.dir, app.LocalOptions{Log: slog.New(slog.DiscardHandler), NoSync: true, Parts: o.parts}); err != nil {
		o.t.Fatal(err)
	}
	o.web = httptest.NewServer(o.local.Handler("https://docent.example/v1"))
	o.closeOnce = func() {
		o.closeOnce = func() {}
		o.web.Close()
		if err := o.local.Close(); err != nil {
			o.t.Error(err)
		}
	}
}

// run runs a command of a client and fails the test unless it ends as expected.
func (o *fixture) run(key string, status int, out, errOut string, args ...string) string {
	o.t.Helper()
	s, output, errOutput := docent(o.t, append(args, "--server", o.web.URL, "--key", key)...)
	if s != status || !strings.Contains(output, out) || !strings.Contains(errOutput, errOut) {
		o.t.Fatalf("%v: status %d, output %q, errors %q", args, s, output, errOutput)
	}
	return output
}

// index does the waiting work.
func (o *fixture) index() {
	o.t.Helper()
	if err := o.local.Drain(o.t.Context()); err != nil {
		o.t.Fatal(err)
	}
}

var sourceID = regexp.MustCompile(`Data source ([0-9a-f-]{36})`)

func (o *fixture) add(args ...string) (id string) {
	o.t.Helper()
	out := o.run(o.pat, 0, "Data source ", "", append([]string{"source", "add"}, args...)...)
	return sourceID.FindStringSubmatch(out)[1]
}

func (o *fixture) file(name, text string) string {
	o.t.Helper()
	file := filepath.Join(o.t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		o.t.Fatal(err)
	}
	return file
}

func TestImportedItemsAreFound(t *testing.T) {
	t.Parallel()
	o := newFixture(t)
	o.run(o.pat, 0, "ID", "", "source", "list")
	id := o.add("jira", "--name", "tracker")
	o.run(o.key, 1, "", "admin", "source", "add", "jira", "--name", "tracker")
	good := `{"uri":"https://jira.test/1","title":"Login fails","body":"The login fails \u001b[31mafter an hour.","sourceType":"issue","number":"1","state":"open"}` + "\n"
	o.run(o.pat, 1, "1 accepted, 1 rejected", "line 2: title is missing", "source", "import", id,
		o.file("a.jsonl", good+`{"uri":"https://jira.test/2","body":"","sourceType":"issue"}`+"\n"))
	o.run(o.pat, 0, "1 accepted, 0 rejected", "", "source", "import", id, o.file("b.jsonl", good))
	o.run(o.pat, 0, "1 accepted, 0 rejected", "", "source", "import", id, o.file("c.jsonl", "\ufeff"+strings.ReplaceAll(good, "\n", "\r\n")))
	o.run(o.pat, 1, "1 accepted, 1 rejected", "read line 2 of the file: it is longer than 10 MB", "source", "import", id, o.file("d.jsonl", good+strings.Repeat("x", maxLine+1)))
	o.index()
	out := o.run(o.key, 0, "1. Login fails (issue, jira)\n   https://jira.test/1\n", "", "search", "--space", "issues", "login")
	if strings.Contains(out, "\x1b") {
		t.Errorf("an escape sequence reaches the terminal: %q", out)
	}
	o.run(o.key, 0, "Nothing was found.", "", "search", "--space", "prs", "login")
	o.run(o.key, 0, `"sourceType": "issue"`, "", "search", "--json", "login")
	o.run(o.key, 2, "", "--space must be one of", "search", "--space", "mails", "login")
	o.run(o.key, 2, "", "the query is empty", "research", " ")
	o.run(o.key, 0, "https://jira.test/1", "", "research", "Why does the login fail?")
	o.run(o.key, 0, `"answer"`, "", "research", "--json", "--effort", "high", "Why does the login fail?")
	o.run(o.key, 0, "after an hour.", "", "get", "https://jira.test/1")
	o.run(o.key, 1, "after an hour.", "https://jira.test/9: No data source contains this URL", "get", "https://jira.test/1", "https://jira.test/9")
	o.run(o.key, 1, `"results"`, "", "get", "--json", "https://jira.test/9")
	o.run(o.pat, 0, "jira", "", "source", "list")
	o.run(o.pat, 0, `"provider": "jira"`, "", "source", "list", "--json")
	o.run(o.pat, 0, "Removed.", "", "source", "remove", id)
	o.run(o.key, 0, "Nothing was found.", "", "search", "login")
	o.run(o.pat, 1, "", "no such data source", "source", "remove", id)
	if out := o.run(o.pat, 1, "", "no such data source", "source", "import", id, o.file("c.jsonl", good)); out != "" {
		t.Errorf("an import into nothing prints %q", out)
	}
}

func TestASlackExportIsImported(t *testing.T) {
	t.Parallel()
	o := newFixture(t)
	o.run(o.pat, 1, "", "docent: set DOCENT_TEST_UNSET, or name another variable with --bot-token-env (", "source", "add", "slack", "--name", "chat", "--bot-token-env", "DOCENT_TEST_UNSET")
	id := o.add("slack", "--name", "chat", "--secret-env", "HOME")
	archive := filepath.Join(t.TempDir(), "export.zip")
	if err := os.WriteFile(archive, slacktest.Archive(t, map[string]string{
		"channels.json":            `[{"id":"C1","name":"ops"}]`,
		"users.json":               `[{"id":"U1","name":"ada","profile":{"display_name":"Ada"}}]`,
		"ops/2026-05-01.json":      `[{"type":"message","user":"U1","text":"The gateway was restarted.","ts":"1777600000.000100"}]`,
		"ops/2026-05-02.json":      `not JSON`,
		"secret/2026-05-01.json":   `[{"type":"message","user":"U1","text":"The gateway of a private channel.","ts":"1777600000.000200"}]`,
		"ops/canvas_in_the_ch.txt": `x`,
	}), 0o600); err != nil {
		t.Fatal(err)
	}
	o.run(o.pat, 1, "1 accepted, 1 rejected", "2026-05-02.json", "source", "import", id, archive)
	o.index()
	out := o.run(o.key, 0, "The gateway was restarted. (message, slack)", "", "search", "--space", "messages", "gateway")
	if strings.Contains(out, "private") {
		t.Errorf("a private channel is found: %s", out)
	}
}

func TestSourceSync(t *testing.T) {
	t.Parallel()
	github := githubtest.New(t)
	login := github.NewIssue("acme/api", 1, "Login fails")
	github.Put("acme/api", func(r *githubtest.Repository) {
		r.Issues = []githubtest.Issue{login, github.NewPull("acme/api", 2, "Renew the session")}
		r.Comments = []githubtest.Comment{github.NewComment("acme/api", 3, login, "Clear the cookies.")}
		r.Commits = []githubtest.Commit{{Files: map[string]string{"README.md": "# Gateway\n\nHow to operate the gateway.\n", "main.go": "package main\n\nfunc startGateway() {}\n"}}}
	})
	o := newFixture(t)
	id := o.add("github", "--name", "api", "--repository", "acme/api", "--base-url", github.API(), "--token-env", "DOCENT_TEST_UNSET")
	command := func(id string) (out, errOut string, status error) {
		var o1, o2 bytes.Buffer
		c := &sourceSyncCmd{ID: id, dataFlags: dataFlags{Data: o.dir}}
		con := &console{out: &o1, err: &o2, now: time.Now, connect: connectors.With(fetch.NewReaching(page.Read, func(netip.AddrPort) bool { return true }, github.Certificate()))}
		err := c.Run(t.Context(), con)
		return o1.String(), o2.String(), err
	}
	if _, _, err := command(id); err == nil || !strings.Contains(err.Error(), "is using the data") {
		t.Errorf("while a server runs: %v", err)
	}
	o.closeOnce()
	if out, errOut, err := command(id); !errors.Is(err, errReported) || !strings.Contains(errOut, "api: acme/api issues: GitHub does not accept the access token.") || !strings.Contains(out, "api: 0 read") {
		t.Errorf("refused: %v %q %q", err, out, errOut)
	}
	if _, _, err := command("0190d2a0-0000-7000-8000-000000000001"); err == nil || !strings.Contains(err.Error(), "no such data source") {
		t.Errorf("unknown: %v", err)
	}
	o.open()
	o.run(o.pat, 0, "unauthorized: acme/api issues", "", "source", "list")
	o.run(o.pat, 0, "Removed.", "", "source", "remove", id)
	github.AnyToken()
	o.add("github", "--name", "api", "--repository", "acme/api", "--base-url", github.API(), "--token-env", "DOCENT_TEST_UNSET")
	o.closeOnce()
	if out, errOut, err := command(""); err != nil || out != "api: 5 read, 0 removed, 0 left out\n" {
		t.Errorf("synced: %v %q %q", err, out, errOut)
	}
	o.open()
	o.run(o.pat, 0, "5 read, 0 removed", "", "source", "list")
	for space, want := range map[string]string{"issues": "1. Login fails (issue, github)", "prs": "1. Renew the session (pull_request, github)", "code": "main.go (code, github)",
		"documentation": "1. Gateway (documentation, github)"} {
		o.run(o.key, 0, want, "", "search", "--space", space, "login session gateway")
	}
	o.run(o.key, 0, "Comment on #1: Login fails", "", "search", "--space", "issues", "clear the cookies")
	o.run(o.key, 0, "Text of Login fails.", "", "get", login.HTMLURL)
}

// TestImportReadsStandardInput is not parallel: standard input is the process's.
func TestImportReadsStandardInput(t *testing.T) {
	o := newFixture(t)
	items, err := os.Open(o.file("items.jsonl", `{"uri":"https://x.test/1","title":"t","body":"b","sourceType":"issue"}`+"\n\n{}\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer items.Close()
	before := os.Stdin
	os.Stdin = items
	t.Cleanup(func() { os.Stdin = before })
	id := o.add("linear", "--name", "tracker")
	o.run(o.pat, 1, "1 accepted, 1 rejected", "line 3: uri is missing", "source", "import", id, "-")
	o.run(o.pat, 1, "", "nothing syncs this data source, so it cannot be paused", "source", "pause", id)
}
