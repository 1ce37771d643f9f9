package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"docent/shared/app/parts/connectors"
	"docent/shared/connect/atlassian/atlassiantest"
	"docent/shared/connect/jira/jiratest"
	"docent/shared/connect/slack"
	"docent/shared/connect/slack/slacktest"
	"docent/shared/fetch"
	"docent/shared/fetch/page"
	"docent/shared/source"
)

// BenchmarkExports serves public exports as their providers would, reads them with the
// connectors, asks twenty questions of each over HTTP, and reports in how many the right item,
// or a comment on it, is first (p1) and among the first three (in3).
//
// DOCENT_EXPORTS names the folder of clones: houstondatavis/slack-export (MIT) and
// tidev/jira-archive (Apache 2.0), of which data/{ALOY,DAEMON,MOD} is read.
func BenchmarkExports(b *testing.B) {
	folder := os.Getenv("DOCENT_EXPORTS")
	if folder == "" {
		b.Skip("DOCENT_EXPORTS names no folder of exports")
	}
	for b.Loop() {
		var chat, tickets []string // end of the right url, tab, question
		for _, line := range textLines(b, "testdata/recorded.tsv") {
			if question, ok := strings.CutPrefix(line, "messages\t"); ok {
				chat = append(chat, question)
			}
		}
		for _, line := range textLines(b, "testdata/exports.tsv") {
			tickets = append(tickets, "/browse/"+line)
		}
		askExport(b, "slack", "messages", exportedChat(b, filepath.Join(folder, "houstondatavis", "slack-export")), chat)
		askExport(b, "jira", "issues", exportedIssues(b, filepath.Join(folder, "tidev", "jira-archive", "data")), tickets)
	}
}

// export is a provider that serves an export.
type export struct {
	server *httptest.Server
	args   []string // of docent source add
	slack  string   // where Slack's API is; empty: it is another provider
}

// askExport reads an export and reports how well it is found in a space.
func askExport(b *testing.B, name, space string, e export, questions []string) {
	b.Helper()
	o := newFixture(b)
	id := o.add(append([]string{name, "--name", name}, e.args...)...)
	o.closeOnce()
	reach := fetch.NewReaching(page.Read, func(netip.AddrPort) bool { return true }, e.server.Certificate())
	var said, failed bytes.Buffer
	began := time.Now()
	sync := &sourceSyncCmd{ID: id, dataFlags: dataFlags{Data: o.dir}}
	if err := sync.Run(b.Context(), &console{out: &said, err: &failed, now: time.Now, connect: func(now func() time.Time) map[source.ProviderName]source.Connection {
		all := connectors.With(reach)(now)
		own := all["slack"]
		own.Connector = &slack.Connector{Base: e.slack, HTTP: reach.Client(0), Now: now, Pause: func(context.Context, time.Duration) error { return nil }}
		all["slack"] = own
		return all
	}}); err != nil {
		b.Fatalf("%v: %s%s", err, said.String(), failed.String())
	}
	b.Logf("%s: %s in %s", name, strings.TrimSpace(said.String()), time.Since(began).Round(time.Second))
	o.open()
	o.index()
	first, among := 0, 0
	for _, line := range questions {
		end, question, _ := strings.Cut(line, "\t")
		urls := o.found(space, question)
		at := slices.IndexFunc(urls, func(url string) bool {
			about, _, _ := strings.Cut(url, "#") // a comment has the address of its issue
			return strings.HasSuffix(about, end)
		})
		if at == 0 {
			first++
		} else {
			b.Logf("%s: %q is %d of %q", name, question, at+1, urls)
		}
		if at >= 0 && at < 3 {
			among++
		}
	}
	b.Logf("%s: of %d questions, in %d the right item is first, in %d among the first three", name, len(questions), first, among)
	b.ReportMetric(float64(first)/float64(len(questions)), name+"-p1")
	b.ReportMetric(float64(among)/float64(len(questions)), name+"-in3")
	o.closeOnce()
}

func readJSON(b *testing.B, name string, into any) {
	b.Helper()
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		b.Fatalf("%s: %v", name, err)
	}
}

// matching returns the files that match, sorted; at least one.
func matching(b *testing.B, pattern ...string) []string {
	b.Helper()
	files, err := filepath.Glob(filepath.Join(pattern...))
	if err != nil || len(files) == 0 {
		b.Fatalf("no %s: %v", filepath.Join(pattern...), err)
	}
	return files
}

// exportedChat serves the public channels of a Slack export.
func exportedChat(b *testing.B, folder string) export {
	b.Helper()
	server := slacktest.New(b)
	server.PerPage = 200
	var channels []*slacktest.Channel
	readJSON(b, filepath.Join(folder, "channels.json"), &channels)
	for _, c := range channels {
		c.Member = true
		days, _ := filepath.Glob(filepath.Join(folder, c.Name, "*.json")) // some have no messages
		for _, day := range days {
			var messages []slacktest.Message
			readJSON(b, day, &messages)
			c.Messages = append(c.Messages, messages...)
		}
		server.Channels[c.ID] = c
	}
	b.Setenv("DOCENT_TEST_TOKEN", slacktest.Token)
	return export{server.Server, []string{"--bot-token-env", "DOCENT_TEST_TOKEN"}, server.URL + "/api/"}
}

// exportedIssues serves the issues of a folder for each project, which are replies of Jira.
func exportedIssues(b *testing.B, folder string) export {
	b.Helper()
	server := jiratest.New(b, false, time.Now)
	at := func(text string) time.Time {
		t, err := time.Parse("2006-01-02T15:04:05.000-0700", text)
		if err != nil {
			b.Fatal(err)
		}
		return t
	}
	b.Setenv("DOCENT_TEST_TOKEN", atlassiantest.Token)
	args := []string{"--base-url", server.URL, "--token-env", "DOCENT_TEST_TOKEN", "--access", "source"}
	for _, project := range []string{"ALOY", "DAEMON", "MOD"} {
		args = append(args, "--project", project)
		server.Projects[project] = &jiratest.Project{}
		for _, name := range matching(b, folder, project, "*", "*.json") {
			var one struct {
				Key    string
				Fields struct {
					Summary, Description, Created, Updated string
					Labels                                 []string
					Resolution                             any
					Comment                                struct {
						Comments []struct{ ID, Body, Created string }
					}
				}
			}
			readJSON(b, name, &one)
			number, err := strconv.Atoi(strings.TrimPrefix(one.Key, project+"-"))
			if err != nil {
				b.Fatal(fmt.Errorf("%s: %w", name, err))
			}
			f := one.Fields
			issue := &jiratest.Issue{Number: number, Summary: f.Summary, Text: f.Description, Done: f.Resolution != nil, Labels: f.Labels, Created: at(f.Created), Updated: at(f.Updated)}
			for _, c := range f.Comment.Comments {
				n, err := strconv.Atoi(c.ID)
				if err != nil {
					b.Fatal(err)
				}
				issue.Comments = append(issue.Comments, jiratest.Comment{ID: n, Text: c.Body, At: at(c.Created)})
			}
			server.Projects[project].Issues = append(server.Projects[project].Issues, issue)
		}
	}
	return export{server: server.Server.Server, args: args}
}
