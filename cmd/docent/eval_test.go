package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"docent/cmd/docent/internal/evaluate"
	"docent/shared/team"
)

// file writes text to a file of the test.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestEval measures a server in this process, of which the right figures are known.
func TestEval(t *testing.T) {
	t.Parallel()
	local, acme, _ := newTeam(t)
	_, key, err := local.Teams.CreateKey(t.Context(), acme.ID, team.NewKey{Kind: team.KindTeam, Name: "eval"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(local.Handler("http://docent.test/v1"))
	t.Cleanup(server.Close)
	at := []string{"--server", server.URL + "/v1", "--key", key}
	made := func(name string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/v1/collections", strings.NewReader(`{"name":"`+name+`","description":"d"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		var c struct{ ID string }
		if err := json.NewDecoder(reply.Body).Decode(&c); err != nil {
			t.Fatal(err)
		}
		return c.ID
	}
	handbook, other := made("handbook"), made("other")
	folder := t.TempDir()
	for name, text := range map[string]string{
		"logs.md":    "# Logs\n\nLogs of the billing service are kept for 30 days.\n",
		"pager.md":   "# Pager\n\nThe person on call answers the pager within five minutes.\n",
		"release.md": "# Releases\n\nA release is rolled back with deployctl undo.\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if status, out, said := docent(t, append([]string{"put", "--collection", handbook, "--base-uri", "https://x.test/", folder}, at...)...); status != exitOK {
		t.Fatalf("put: %s%s", out, said)
	}
	if err := local.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	questions := file(t, "questions.jsonl", `{"question":"How long are logs of the billing service kept?","expected":"https://x.test/logs.md","answer":"30 days"}
{"question":"How soon does the person on call answer the pager?","expected":["https://x.test/pager.md"],"answer":["ten minutes"]}
{"question":"How is a release rolled back?","expected":"https://x.test/release.md"}
{"question":"zyzzyva quux","expected":"https://x.test/release.md"}
`)
	status, out, said := docent(t, append([]string{"eval", "--json", questions}, at...)...)
	var report evaluate.Report
	if err := json.Unmarshal([]byte(out), &report); status != exitOK || err != nil {
		t.Fatalf("status %d, %v: %s%s", status, err, out, said)
	}
	for metric, want := range map[string]float64{evaluate.Recall1: 0.75, evaluate.Recall10: 0.75, evaluate.NDCG10: 0.75, evaluate.Answered: 0.75, evaluate.GoldInAnswer: 0.5} {
		if got := report.Metrics[metric]; got != want {
			t.Errorf("%s is %v, want %v", metric, got, want)
		}
	}
	if len(report.Results) != 4 || report.Results[0].Rank != 1 || report.Results[3].Rank != 0 {
		t.Errorf("results %+v", report.Results)
	}
	before := file(t, "before.json", out)
	crowd := t.TempDir() // of the same words, in another collection
	for n := range 60 {
		text := fmt.Sprintf("# Logs %d\n\nLogs of the billing service are kept for %d years. How long are logs of the billing service kept?\n", n, n+2)
		if err := os.WriteFile(filepath.Join(crowd, fmt.Sprint(n, ".md")), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if status, out, said := docent(t, append([]string{"put", "--collection", other, "--base-uri", "https://crowd.test/", crowd}, at...)...); status != exitOK {
		t.Fatalf("put: %s%s", out, said)
	}
	if err := local.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, out, _ := docent(t, append([]string{"eval", "--compare", before, questions}, at...)...); !strings.Contains(out, "-0.2500") {
		t.Errorf("the crowd changes nothing: %s", out)
	}
	status, out, said = docent(t, append([]string{"eval", "--collection", handbook, "--compare", before, questions}, at...)...)
	if status != exitOK || !strings.Contains(out, "4 questions in both") || !strings.Contains(out, "slowest") || strings.Count(out, "+0.0000") != len(evaluate.Metrics()) {
		t.Errorf("status %d: %s%s", status, out, said)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a bad line":                 {[]string{file(t, "bad.jsonl", "{}\n")}, "bad.jsonl: line 1: question is missing"},
		"a document that is missing": {[]string{questions, "--collection", other}, "line 1: the collection has no document https://x.test/logs.md"},
		"a report of something else": {[]string{questions, "--compare", questions}, "is not a report of docent eval --json"},
		"a report of other questions": {[]string{file(t, "others.jsonl", `{"question":"Else?","expected":"https://x.test/logs.md"}`), "--compare", before},
			"has none of these questions"},
	} {
		if status, out, said := docent(t, append(append([]string{"eval"}, c.args...), at...)...); status != exitFailed || !strings.Contains(said, c.want) {
			t.Errorf("%s: status %d, %s%s", name, status, out, said)
		}
	}
	if status, _, said := docent(t, append([]string{"eval", questions, "--parallel", "0"}, at...)...); status != exitUsage {
		t.Errorf("--parallel 0: status %d, %s", status, said)
	}
	if _, out, said := docent(t, append([]string{"eval", "--search-alone", questions}, at...)...); strings.Contains(out, "answered") {
		t.Errorf("answers without answers: %s%s", out, said)
	}
}

// TestEvalReadsStandardInput is not parallel: standard input is the process's.
func TestEvalReadsStandardInput(t *testing.T) {
	before := os.Stdin
	t.Cleanup(func() { os.Stdin = before })
	questions := file(t, "questions.jsonl", `{"question":"Who?","expected":"https://x.test/1"}`)
	for want, args := range map[string][]string{
		"docent: standard input: line 1: question is missing\n":           {"-"},
		"docent: standard input: is not a report of docent eval --json\n": {"--compare", "-", questions},
	} {
		input, err := os.Open(file(t, "input", "{}\n"))
		if err != nil {
			t.Fatal(err)
		}
		os.Stdin = input
		if status, out, said := docent(t, append([]string{"eval", "--key", "k"}, args...)...); status != exitFailed || !strings.Contains(said, want) {
			t.Errorf("%q: status %d, %s%s", args, status, out, said)
		}
		input.Close()
	}
}
