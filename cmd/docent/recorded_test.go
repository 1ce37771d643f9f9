package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/app/parts/connectors"
	"docent/shared/connect/github/githubtest"
	"docent/shared/connect/slack/slacktest"
	"docent/shared/fetch"
	"docent/shared/fetch/page"
)

// BenchmarkRecorded reads recorded repositories through docent source sync and a
// recorded chat through docent source import, asks the questions of
// testdata/recorded.tsv over HTTP, and reports how good what comes is: p1 is how
// often the first source is the right one, in5 how often one of the first five is,
// and p5 the share of the right one among these five, a comment counting as what it is about.
//
// DOCENT_RECORDED names the folder: github/OWNER/NAME with issues/*.json and
// pulls/*.json as backups of GitHub's API hold them and the files in tree, and slack,
// an export unpacked. README.md of shared/source says which data the questions are of.
func BenchmarkRecorded(b *testing.B) {
	folder := os.Getenv("DOCENT_RECORDED")
	if folder == "" {
		b.Skip("DOCENT_RECORDED names no folder of recorded data")
	}
	for b.Loop() {
		o := recordedFixture(b, folder)
		right1, in5, right5, asked := map[string]float64{}, map[string]float64{}, map[string]float64{}, map[string]float64{}
		for _, line := range textLines(b, "testdata/recorded.tsv") {
			space, rest, _ := strings.Cut(line, "\t")
			end, question, ok := strings.Cut(rest, "\t")
			if !ok {
				b.Fatalf("no question: %q", line)
			}
			urls := o.found(space, question)
			n, at := 0, 0
			for i, url := range urls {
				about, _, _ := strings.Cut(url, "#")
				if slices.ContainsFunc(strings.Split(end, "|"), func(end string) bool { return strings.HasSuffix(about, end) }) {
					n++
					if at == 0 {
						at = i + 1
					}
				}
			}
			asked[space]++
			right5[space] += float64(n) / 5
			switch at {
			case 0:
				b.Logf("%s: %q is not among %q", space, question, urls)
			case 1:
				right1[space]++
			default:
				b.Logf("%s: %q is %d of %q", space, question, at, urls)
			}
			if at > 0 {
				in5[space]++
			}
		}
		for space, n := range asked {
			b.ReportMetric(right1[space]/n, space+"-p1")
			b.ReportMetric(right5[space]/n, space+"-p5")
			b.ReportMetric(in5[space]/n, space+"-in5")
		}
	}
}

// recordedFixture is an installation that has read everything in a folder.
func recordedFixture(b *testing.B, folder string) *fixture {
	b.Helper()
	github := githubtest.New(b)
	github.AnyToken()
	args := []string{"github", "--name", "recorded", "--base-url", github.API(), "--token-env", "DOCENT_TEST_UNSET"}
	repositories, err := filepath.Glob(filepath.Join(folder, "github", "*", "*"))
	if err != nil || len(repositories) == 0 {
		b.Fatalf("no repositories: %v", err)
	}
	for _, at := range repositories {
		name := filepath.Base(filepath.Dir(at)) + "/" + filepath.Base(at)
		args = append(args, "--repository", name)
		recorded, err := github.Recorded(backup(b, at))
		if err != nil {
			b.Fatal(err)
		}
		github.Put(name, func(r *githubtest.Repository) {
			recorded(r)
			r.Commits = []githubtest.Commit{{Files: texts(b, filepath.Join(at, "tree"))}}
		})
	}
	o := newFixture(b)
	id := o.add(args...)
	chat := o.add("slack", "--name", "chat", "--secret-env", "HOME")
	archive := filepath.Join(b.TempDir(), "export.zip")
	if err := os.WriteFile(archive, slacktest.Archive(b, texts(b, filepath.Join(folder, "slack"))), 0o600); err != nil {
		b.Fatal(err)
	}
	_, out, errOut := docent(b, "source", "import", chat, archive, "--server", o.web.URL, "--key", o.pat)
	b.Logf("import: %s%s", out, errOut)
	o.closeOnce()
	began := time.Now()
	var said, failed bytes.Buffer
	sync := &sourceSyncCmd{ID: id, dataFlags: dataFlags{Data: o.dir}}
	if err := sync.Run(b.Context(), &console{out: &said, err: &failed, now: time.Now,
		connect: connectors.With(fetch.NewReaching(page.Read, func(netip.AddrPort) bool { return true }, github.Certificate()))}); err != nil {
		b.Fatalf("%v: %s%s", err, said.String(), failed.String())
	}
	b.Logf("sync: %s in %s, %d requests", strings.TrimSpace(said.String()), time.Since(began).Round(time.Second), len(github.Requests()))
	o.open()
	o.index()
	_, out, _ = docent(b, "source", "list", "--server", o.web.URL, "--key", o.pat)
	b.Log(out)
	return o
}

