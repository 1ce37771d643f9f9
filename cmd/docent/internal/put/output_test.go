package put_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"docent/cmd/docent/internal/put"
)

func TestPlainProgress(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	progress := put.Lines(&out, func() time.Time { return now }, "days")
	for done := 1; done <= 12; done++ {
		now = now.Add(time.Second)
		progress(done, done/4, 12)
	}
	if want := "5 of 12 days, 1 failed\n10 of 12 days, 2 failed\n"; out.String() != want {
		t.Fatalf("lines %q, want %q", out.String(), want)
	}
}

func TestBar(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	progress, end := put.Bar(&out, "import", "bytes")
	progress(1, 0, 2)
	progress(2, 1, 2)
	end()
	if s := out.String(); !strings.Contains(s, "\r") || !strings.Contains(s, "import") || !strings.Contains(s, "bytes/s") {
		t.Fatalf("no bar in %q", s)
	}
	_, end = put.Bar(&out, "import", "bytes")
	out.Reset()
	end()
	if out.Len() != 0 {
		t.Fatalf("a bar that never began drew %q", out.String())
	}
}

func TestSummaryForReaders(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		sum  put.Summary
		want string
	}{
		{"skipped files", put.Summary{Skipped: 7, SkippedTypes: map[string]int{"": 1, ".doc": 2, ".png": 3, ".a\n": 1}},
			"0 put, 0 unchanged, 7 skipped, 0 failed in 0.0 s\nskipped: 3 .png, 2 .doc, 1 without an extension, 1 .a\\n\n"},
		{"all well", put.Summary{Put: 2, Unchanged: 1, Seconds: 0.4}, "2 put, 1 unchanged, 0 skipped, 0 failed in 0.4 s\n"},
		{
			"failures", put.Summary{Failed: 1, Deleted: 3, Failures: []put.Failure{{Path: "a\x1b[2J.md", Reason: "it is not valid UTF-8"}}},
			"0 put, 0 unchanged, 0 skipped, 1 failed, 3 deleted in 0.0 s\nfailed: a[2J.md: it is not valid UTF-8\n",
		},
		{
			"a name that looks like another line", put.Summary{Failed: 1, Failures: []put.Failure{{Path: "a\nfailed: b.md", Reason: "it is not valid UTF-8"}}},
			"0 put, 0 unchanged, 0 skipped, 1 failed in 0.0 s\nfailed: a\\nfailed: b.md: it is not valid UTF-8\n",
		},
		{
			"dry run", put.Summary{DryRun: true, Put: 1, Deleted: 1, Planned: []put.Planned{{Action: "put", URI: "x:1"}, {Action: "delete", URI: "x:2"}}},
			"would put x:1\nwould delete x:2\n1 to put, 0 unchanged, 0 skipped, 0 failed, 1 to delete in 0.0 s\n",
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := tc.sum.Print(&out); err != nil {
				t.Fatal(err)
			}
			if out.String() != tc.want {
				t.Fatalf("%q, want %q", out.String(), tc.want)
			}
		})
	}
}

func TestSummaryAsJSON(t *testing.T) {
	t.Parallel()
	b := newBench(t, "a.md")
	data, err := json.Marshal(b.run(1, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"collectionId", "put", "unchanged", "skipped", "deleted", "failed", "failures", "seconds"} {
		if v, ok := got[name]; !ok || v == nil {
			t.Errorf("no %s in %s", name, data)
		}
	}
}
