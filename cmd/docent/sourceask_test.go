package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/app"
	"docent/shared/source"
)

// asked is a person at a terminal who gives answers in order.
type asked struct {
	t         *testing.T
	answers   []string
	questions []string // "secret " in front of those that are not shown
}

func (a *asked) ask(question string, secret bool) (string, error) {
	if secret {
		question = "secret " + question
	}
	a.questions = append(a.questions, question)
	if len(a.answers) == 0 {
		return "", io.EOF
	}
	answer := a.answers[0]
	a.answers = a.answers[1:]
	return answer, nil
}

// add runs docent source add on a terminal.
func (a *asked) add(o *fixture, c *sourceAddCmd) (out, errOut string, err error) {
	a.t.Helper()
	var o1, o2 bytes.Buffer
	c.setUp(app.Providers())
	c.Server, c.Key = o.web.URL, o.pat
	err = c.Run(a.t.Context(), &console{out: &o1, err: &o2, now: time.Now, ask: a.ask})
	return o1.String(), o2.String(), err
}

func TestSettingsAreAskedForAndCheckedAtOnce(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "")
	var tried []string
	o := newFixtureOf(t, app.Parts{Probe: func(_ context.Context, name source.ProviderName, a source.Access) error {
		tried = append(tried, fmt.Sprint(name, a.Settings.List("repositories"), a.Settings.Text("baseUrl"), a.Secrets["accessToken"]))
		if a.Secrets["accessToken"] == "wrong" {
			return apierr.BadField("/settings/accessToken", "GitHub does not accept the access token")
		}
		if name == "web" {
			return &source.SyncError{Code: source.Unreadable, Detail: "The page cannot be read."}
		}
		return nil
	}})
	a := &asked{t: t, answers: []string{"  ", "acme/api  acme/web", "wrong", "", "right"}}
	out, errOut, err := a.add(o, &sourceAddCmd{Provider: "github"})
	if err != nil || !strings.Contains(out, "Data source ") || !strings.Contains(errOut, "does not accept the access token") {
		t.Errorf("%v %q %q", err, out, errOut)
	}
	want := []string{"Name (default github): ", "Repositories to read, up to 100 (OWNER/NAME; several with blanks between): ",
		"secret The access token, if one is needed, with read access to contents, issues and pull requests (not shown): "}
	if len(a.questions) != 5 || !slices.Equal(a.questions[:3], want) || !strings.HasPrefix(a.questions[3], "The API of your own") || a.questions[4] != want[2] {
		t.Errorf("questions %q", a.questions)
	}
	if want := []string{"github[acme/api acme/web]wrong", "github[acme/api acme/web]right"}; !slices.Equal(tried, want) {
		t.Errorf("tried %q, want %q", tried, want)
	}
	o.run(o.pat, 0, " github  ", "", "source", "list")

	a = &asked{t: t, answers: []string{"acme/api", "wrong", "", "wrong", "wrong"}}
	if _, _, err := a.add(o, &sourceAddCmd{Provider: "github", Name: "again"}); err == nil || !strings.Contains(err.Error(), "does not accept") {
		t.Errorf("a third wrong token: %v", err)
	}
	a = &asked{t: t, answers: []string{"https://guide.example/"}} // which excludes a sitemap
	if _, errOut, err := a.add(o, &sourceAddCmd{Provider: "web", Name: "guide"}); err != nil || !strings.Contains(errOut, "could not be checked now: The page cannot be read.") {
		t.Errorf("web: %v %q", err, errOut)
	}
	o.run(o.pat, 0, "provider-failed: The page cannot be read.", "", "source", "list")
	a = &asked{t: t}
	if _, _, err := a.add(o, &sourceAddCmd{Provider: "jira"}); err == nil {
		t.Error("the end of the input is not an error")
	}
	if out := o.run(o.pat, 0, "", "", "source", "list"); strings.Count(out, "\n") != 3 {
		t.Errorf("connected:\n%s", out)
	}
}

