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

// TestEvents replays every file of events/ against the functions, each on its own stage. A file
// that is not in the table fails, and so does an entry without a file.
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
		"answers-ask-stream": {status: 200, body: "event: answer.completed", header: map[string]string{"Content-Type": "text/event-stream"},
			then: func(s *stage) { s.wantWaiting() }},
		"answers-get-stream":       {status: 200, body: "event: answer.completed", header: map[string]string{"X-Accel-Buffering": "no"}},
		"answers-chat":             {status: 200, body: `"object":"chat.completion"`, then: func(s *stage) { s.wantWaiting() }},
		"answers-responses":        {status: 200, body: `"object":"response"`, then: func(s *stage) { s.wantWaiting() }},
		"answers-responses-stream": {status: 200, body: "response.completed", then: func(s *stage) { s.wantWaiting() }},
		"answers-chat-stream":      {status: 200, body: "data: [DONE]", then: func(s *stage) { s.wantWaiting() }},
		"answers-feedback": {status: 204, then: func(s *stage) {
			if a := s.get("answers", "/answers/"+s.values["ANSWERED"], 200); !strings.Contains(a, `"rating":"down"`) {
				s.t.Error(a)
			}
		}},
		"answers-models":      {status: 200, body: `"id":"docent"`},
		"answers-get":         {status: 200, body: `"state":"complete"`, header: map[string]string{"Cache-Control": "no-store"}},
		"answers-get-waiting": {status: 200, body: `"state":"processing"`, header: map[string]string{"Preference-Applied": "wait=20", "Retry-After": "2"}},
		"answers-delete":      {status: 204, then: func(s *stage) { s.get("answers", "/answers/"+s.values["ANSWERED"], 404) }},

		"context-research-stream":  {status: 200, body: "event: answer.completed"},
		"context-search":           {status: 200, body: `"title":"Login fails"`},
		"context-search-invalid":   {status: 400, code: "invalid-request", body: "/query"},
		"context-query-issues":     {status: 200, body: `"state":"open"`},
		"context-research":         {status: 200, body: "deployctl undo"},
		"context-get":              {status: 200, body: `"code":"not-found"`}, // the team lets nothing be fetched
		"context-wrong-method":     {status: 405, code: "method-not-allowed", header: map[string]string{"Allow": "POST, OPTIONS"}},
		"context-unknown-path":     {status: 404, code: "not-found"},
		"context-no-key":           {status: 401, code: "unauthorized"},
		"context-mcp-initialize":   {status: 200, body: `"serverInfo":{`},
		"context-mcp-initialized":  {status: 202},
		"context-mcp-tools-list":   {status: 200, body: `"name":"context_research"`},
		"context-mcp-search":       {status: 200, body: `Login fails`},
		"context-mcp-ask":          {status: 200, body: `processing`, then: func(s *stage) { s.wantWaiting(pending.AnswerQuestion) }},
		"context-mcp-invalid":      {status: 400, code: "invalid-request"},
		"context-mcp-no-key":       {status: 401, code: "unauthorized"},
		"context-mcp-wrong-method": {status: 405, code: "method-not-allowed"},

		"scim-users-list":           {status: 200, body: `"totalResults":1`, header: map[string]string{"Content-Type": "application/scim+json"}},
		"scim-users-create":         {status: 201, body: `"userName":"alan@acme.test"`, then: func(s *stage) { s.again(409) }},
		"scim-users-create-taken":   {status: 409, body: `"scimType":"uniqueness"`},
		"scim-users-create-invalid": {status: 400, body: `"scimType":"invalidValue"`},
		"scim-users-patch":          {status: 200, body: `"active":false`},
		"scim-users-delete": {status: 204, then: func(s *stage) {
			s.callAs("SCIM", "scim", "GET", "/scim/v2/Users/"+s.values["USER"], "", 404)
		}},
		"scim-unknown-path":   {status: 404, body: `"status":"404"`},
		"scim-wrong-key-kind": {status: 403, body: `"status":"403"`},
		"scim-no-key":         {status: 401, body: `"status":"401"`, header: map[string]string{"WWW-Authenticate": "Bearer"}},

		"admin-me":                       {status: 200, body: `"name":"acme"`},
		"admin-team-update":              {status: 200, body: `"name":"Acme Corporation"`},
		"admin-team-update-invalid":      {status: 400, code: "invalid-request", body: "/name"},
		"admin-team-update-not-an-admin": {status: 403, code: "admin-required"},
		"admin-keys-list":                {status: 200, body: `"lastUsedAt"`, header: map[string]string{"Link": "<https://docent.test/v1/api-keys?"}},
		"admin-keys-create":              {status: 201, body: `"secret":"docent_team_`, header: map[string]string{"Cache-Control": "no-store"}},
		"admin-keys-revoke":              {status: 204},
		"admin-saml-put":                 {status: 200, body: `"entityId":"https://idp.test/"`},
		"admin-data-sources-list":        {status: 200, body: `"provider":"jira"`},
		"admin-data-sources-create":      {status: 201, body: `"provider":"linear"`},
		"admin-data-sources-import":      {status: 200, then: func(s *stage) { s.wantWaiting(pending.IndexDocument) }},
		"admin-data-sources-delete":      {status: 204, then: func(s *stage) { s.wantWaiting(pending.RemoveCollection) }},
		"admin-webhooks-github":          {status: 202, then: func(s *stage) { s.wantWaiting(pending.IndexDocument) }},
		"admin-webhooks-github-forged":   {status: 401, code: "unauthorized", then: func(s *stage) { s.wantWaiting() }},
		"admin-unknown-path":             {status: 404, code: "not-found"},
		"admin-unknown-path-no-key":      {status: 401, code: "unauthorized"},
		"admin-root":                     {status: 404, code: "not-found"},

		"securityevents-list":                {status: 200, body: `"collection.created"`},
		"securityevents-list-ocsf":           {status: 200, body: `"class_uid":`},
		"securityevents-list-invalid-cursor": {status: 400, code: "invalid-cursor"},
		"securityevents-types":               {status: 200, body: `"document.replaced"`},
		"securityevents-get-unknown":         {status: 404, code: "not-found"},
		"securityevents-not-an-admin":        {status: 403, code: "admin-required"},
		"securityevents-wrong-method":        {status: 405, code: "method-not-allowed"},
		"securityevents-unknown-path":        {status: 404, code: "not-found"},

		"usage-report":         {status: 200, body: `"2026-11-21`},
		"usage-report-csv":     {status: 200, header: map[string]string{"Content-Type": "text/csv"}},
		"usage-report-invalid": {status: 400, code: "invalid-request"},
		"usage-users":          {status: 200, body: `"users":[`},
		"usage-unanswered":     {status: 200, body: `"groups":[`},
		"usage-quotas":         {status: 200, body: `"limit":1000`},
		"usage-wrong-method":   {status: 405, code: "method-not-allowed"},
		"usage-unknown-path":   {status: 404, code: "not-found"},

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

		"embedding-one": {then: func(s *stage) {
			s.wantMeaning("DOCUMENT", "done")
			s.wantFailed(s.invoke(s.function, s.event), nil) // SQS delivers it once more
			s.wantMeaning("DOCUMENT", "done")
		}},
		"embedding-mixed": {failed: []string{"2", "3"}, then: func(s *stage) { s.wantMeaning("DOCUMENT", "done") }},

		"extracting-one": {then: func(s *stage) {
			if got := s.get("documents", "/documents/"+s.values["FILE"], 200); !strings.Contains(got, "The office opens at eight.") || !strings.Contains(got, `"state":"pending"`) {
				s.t.Errorf("after reading the file: %s", got)
			}
			s.wantWaiting(pending.IndexDocument)
			s.wantFailed(s.invoke(s.function, s.event), nil) // SQS delivers it once more
			s.wantWaiting()
			s.get("documents", "/documents/"+s.values["FILE"]+"/original", 200)
		}},
		"extracting-mixed": {failed: []string{"2", "3"}, then: func(s *stage) { s.wantWaiting(pending.IndexDocument) }},

		"delivering-one": {then: func(s *stage) {
			s.wantDelivered()
			s.invoke(s.function, s.event) // SQS delivers it once more
			s.wantDelivered()
		}},
		"delivering-mixed": {failed: []string{"2", "3"}, then: func(s *stage) { s.wantDelivered() }},

		"syncing-one": {then: func(s *stage) {
			if got := s.get("admin", "/data-sources", 200); !strings.Contains(got, `"read":1`) || !strings.Contains(got, `"lastSync":"2026-11-21`) {
				s.t.Errorf("after the sync: %s", got)
			}
			s.wantWaiting(pending.IndexDocument) // the issue
			s.invoke(s.function, s.event)
			s.wantWaiting() // it was done already
		}},
		"syncing-mixed": {failed: []string{"2", "3"}, then: func(s *stage) { s.wantWaiting(pending.IndexDocument) }},

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
