package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"docent/testkit/apitest"
)

func TestAsk(t *testing.T) {
	t.Parallel()
	const id = "6f1c0a52-6c3f-4b0e-9d7e-0d2f4a0b1c2d"
	cases := []struct {
		name   string
		failed bool
		refuse int // status of every reply; 0: none
		args   []string
		status int
		out    string // exactly
		err    string // somewhere
	}{
		{
			name: "Markdown and numbered references",
			out:  "Run **undo**.\n\nReferences:\n1. Undo[2J: https://wiki.example/undo\n2. https://wiki.example/untitled\n",
		},
		{name: "failed", failed: true, status: 1, err: "the question failed: The answer took too long. (timeout)"},
		{name: "daily quota used up", refuse: 429, status: 1, err: "The daily quota resets at "},
		{name: "in no time", args: []string{"--timeout", "1ns"}, status: 1, err: "no answer within 1ns; ask the same question with --id " + id},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			api := apitest.New(t)
			api.Failed = tc.failed
			if tc.refuse != 0 {
				api.Refuse = func(w http.ResponseWriter, _ *http.Request) bool {
					w.Header().Set("Retry-After", "7200")
					apitest.Problem(w, tc.refuse, "quota-exceeded", "The quota of questions for today is used up.")
					return true
				}
			}
			args := append([]string{"ask", "--server", api.URL, "--key", apitest.Key, "--id", id, "How do I undo?"}, tc.args...)
			status, out, errOut := docent(t, args...)
			if status != tc.status || out != tc.out || !strings.Contains(errOut, tc.err) {
				t.Fatalf("status %d, output %q, errors %q", status, out, errOut)
			}
		})
	}
}

func TestAskPrintsTheObjectAsItCame(t *testing.T) {
	t.Parallel()
	for _, failed := range []bool{false, true} {
		api := apitest.New(t)
		api.Failed = failed
		status, out, _ := docent(t, "ask", "--server", api.URL, "--key", apitest.Key, "--json", "How do I undo?")
		var got struct{ QuestionID, Question, State string }
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatal(err)
		}
		if (status == 1) != failed || (got.State == "failed") != failed || got.QuestionID == "" || got.Question != "How do I undo?" {
			t.Fatalf("status %d, object %s", status, out)
		}
	}
}

func TestAskAgainWithTheSameID(t *testing.T) {
	t.Parallel()
	api := apitest.New(t)
	ask := func(question string) (int, string) {
		status, _, errOut := docent(t, "ask", "--server", api.URL, "--key", apitest.Key,
			"--id", "6F1C0A52-6C3F-4B0E-9D7E-0D2F4A0B1C2D", question)
		return status, errOut
	}
	for range 2 {
		if status, errOut := ask("How?"); status != 0 {
			t.Fatalf("status %d, errors %q", status, errOut)
		}
	}
	if status, errOut := ask("Why?"); status != 1 || !strings.Contains(errOut, "answer-conflict") {
		t.Fatalf("status %d, errors %q", status, errOut)
	}
}

func TestAskInterrupted(t *testing.T) {
	t.Parallel()
	api := apitest.New(t)
	api.Polls = 1000
	ctx, cancel := context.WithCancel(t.Context())
	var calls atomic.Int32
	api.Refuse = func(_ http.ResponseWriter, _ *http.Request) bool {
		if calls.Add(1) == 2 { // the first poll
			cancel()
		}
		return false
	}
	var out, errOut strings.Builder
	status := run(ctx, []string{"ask", "--server", api.URL, "--key", apitest.Key, "How?"}, &out, &errOut)
	if status != 1 || !strings.Contains(errOut.String(), "stopped; ask the same question with --id ") {
		t.Fatalf("status %d, errors %q", status, errOut.String())
	}
}

// TestAskPrintsWhileTheAnswerIsWritten: whatever becomes of the stream, the whole answer is printed in the end.
func TestAskPrintsWhileTheAnswerIsWritten(t *testing.T) {
	t.Parallel()
	const (
		start      = "event: answer.created\nid: 1\ndata: {}\n\n:\n\nevent: sources\nid: 2\ndata: {\"sources\":[]}\n\n"
		references = "\nReferences:\n1. Undo[2J: https://wiki.example/undo\n2. https://wiki.example/untitled\n"
		done       = "event: answer.completed\ndata: {\"state\":\"complete\",\"result\":{\"answer\":\"Run **undo**.\",\"references\":[]}}\n\n"
		delta      = "event: text.delta\ndata: {\"text\":\"Run \\u001b**\"}\n\n"
	)
	for name, tc := range map[string]struct{ events, out string }{
		"whole":            {start + "event: text.delta\ndata: {\"text\":\"Run **\"}\n\nevent: text.delta\ndata: {\"text\":\"undo**.\"}\n\n" + done, "Run **undo**.\n"},
		"only the end":     {start + done, "Run **undo**.\n"},
		"broken":           {start + "event: text.delta\ndata: {\"text\":\"Run **\"}\n\n", "Run **undo**.\n" + references},
		"broken at once":   {"event: ", "Run **undo**.\n" + references},
		"ended in a line":  {start + "event: text.delta\ndata: {\"text\":\"Run **undo**.\\n\"}\n\n" + done, "Run **undo**.\n"},
		"other text":       {start + delta + done, "Run **\n\n---\nThe text above is withdrawn; the answer is:\n\nRun **undo**.\n"},
		"replaced":         {start + "event: text.delta\ndata: {\"text\":\"Stop.\"}\n\nevent: text.replace\ndata: {\"text\":\"Run **undo**.\"}\n\n" + done, "Stop.\n\n---\nThe text above is withdrawn; the answer is:\n\nRun **undo**.\n"},
		"no stream at all": {"", "Run **undo**.\n" + references},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := apitest.New(t)
			api.Events = tc.events
			status, out, errOut := docent(t, "ask", "--server", api.URL, "--key", apitest.Key, "--stream", "How do I undo?")
			if status != 0 || out != tc.out {
				t.Errorf("status %d, output %q, want %q, errors %q", status, out, tc.out, errOut)
			}
		})
	}
}
