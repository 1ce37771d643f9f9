package app_test

import (
	"strings"
	"testing"
	"time"

	"docent/shared/pending"
)

func TestEventsOfCollections(t *testing.T) {
	replay(t, "collections", map[string]expectation{
		"list":                    {status: 200, body: `"name":"wiki"`, header: map[string]string{"X-Request-Id": "5f0f3c1e-8a47-4a6d-9c6b-2b7d1e0a9c33"}},
		"list-stage-path":         {status: 200, body: `"name":"wiki"`, header: map[string]string{"X-Request-Id": "from-the-client"}},
		"list-custom-domain":      {status: 200, body: `"name":"wiki"`},
		"create":                  {status: 201, body: `"name":"Handbook"`, then: func(s *stage) { s.again(201) }},
		"create-invalid":          {status: 400, code: "invalid-request", body: "/name"},
		"get":                     {status: 200, body: `"name":"wiki"`},
		"get-multi-value-headers": {status: 304},
		"head":                    {status: 200, header: map[string]string{"Content-Type": "application/json"}},
		"update":                  {status: 200, body: `"description":"All of it"`},
		"delete": {status: 204, then: func(s *stage) {
			s.get("collections", "/collections/"+s.values["COLLECTION"], 404)
			s.wantWaiting(pending.RemoveCollection)
		}},
		"options":      {status: 204, header: map[string]string{"Allow": "GET, HEAD, POST, OPTIONS"}},
		"wrong-method": {status: 405, code: "method-not-allowed", header: map[string]string{"Allow": "GET, HEAD, POST, OPTIONS"}},
		"unknown-path": {status: 404, code: "not-found"},
		"no-key":       {status: 401, code: "unauthorized", header: map[string]string{"WWW-Authenticate": "Bearer"}},
	})
}

func TestEventsOfDocuments(t *testing.T) {
	replay(t, "documents", map[string]expectation{
		"list":                   {status: 200, body: `"title":"Runbook"`},
		"list-multi-value-query": {status: 200, body: `"uri":"https://wiki.test/`},
		"put":                    {status: 200, then: func(s *stage) { s.wantWaiting(pending.IndexDocument) }},
		"put-base64":             {status: 200, then: func(s *stage) { s.wantWaiting(pending.IndexDocument) }},
		"put-inflated":           {status: 200, then: func(s *stage) { s.wantWaiting(pending.IndexDocument) }},
		"put-bad-base64":         {status: 400, code: "invalid-request", silent: true},
		"get":                    {status: 200, body: "deployctl undo"},
		"get-forged-context":     {status: 200, body: "deployctl undo"},
		"get-encoded-slash":      {status: 404, code: "not-found"},
		"get-decoded-slash":      {status: 404, code: "not-found"},
		"get-question-mark":      {status: 404, code: "not-found"},
		"get-broken-path":        {status: 404, code: "not-found"},
		"delete": {status: 204, then: func(s *stage) {
			s.get("documents", "/documents/"+s.values["DOCUMENT"], 404)
			s.wantWaiting(pending.RemoveDocument)
		}},
	})
}

func TestEventsOfAnswers(t *testing.T) {
	replay(t, "answers", map[string]expectation{
		"list":      {status: 200, body: `"state":"processing"`},
		"ask":       {status: 204, then: func(s *stage) { s.wantWaiting(pending.AnswerQuestion) }},
		"ask-again": {status: 204, then: func(s *stage) { s.wantWaiting() }},
		"ask-upper-case": {status: 204, then: func(s *stage) {
			s.get("answers", "/answers/0190d2a0-0000-7000-8000-00000000000b", 200)
		}},
		"ask-stream": {status: 200, body: "event: answer.completed", header: map[string]string{"Content-Type": "text/event-stream"},
			then: func(s *stage) { s.wantWaiting() }},
		"get-stream":       {status: 200, body: "event: answer.completed", header: map[string]string{"X-Accel-Buffering": "no"}},
		"chat":             {status: 200, body: `"object":"chat.completion"`, then: func(s *stage) { s.wantWaiting() }},
		"responses":        {status: 200, body: `"object":"response"`, then: func(s *stage) { s.wantWaiting() }},
		"responses-stream": {status: 200, body: "response.completed", then: func(s *stage) { s.wantWaiting() }},
		"chat-stream":      {status: 200, body: "data: [DONE]", then: func(s *stage) { s.wantWaiting() }},
		"feedback": {status: 204, then: func(s *stage) {
			if a := s.get("answers", "/answers/"+s.values["ANSWERED"], 200); !strings.Contains(a, `"rating":"down"`) {
				s.t.Error(a)
			}
		}},
		"models":      {status: 200, body: `"id":"docent"`},
		"get":         {status: 200, body: `"state":"complete"`, header: map[string]string{"Cache-Control": "no-store"}},
		"get-waiting": {status: 200, body: `"state":"processing"`, header: map[string]string{"Preference-Applied": "wait=20", "Retry-After": "2"}},
		"delete":      {status: 204, then: func(s *stage) { s.get("answers", "/answers/"+s.values["ANSWERED"], 404) }},
	})
}

