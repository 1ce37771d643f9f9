package app_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"docent/shared/pending"
)

// expectation is what an event of events/ brings about.
type expectation struct {
	status int               // of an HTTP event
	code   string            // of its problem
	body   string            // part of its body
	header map[string]string // some of its headers
	failed []string          // message ids of a queue event, the last digit of each
	then   func(*stage)      // looks at what the event has changed
	silent bool              // the handler is not reached, so it logs nothing
}

// TestEvents replays every file of events/ against the functions, each on a
// stage of its own. A file that is not in the table fails, and so does an entry
// without a file.
func TestEvents(t *testing.T) {
	t.Parallel()
	const link = `<https://docent.test/v1/documents?`
	answered := func(s *stage) { s.wantState("QUESTION", "complete") }
	expectations := map[string]expectation{
		"collections-list":                    {status: 200, body: `"name":"wiki"`, header: map[string]string{"X-Request-Id": "5f0f3c1e-8a47-4a6d-9c6b-2b7d1e0a9c33"}},
		"collections-list-stage-path":         {status: 200, body: `"name":"wiki"`, header: map[string]string{"X-Request-Id": "from-the-client"}},
		"collections-list-custom-domain":      {status: 200, body: `"name":"wiki"`},
		"collections-create":                  {status: 201, body: `"name":"Handbook"`, then: func(s *stage) { s.again(201) }},
		"collections-create-invalid":          {status: 400, code: "invalid-request", body: "/name"},
		"collections-get":                     {status: 200, body: `"name":"wiki"`},
		"collections-get-multi-value-headers": {status: 304},
		"collections-head":                    {status: 200, header: map[string]string{"Content-Type": "application/json"}},
		"collections-update":                  {status: 200, body: `"description":"All of it"`},
		"collections-delete": {status: 204, then: func(s *stage) {
			s.get("collections", "/collections/"+s.values["COLLECTION"], 404)
			s.wantWaiting(pending.RemoveCollection)
		}},
		"collections-options":      {status: 204, header: map[string]string{"Allow": "GET, HEAD, POST, OPTIONS"}},
		"collections-wrong-method": {status: 405, code: "method-not-allowed", header: map[string]string{"Allow": "GET, HEAD, POST, OPTIONS"}},
		"collections-unknown-path": {status: 404, code: "not-found"},
		"collections-no-key":       {status: 401, code: "unauthorized", header: map[string]string{"WWW-Authenticate": "Bearer"}},

		"documents-list":                   {status: 200, body: `"title":"Runbook"`},
		"documents-list-multi-value-query": {status: 200, header: map[string]string{"Link": link}},
		"documents-put":                    {status: 200, then: func(s *stage) { s.wantWaiting(pending.IndexDocument) }},
		"documents-put-base64":             {status: 200, then: func(s *stage) { s.wantWaiting(pending.IndexDocument) }},
		"documents-put-inflated":           {status: 200, then: func(s *stage) { s.wantWaiting(pending.IndexDocument) }},
		"documents-put-bad-base64":         {status: 400, code: "invalid-request", silent: true},
		"documents-get":                    {status: 200, body: "deployctl undo"},
		"documents-get-forged-context":     {status: 200, body: "deployctl undo"},
		"documents-get-encoded-slash":      {status: 404, code: "not-found"},
		"documents-get-decoded-slash":      {status: 404, code: "not-found"},
		"documents-get-question-mark":      {status: 404, code: "not-found", silent: true},
		"documents-get-broken-path":        {status: 400, code: "invalid-request", silent: true},
		"documents-delete": {status: 204, then: func(s *stage) {
			s.get("documents", "/documents/"+s.values["DOCUMENT"], 404)
			s.wantWaiting(pending.RemoveDocument)
		}},

		"answers-list":      {status: 200, body: `"state":"processing"`},
		"answers-ask":       {status: 204, then: func(s *stage) { s.wantWaiting(pending.AnswerQuestion) }},
		"answers-ask-again": {status: 204, then: func(s *stage) { s.wantWaiting() }},
		"answers-ask-upper-case": {status: 204, then: func(s *stage) {
			s.get("answers", "/answers/0190d2a0-0000-7000-8000-00000000000b", 200)
		}},
		"answers-get":         {status: 200, body: `"state":"complete"`, header: map[string]string{"Cache-Control": "no-store"}},
		"answers-get-waiting": {status: 200, body: `"state":"processing"`, header: map[string]string{"Preference-Applied": "wait=20", "Retry-After": "2"}},
		"answers-delete":      {status: 204, then: func(s *stage) { s.get("answers", "/answers/"+s.values["ANSWERED"], 404) }},

		"answering-one":              {then: answered},
		"answering-redelivered":      {then: func(s *stage) { s.wantState("ANSWERED", "complete"); s.wantState("QUESTION", "processing") }},
		"answering-twice-in-a-batch": {then: answered},
		"answering-mixed":            {failed: []string{"1", "3", "4"}, then: answered},
		"answering-empty":            {},

		"indexing-one":         {then: func(s *stage) { s.wantIndexed("CHANGED") }},
		"indexing-redelivered": {then: func(s *stage) { s.wantIndexed("DOCUMENT") }},
		"indexing-mixed":       {failed: []string{"2", "4"}, then: func(s *stage) { s.wantIndexed("CHANGED") }},
		"indexing-remove-collection": {then: func(s *stage) {
			s.get("collections", "/collections/"+s.values["EMPTIED"], 404)
			s.clock.Advance(2 * time.Minute)
			s.sweep()
			s.wantWaiting(pending.AnswerQuestion, pending.IndexDocument, pending.RemoveDocument) // and not RemoveCollection
		}},

		"sweeping-minute": {then: func(s *stage) { s.wantWaiting() }}, // nothing has been pending for a minute
	}
	files, err := filepath.Glob("../../events/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for name := range expectations {
		if !slices.Contains(files, filepath.Join("../../events", name+".json")) {
			t.Errorf("there is no events/%s.json", name)
		}
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
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
			s.function, _, _ = strings.Cut(name, "-")
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