// found returns the URLs of the best five results in a space.
func (o *fixture) found(space, question string) []string {
	o.t.Helper()
	body, _ := json.Marshal(map[string]any{"query": question, "limit": 5}) //nolint:errchkjson // two plain values
	r, err := http.NewRequestWithContext(o.t.Context(), http.MethodPost, o.web.URL+"/v1/context/search/"+space, bytes.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+o.key)
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		o.t.Fatal(err)
	}
	defer reply.Body.Close()
	var answer struct {
		Sources []struct {
			URL string `json:"url"`
		} `json:"sources"`
	}
	if err := json.NewDecoder(reply.Body).Decode(&answer); err != nil || reply.StatusCode != http.StatusOK {
		o.t.Fatalf("%d %v", reply.StatusCode, err)
	}
	var urls []string
	for _, s := range answer.Sources {
		urls = append(urls, s.URL)
	}
	return urls
}

// backup reads the records of a repository, in the form of GitHub's lists: a backup has each pull request in the
// form of a single one.
func backup(b *testing.B, folder string) (issues, comments, reviews []json.RawMessage) {
	b.Helper()
	type object = map[string]json.RawMessage
	encoded := func(o object) json.RawMessage {
		text, err := json.Marshal(o)
		if err != nil {
			b.Fatal(err)
		}
		return text
	}
	files, err := filepath.Glob(filepath.Join(folder, "[ip]*s", "*.json"))
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range files {
		var kept struct {
			Issue, Pull      object
			Events, Comments []object
		}
		text, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(text, &kept)
		}
		if err != nil {
			b.Fatalf("%s: %v", name, err)
		}
		if p := kept.Pull; p != nil {
			p["pull_request"] = encoded(object{"url": p["url"], "html_url": p["html_url"], "diff_url": p["diff_url"],
				"patch_url": p["patch_url"], "merged_at": p["merged_at"]})
			p["url"] = p["issue_url"]
			for _, own := range []string{"head", "base", "merged_at", "merged", "merged_by", "mergeable_state", "merge_commit_sha"} {
				delete(p, own)
			}
			kept.Issue = p
		}
		issues = append(issues, encoded(kept.Issue))
		for _, e := range kept.Events {
			if string(e["event"]) == `"commented"` {
				comments = append(comments, encoded(e))
			}
		}
		for _, c := range kept.Comments {
			reviews = append(reviews, encoded(c))
		}
	}
	return issues, comments, reviews
}

// texts returns the files of a folder, by name.
func texts(b *testing.B, folder string) map[string]string {
	b.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(name string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		short, err := filepath.Rel(folder, name)
		files[filepath.ToSlash(short)] = string(text)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return files
}

// textLines returns the lines of a file that are not blank or comments.
func textLines(b *testing.B, name string) []string {
	b.Helper()
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var lines []string
	for s := bufio.NewScanner(f); s.Scan(); {
		if line := s.Text(); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}