func TestEventsOfContext(t *testing.T) {
	replay(t, "context", map[string]expectation{
		"research-stream":  {status: 200, body: "event: answer.completed"},
		"search":           {status: 200, body: `"title":"Login fails"`},
		"search-invalid":   {status: 400, code: "invalid-request", body: "/query"},
		"query-issues":     {status: 200, body: `"state":"open"`},
		"research":         {status: 200, body: "deployctl undo"},
		"get":              {status: 200, body: `"code":"not-found"`}, // the team lets nothing be fetched
		"wrong-method":     {status: 405, code: "method-not-allowed", header: map[string]string{"Allow": "POST, OPTIONS"}},
		"unknown-path":     {status: 404, code: "not-found"},
		"no-key":           {status: 401, code: "unauthorized"},
		"mcp-initialize":   {status: 200, body: `"serverInfo":{`},
		"mcp-initialized":  {status: 202},
		"mcp-tools-list":   {status: 200, body: `"name":"context_research"`},
		"mcp-search":       {status: 200, body: `Login fails`},
		"mcp-ask":          {status: 200, body: `processing`, then: func(s *stage) { s.wantWaiting(pending.AnswerQuestion) }},
		"mcp-invalid":      {status: 400, code: "invalid-request"},
		"mcp-no-key":       {status: 401, code: "unauthorized"},
		"mcp-wrong-method": {status: 405, code: "method-not-allowed"},
	})
}

func TestEventsOfSCIM(t *testing.T) {
	replay(t, "scim", map[string]expectation{
		"users-list":           {status: 200, body: `"totalResults":1`, header: map[string]string{"Content-Type": "application/scim+json"}},
		"users-create":         {status: 201, body: `"userName":"alan@acme.test"`, then: func(s *stage) { s.again(409) }},
		"users-create-taken":   {status: 409, body: `"scimType":"uniqueness"`},
		"users-create-invalid": {status: 400, body: `"scimType":"invalidValue"`},
		"users-patch":          {status: 200, body: `"active":false`},
		"users-delete": {status: 204, then: func(s *stage) {
			s.callAs("SCIM", "scim", "GET", "/scim/v2/Users/"+s.values["USER"], "", 404)
		}},
		"unknown-path":   {status: 404, body: `"status":"404"`},
		"wrong-key-kind": {status: 403, body: `"status":"403"`},
		"no-key":         {status: 401, body: `"status":"401"`, header: map[string]string{"WWW-Authenticate": "Bearer"}},
	})
}

func TestEventsOfAdmin(t *testing.T) {
	replay(t, "admin", map[string]expectation{
		"me":                       {status: 200, body: `"name":"acme"`},
		"team-update":              {status: 200, body: `"name":"Acme Corporation"`},
		"team-update-invalid":      {status: 400, code: "invalid-request", body: "/name"},
		"team-update-not-an-admin": {status: 403, code: "admin-required"},
		"keys-list":                {status: 200, body: `"lastUsedAt"`, header: map[string]string{"Link": "<https://docent.test/v1/api-keys?"}},
		"keys-create":              {status: 201, body: `"secret":"docent_team_`, header: map[string]string{"Cache-Control": "no-store"}},
		"keys-revoke":              {status: 204},
		"saml-put":                 {status: 200, body: `"entityId":"https://idp.test/"`},
		"data-sources-list":        {status: 200, body: `"provider":"jira"`},
		"data-sources-create":      {status: 201, body: `"provider":"linear"`},
		"data-sources-import":      {status: 200, then: func(s *stage) { s.wantWaiting(pending.IndexDocument) }},
		"data-sources-delete":      {status: 204, then: func(s *stage) { s.wantWaiting(pending.RemoveCollection) }},
		"webhooks-github":          {status: 202, then: func(s *stage) { s.wantWaiting(pending.IndexDocument) }},
		"webhooks-github-forged":   {status: 401, code: "unauthorized", then: func(s *stage) { s.wantWaiting() }},
		"unknown-path":             {status: 404, code: "not-found"},
		"unknown-path-no-key":      {status: 401, code: "unauthorized"},
		"root":                     {status: 404, code: "not-found"},
	})
}

func TestEventsOfSecurityEvents(t *testing.T) {
	replay(t, "securityevents", map[string]expectation{
		"list":                {status: 200, body: `"collection.created"`},
		"list-ocsf":           {status: 200, body: `"class_uid":`},
		"list-invalid-cursor": {status: 400, code: "invalid-cursor"},
		"types":               {status: 200, body: `"document.replaced"`},
		"get-unknown":         {status: 404, code: "not-found"},
		"not-an-admin":        {status: 403, code: "admin-required"},
		"wrong-method":        {status: 405, code: "method-not-allowed"},
		"unknown-path":        {status: 404, code: "not-found"},
	})
}

