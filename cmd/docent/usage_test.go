package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"docent/client"
	"docent/shared/team"
)

// TestUsage prints reports of a server that has counted some calls of this hour.
func TestUsage(t *testing.T) {
	t.Parallel()
	local, acme, _ := newTeam(t)
	made, key, err := local.Teams.CreateKey(t.Context(), acme.ID, team.NewKey{Kind: team.KindTeam, Name: "team"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(local.Handler("http://docent.test/v1"))
	t.Cleanup(server.Close)
	for range 5 {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/v1/collections", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := reply.Body.Close(); err != nil {
			t.Fatal(err)
		}
	}
	usage := func(args ...string) (int, string, string) {
		return docent(t, append([]string{"usage", "--server", server.URL + "/v1", "--key", key}, args...)...)
	}

	status, out, said := usage("--feature", "collections", "--group-by", "feature", "--group-by", "apiKey")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if status != exitOK || !slices.Equal(strings.Fields(lines[0])[:4], []string{"start", "feature", "apiKey", "requests"}) {
		t.Fatalf("status %d: %s%s", status, out, said)
	}
	if got := strings.Fields(lines[len(lines)-2]); len(lines) != 32 || got[1] != "collections" || got[2] != made.ID || got[3] != "5" {
		t.Errorf("%d lines; the day has %v", len(lines), got)
	}
	if first := strings.Fields(lines[1]); first[1] != "-" || first[3] != "0" {
		t.Errorf("a day without calls: %v", first)
	}
	if strings.ContainsAny(out, "█▏▎▍▌▋▊▉") {
		t.Errorf("a chart where there is no terminal: %s", out)
	}

	// 400 days of hours are many pages, which are one table.
	start := time.Now().Add(-20 * 24 * time.Hour).Format(time.DateOnly)
	status, out, said = usage("--start", start, "--granularity", "hour", "--feature", "collections", "--csv")
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || status != exitOK || len(rows) < 2 || len(rows) > 3 || rows[0][0] != "start" || !slices.Contains(rows[1], "5") && len(rows) == 2 {
		t.Errorf("status %d, %v: %s%s", status, err, out, said)
	}
	status, out, said = usage("--start", start, "--granularity", "hour", "--json")
	var report client.Usage
	if err := json.Unmarshal([]byte(out), &report); err != nil || status != exitOK || len(report.Buckets) < 20*24 {
		t.Errorf("status %d, %v, %d buckets, %s", status, err, len(report.Buckets), said)
	}

	for _, c := range []struct {
		args   string
		status int
		said   string
	}{
		{"--granularity week", exitUsage, "--granularity"},
		{"--group-by colour", exitUsage, "--group-by"},
		{"--csv --json", exitUsage, "can't be used together"},
		{"--time-zone Mars/Olympus", exitFailed, "--time-zone"},
		{"--time-zone Asia/Kolkata", exitFailed, "whole hours"},
		{"--start yesterday", exitFailed, "RFC 3339"},
		{"--start 2020-01-01", exitFailed, "400 days"},
		{"--group-by user --group-by collection", exitFailed, "cannot be grouped"},
		{"--feature cooking", exitFailed, "must be one of answers, "},
	} {
		if status, out, said := usage(strings.Fields(c.args)...); status != c.status || !strings.Contains(said, c.said) || out != "" {
			t.Errorf("%s: status %d, %s%s", c.args, status, out, said)
		}
	}
}

// TestUsageChart checks that the longest bar is the most requests, and that any request is visible.
func TestUsageChart(t *testing.T) {
	t.Parallel()
	report := client.Usage{TimeZone: "UTC", DataThrough: "now\x1b[2J"}
	for day, n := range []int{0, 1, 480, 960} {
		b := client.UsageBucket{Start: fmt.Sprintf("2026-11-%02dT00:00:00.000Z", day+1)}
		if n > 0 {
			b.Results = []map[string]json.RawMessage{{"metrics": json.RawMessage(fmt.Sprintf(`{"requests":%d}`, n))}}
		}
		report.Buckets = append(report.Buckets, b)
	}
	var out bytes.Buffer
	if err := (&usageCmd{Granularity: "day"}).table(&out, report, time.UTC, 200); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	for n, want := range map[int]string{1: "0", 2: "▏", 3: strings.Repeat("█", 12), 4: strings.Repeat("█", 24)} {
		cells := strings.Fields(lines[n])
		if cells[0] != fmt.Sprintf("2026-11-%02d", n) || cells[len(cells)-1] != want {
			t.Errorf("line %d: %q", n, lines[n])
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("a server steers the terminal: %q", out.String())
	}
}

// TestUsageFitsItsTerminal checks that no line is wider than the terminal if the numbers fit, and that a pipe gets
// all columns and no chart.
func TestUsageFitsItsTerminal(t *testing.T) {
	t.Parallel()
	report := client.Usage{TimeZone: "UTC", DataThrough: "now", Buckets: []client.UsageBucket{
		{Start: "2026-11-01T00:00:00.000Z"},
		{Start: "2026-11-02T00:00:00.000Z", Results: []map[string]json.RawMessage{
			{"feature": json.RawMessage(`"context.search.documentation"`), "metrics": json.RawMessage(`{"requests":1200,"refused":7,"latencyMsP95":130}`)}}}}}
	for width, chart := range map[int]int{0: 0, 60: 0, 72: 0, 80: 11, 120: chartWidth} {
		var out bytes.Buffer
		if err := (&usageCmd{Granularity: "day", GroupBy: []string{"feature"}}).table(&out, report, time.UTC, width); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(out.String(), "\n")
		want := []string{"start", "feature", "requests", "refused", "p95", "ms"}
		if width == 0 {
			want = []string{"start", "feature", "requests", "asked", "answered", "not", "found", "failed", "refused", "errors", "p50", "ms", "p95", "ms"}
		}
		if got := strings.Fields(lines[0]); !slices.Equal(got, want) {
			t.Errorf("width %d: columns %q", width, got)
		}
		if n := strings.Count(lines[2], "█"); n != chart {
			t.Errorf("width %d: a bar of %d: %q", width, n, lines[2])
		}
		for _, line := range lines[:3] {
			if n := utf8.RuneCountInString(strings.TrimRight(line, " ")); width >= 72 && n > width {
				t.Errorf("width %d: a line of %d: %q", width, n, line)
			}
		}
	}
}
