package app_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
)

// expectation is the expected effect of an event of events/.
type expectation struct {
	status int               // of an HTTP event
	code   string            // of its problem
	body   string            // part of its body
	header map[string]string // some of its headers
	failed []string          // message ids of a queue event, the last digit of each
	then   func(*stage)      // looks at what the event has changed
	silent bool              // the handler is not reached, so it logs nothing
}

// replayed are the functions whose events the tests below replay.
var replayed = []string{"collections", "documents", "answers", "context", "scim", "admin", "securityevents", "usage", "answering", "indexing", "embedding", "extracting", "delivering", "syncing", "sweeping"}

func TestEveryEventIsReplayed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../events/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if function, _, _ := strings.Cut(filepath.Base(file), "-"); !slices.Contains(replayed, function) {
			t.Errorf("no test replays %s", file)
		}
	}
}

// replay replays every file of events/ of a function, each on its own stage. A file that is not in the table fails, and so does
// an entry without a file.
func replay(t *testing.T, function string, expectations map[string]expectation) {
	t.Helper()
	t.Parallel()
	if !slices.Contains(replayed, function) {
		t.Errorf("add %s to the functions that are replayed", function)
	}
	files, err := filepath.Glob("../../events/" + function + "-*.json")
	if err != nil {
		t.Fatal(err)
	}
	for name := range expectations {
		if !slices.Contains(files, filepath.Join("../../events", function+"-"+name+".json")) {
			t.Errorf("there is no events/%s-%s.json", function, name)
		}
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), function+"-"), ".json")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, ok := expectations[name]
			if !ok {
				t.Fatal("no test expects anything of this file")
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := newStage(t)
			s.function = function
			s.event = s.expand(string(text))
			s.meets(want)
		})
	}
}

// meets replays the event of s.
func (s *stage) meets(want expectation) {
	s.t.Helper()
	answer := s.invoke(s.function, s.event)
	if want.status == 0 {
		s.wantFailed(answer, want.failed)
	} else {
		var response events.APIGatewayProxyResponse
		decode(s.t, answer, &response)
		header := http.Header(response.MultiValueHeaders)
		if response.StatusCode != want.status || !strings.Contains(response.Body, want.body) || header.Get("X-Request-Id") == "" {
			s.t.Errorf("%d %v %s, want %d %s", response.StatusCode, header, response.Body, want.status, want.body)
		}
		for name, value := range want.header {
			if !strings.HasPrefix(header.Get(name), value) {
				s.t.Errorf("%s: %q, want %q", name, header.Get(name), value)
			}
		}
		if want.code != "" {
			var p struct {
				Status          int
				Code, RequestID string
			}
			decode(s.t, []byte(response.Body), &p)
			if p.Status != want.status || p.Code != want.code || p.RequestID != header.Get("X-Request-Id") {
				s.t.Errorf("problem %+v, want %d %s", p, want.status, want.code)
			}
		}
	}
	s.wantLogged(!want.silent)
	if want.then != nil {
		want.then(s)
	}
}

func (s *stage) wantFailed(answer []byte, digits []string) {
	s.t.Helper()
	if s.function == "sweeping" {
		return // a schedule has no answer
	}
	var response struct{ BatchItemFailures []events.SQSBatchItemFailure }
	decode(s.t, answer, &response)
	var got []string
	for _, f := range response.BatchItemFailures {
		got = append(got, f.ItemIdentifier[len(f.ItemIdentifier)-1:])
	}
	slices.Sort(got)
	if !slices.Equal(got, digits) || response.BatchItemFailures == nil {
		s.t.Errorf("answer %s, want failed %v", answer, digits)
	}
}