func TestEventsOfUsage(t *testing.T) {
	replay(t, "usage", map[string]expectation{
		"report":         {status: 200, body: `"2026-11-21`},
		"report-csv":     {status: 200, header: map[string]string{"Content-Type": "text/csv"}},
		"report-invalid": {status: 400, code: "invalid-request"},
		"users":          {status: 200, body: `"users":[`},
		"unanswered":     {status: 200, body: `"groups":[`},
		"quotas":         {status: 200, body: `"limit":1000`},
		"wrong-method":   {status: 405, code: "method-not-allowed"},
		"unknown-path":   {status: 404, code: "not-found"},
	})
}

func TestEventsOfAnswering(t *testing.T) {
	answered := func(s *stage) { s.wantState("QUESTION", "complete") }
	replay(t, "answering", map[string]expectation{
		"one":              {then: answered},
		"redelivered":      {then: func(s *stage) { s.wantState("ANSWERED", "complete"); s.wantState("QUESTION", "processing") }},
		"twice-in-a-batch": {then: answered},
		"mixed":            {failed: []string{"1", "3", "4"}, then: answered},
		"empty":            {},
	})
}

func TestEventsOfIndexing(t *testing.T) {
	replay(t, "indexing", map[string]expectation{
		"one":         {then: func(s *stage) { s.wantIndexed("CHANGED") }},
		"redelivered": {then: func(s *stage) { s.wantIndexed("DOCUMENT") }},
		"mixed":       {failed: []string{"2", "4"}, then: func(s *stage) { s.wantIndexed("CHANGED") }},
		"remove-collection": {then: func(s *stage) {
			s.get("collections", "/collections/"+s.values["EMPTIED"], 404)
			s.clock.Advance(2 * time.Minute)
			s.sweep()
			s.wantWaiting(pending.AnswerQuestion, pending.IndexDocument, pending.RemoveDocument) // and not RemoveCollection
		}},
	})
}

func TestEventsOfEmbedding(t *testing.T) {
	replay(t, "embedding", map[string]expectation{
		"one": {then: func(s *stage) {
			s.wantMeaning("DOCUMENT", "done")
			s.wantFailed(s.invoke(s.function, s.event), nil) // SQS delivers it once more
			s.wantMeaning("DOCUMENT", "done")
		}},
		"mixed": {failed: []string{"2", "3"}, then: func(s *stage) { s.wantMeaning("DOCUMENT", "done") }},
	})
}

func TestEventsOfExtracting(t *testing.T) {
	replay(t, "extracting", map[string]expectation{
		"one": {then: func(s *stage) {
			if got := s.get("documents", "/documents/"+s.values["FILE"], 200); !strings.Contains(got, "The office opens at eight.") || !strings.Contains(got, `"state":"pending"`) {
				s.t.Errorf("after reading the file: %s", got)
			}
			s.wantWaiting(pending.IndexDocument)
			s.wantFailed(s.invoke(s.function, s.event), nil) // SQS delivers it once more
			s.wantWaiting()
			s.get("documents", "/documents/"+s.values["FILE"]+"/original", 200)
		}},
		"mixed": {failed: []string{"2", "3"}, then: func(s *stage) { s.wantWaiting(pending.IndexDocument) }},
	})
}

func TestEventsOfDelivering(t *testing.T) {
	replay(t, "delivering", map[string]expectation{
		"one": {then: func(s *stage) {
			s.wantDelivered()
			s.invoke(s.function, s.event) // SQS delivers it once more
			s.wantDelivered()
		}},
		"mixed": {failed: []string{"2", "3"}, then: func(s *stage) { s.wantDelivered() }},
	})
}

func TestEventsOfSyncing(t *testing.T) {
	replay(t, "syncing", map[string]expectation{
		"one": {then: func(s *stage) {
			if got := s.get("admin", "/data-sources", 200); !strings.Contains(got, `"read":1`) || !strings.Contains(got, `"lastSync":"2026-11-21`) {
				s.t.Errorf("after the sync: %s", got)
			}
			s.wantWaiting(pending.IndexDocument) // the issue
			s.invoke(s.function, s.event)
			s.wantWaiting() // it was done already
		}},
		"mixed": {failed: []string{"2", "3"}, then: func(s *stage) { s.wantWaiting(pending.IndexDocument) }},
	})
}

func TestEventsOfSweeping(t *testing.T) {
	replay(t, "sweeping", map[string]expectation{
		"minute": {then: func(s *stage) { s.wantWaiting() }}, // nothing has been pending for a minute
	})
}