func TestSourcesAreChangedPausedAndResumed(t *testing.T) {
	t.Setenv("DOCENT_TEST_NEW_TOKEN", "new")
	var tried []string
	o := newFixtureOf(t, app.Parts{Probe: func(_ context.Context, _ source.ProviderName, a source.Access) error {
		tried = append(tried, fmt.Sprint(a.Settings.List("repositories"), a.Secrets["accessToken"]))
		return nil
	}})
	id := o.add("github", "--name", "api", "--repository", "acme/api", "--token-env", "DOCENT_TEST_UNSET")
	o.run(o.pat, 2, "", "nothing to change", "source", "set", id)
	o.run(o.pat, 1, "", "--name: ", "source", "set", id, "--name", "")
	o.run(o.pat, 1, "", "--name: must have 1 to 100 characters and not be blank", "source", "set", id, "--name", " ")
	o.run(o.pat, 2, "", "DOCENT_TEST_UNSET of --token-env is empty", "source", "set", id, "--token-env", "DOCENT_TEST_UNSET")
	o.run(o.pat, 1, "", "no such data source", "source", "set", "0190d2a0-0000-7000-8000-000000000001", "--name", "x")
	o.run(o.pat, 0, "Changed.", "", "source", "set", id, "--name", "Code", "--repository", "acme/api", "--repository", "acme/web", "--token-env", "DOCENT_TEST_NEW_TOKEN")
	o.run(o.pat, 0, "Changed.", "", "source", "set", id, "--unset", "accessToken")
	if want := []string{"[acme/api]", "[acme/api acme/web]new", "[acme/api acme/web]"}; !slices.Equal(tried, want) {
		t.Errorf("tried %q, want %q", tried, want)
	}
	o.run(o.pat, 0, "Code  connecting", "", "source", "list")
	o.run(o.pat, 0, "Paused.", "", "source", "pause", id)
	o.run(o.pat, 0, "Code  paused", "", "source", "list")
	o.run(o.pat, 0, "Resumed.", "", "source", "resume", id)
	o.run(o.pat, 0, "It is not paused.", "", "source", "resume", id)
	o.run(o.pat, 0, "It is not paused.", "", "source", "resume", o.add("linear", "--name", "l"))
	o.run(o.pat, 1, "", "There is no such data source", "source", "resume", "0190d2a0-0000-7000-8000-000000000001")
	o.run(o.pat, 0, "Code  connecting", "", "source", "list")
	o.run(o.key, 1, "", "admin", "source", "pause", id)
}

func TestNothingIsAskedOnAPipe(t *testing.T) {
	t.Parallel()
	o := newFixture(t)
	o.run(o.pat, 1, "", "give one with --name", "source", "add", "jira")
	o.run(o.pat, 1, "", "docent: --repository: must have 1 to 100 entries", "source", "add", "github", "--name", "api", "--token-env", "DOCENT_TEST_UNSET")
}

func TestSettingsAreNamedByTheirFlags(t *testing.T) {
	t.Setenv("JIRA_TOKEN", "")
	o := newFixture(t)
	o.run(o.pat, 1, "", "docent: set JIRA_TOKEN, or name another variable with --token-env (", "source", "add", "jira", "--name", "j", "--base-url", "https://jira.acme.test", "--project", "ENG")
	o.run(o.pat, 1, "", "docent: --base-url: is required with other settings (", "source", "add", "jira", "--name", "j", "--project", "ENG")
	o.run(o.pat, 1, "", "docent: give --url or --sitemap (", "source", "add", "web", "--name", "w")
	o.run(o.pat, 2, "", "docent: --repository is not a setting of web", "source", "add", "web", "--name", "w", "--url", "https://a.test/", "--repository", "acme/api")
	o.run(o.pat, 2, "", "docent: --token-env is not a setting of linear", "source", "add", "linear", "--name", "l", "--token-env", "UNSET")
	id := o.add("linear", "--name", "l")
	o.run(o.pat, 2, "", "docent: --repository is not a setting of linear", "source", "set", id, "--repository", "acme/api")
	o.run(o.pat, 2, "", "docent: --unset: nonsense is not a setting of linear", "source", "set", id, "--unset", "nonsense")
	o.run(o.pat, 0, "It reads nothing itself: fill it with docent source import ", "", "source", "add", "jira", "--name", "tracker")
	out := o.run(o.pat, 0, "", "", "source", "add", "web", "--name", "w", "--url", "https://a.test/")
	if strings.Contains(out, "reads nothing") {
		t.Errorf("web: %s", out)
	}
}

func TestALineIsReadWithoutTheNext(t *testing.T) {
	t.Parallel()
	in := strings.NewReader("one\r\ntwo\nthree")
	for _, want := range []string{"one", "two", "three"} {
		if got, err := readLine(in); got != want || err != nil && want != "three" {
			t.Errorf("%q %v, want %q", got, err, want)
		}
	}
}

func TestAQuestionEndsWithTheInputAndWithAnInterrupt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	if line, err := answered(ctx, func() (string, error) { return "api", nil }); line != "api" || err != nil {
		t.Errorf("%q, %v", line, err)
	}
	if _, err := answered(ctx, func() (string, error) { return "", io.EOF }); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("the end of the input is %v", err)
	}
	cancel()
	if _, err := answered(ctx, func() (string, error) { select {} }); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupt is %v", err)
	}
}
