package httpapi_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/app"
	"docent/shared/httpapi"
)

// example is one operation on data of a team, and on nothing.
type example struct {
	owned, unknown call // the same call with an id of the team and with one that nothing has
	gone           bool // it succeeds for missing data
	list           bool // it names no data but shows the caller's own
	echoes         bool // it shows what the caller itself has sent
	spends         bool // it stores under an id that the caller chooses
	admin          bool // it adds something, and only an admin may
}

// examples returns a call of each operation, by its id in the OpenAPI document.
func examples(collection, document, question string) map[string]example {
	two := func(method, path, id string, body any) (owned, unknown call) {
		return call{method, path + id, "", body, nil}, call{method, path + unknownID, "", body, nil}
	}
	of := func(method, path, id string, body any) example {
		owned, unknown := two(method, path, id, body)
		return example{owned: owned, unknown: unknown, gone: method == "DELETE" && path != "/answers/"}
	}
	put := func(collection string) call {
		return call{"PUT", "/documents", "", map[string]string{"collectionId": collection, "title": "t", "body": "b", "uri": "https://x.test/"}, nil}
	}
	ask := of("PUT", "/answers/", question, map[string]string{"question": "Who are we?"})
	ask.spends = true
	return map[string]example{
		"listSecurityEvents":     {owned: call{"GET", "/security-events", "", nil, nil}, list: true, echoes: true},
		"listSecurityEventTypes": {owned: call{"GET", "/security-events/types", "", nil, nil}, list: true},
		"getSecurityEvent":       of("GET", "/security-events/", "evt_126AAK2R4BMPQ0000000000Y2Z", nil),
		"getUsage":               {owned: call{"GET", "/usage?start=2026-11-20", "", nil, nil}, list: true},
		"listUsageUsers":         {owned: call{"GET", "/usage/users?start=2026-11-20", "", nil, nil}, list: true},
		"getQuotas":              {owned: call{"GET", "/usage/quotas", "", nil, nil}, list: true},

		"listCollections":  {owned: call{"GET", "/collections", "", nil, nil}, list: true},
		"createCollection": {owned: call{"POST", "/collections", "", map[string]string{"name": "n", "description": "d"}, nil}, list: true},
		"getCollection":    of("GET", "/collections/", collection, nil),
		"updateCollection": of("PATCH", "/collections/", collection, map[string]string{"name": "stolen"}),
		"deleteCollection": of("DELETE", "/collections/", collection, nil),
		"listDocuments":    {owned: call{"GET", "/documents?collectionId=" + collection, "", nil, nil}, unknown: call{"GET", "/documents?collectionId=" + unknownID, "", nil, nil}, list: true, gone: true},
		"putDocument":      {owned: put(collection), unknown: put(unknownID)},
		"createUpload":     {owned: call{"POST", "/uploads", "", map[string]any{"mediaType": "application/pdf", "size": 5}, nil}, list: true},
		"getDocument":      of("GET", "/documents/", document, nil),
		"getDocumentOriginal": {owned: call{"GET", "/documents/" + document + "/original", "", nil, nil},
			unknown: call{"GET", "/documents/" + unknownID + "/original", "", nil, nil}},
		"getDocumentAccess": {owned: call{"GET", "/documents/" + document + "/access?user=ada", "", nil, nil},
			unknown: call{"GET", "/documents/" + unknownID + "/access?user=ada", "", nil, nil}},
		"updateDocument": of("PATCH", "/documents/", document, map[string]any{"title": "stolen"}),
		"deleteDocument": of("DELETE", "/documents/", document, nil),
		"listAnswers":    {owned: call{"GET", "/answers", "", nil, nil}, list: true},
		"askQuestion":    ask,
		"getAnswer":      of("GET", "/answers/", question, nil),
		"deleteAnswer":   of("DELETE", "/answers/", question, nil),

		"createChatCompletion":  {owned: call{"POST", "/chat/completions", "", map[string]any{"model": "docent", "messages": []any{map[string]any{"role": "user", "content": "Who?"}}}, nil}, list: true},
		"createResponse":        {owned: call{"POST", "/responses", "", map[string]any{"model": "docent", "input": "Who?"}, nil}, list: true},
		"listModels":            {owned: call{"GET", "/models", "", nil, nil}, list: true},
		"getModel":              {owned: call{"GET", "/models/docent", "", nil, nil}, list: true},
		"rateAnswer":            {owned: rateCall(question), unknown: rateCall(unknownID)},
		"listUnanswered":        {owned: call{"GET", "/usage/unanswered", "", nil, nil}, list: true},
		"searchContext":         {owned: contextCall("search"), list: true},
		"searchCode":            {owned: contextCall("search/code"), list: true},
		"searchPullRequests":    {owned: contextCall("search/prs"), list: true},
		"searchIssues":          {owned: contextCall("search/issues"), list: true},
		"searchDocumentation":   {owned: contextCall("search/documentation"), list: true},
		"searchMessages":        {owned: contextCall("search/messages"), list: true},
		"research":              {owned: contextCall("research"), list: true},
		"queryIssues":           {owned: contextCall("query/issues"), list: true},
		"queryPullRequests":     {owned: contextCall("query/prs"), list: true},
		"getContent":            {owned: call{"POST", "/context/get", "", map[string]any{"urls": []string{"https://acme.test/"}}, nil}, list: true},
		"callTools":             {owned: call{"POST", "/mcp", "", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, nil}, list: true},
		"listDataSources":       {owned: call{"GET", "/data-sources", "", nil, nil}, list: true},
		"createDataSource":      {owned: newDataSource, admin: true},
		"importItems":           {owned: importCall(collection), unknown: importCall(unknownID)},
		"updateDataSource":      {owned: call{"PATCH", "/data-sources/" + collection, "", map[string]any{}, nil}, unknown: call{"PATCH", "/data-sources/" + unknownID, "", map[string]any{}, nil}},
		"syncDataSource":        {owned: call{"POST", "/data-sources/" + collection + "/sync", "", nil, nil}, unknown: call{"POST", "/data-sources/" + unknownID + "/sync", "", nil, nil}},
		"deleteDataSource":      {owned: call{"DELETE", "/data-sources/" + collection, "", nil, nil}, unknown: call{"DELETE", "/data-sources/" + unknownID, "", nil, nil}},
		"listWebhookEndpoints":  {owned: call{"GET", "/webhook-endpoints", "", nil, nil}, admin: true},
		"createWebhookEndpoint": {owned: newWebhookEndpoint, admin: true},
		"getWebhookEndpoint":    of("GET", "/webhook-endpoints/", unknownID, nil), // TestAnotherTeamsWebhooksAreAbsent has known ones
		"updateWebhookEndpoint": of("PATCH", "/webhook-endpoints/", unknownID, map[string]any{"disabled": true}),
		"deleteWebhookEndpoint": {owned: call{"DELETE", "/webhook-endpoints/" + unknownID, "", nil, nil}, unknown: call{"DELETE", "/webhook-endpoints/" + unknownID, "", nil, nil}},
		"rotateWebhookSecret":   below("POST", "/rotate", map[string]any{}),
		"testWebhookEndpoint":   below("POST", "/test", nil),
		"listWebhookDeliveries": below("GET", "/deliveries", nil),
		"replayWebhookDelivery": below("POST", "/deliveries/msg_1/replay", nil),
		"takeGitHubDelivery":    of("POST", "/webhooks/github/", collection, nil),
		"takeGitLabDelivery":    of("POST", "/webhooks/gitlab/", collection, nil),
		"takeSlackEvent":        of("POST", "/webhooks/slack/", collection, nil),
	}
}

var newWebhookEndpoint = call{"POST", "/webhook-endpoints", "", map[string]any{"url": "https://hooks.test/docent", "eventTypes": []string{"answer.failed"}}, nil}

// below returns a call of an operation below an unknown webhook endpoint.
func below(method, path string, body any) example {
	c := call{method, "/webhook-endpoints/" + unknownID + path, "", body, nil}
	return example{owned: c, unknown: c}
}

func rateCall(question string) call {
	return call{"PUT", "/answers/" + question + "/feedback", "", map[string]string{"rating": "down"}, nil}
}

func contextCall(path string) call {
	return call{"POST", "/context/" + path, "", map[string]string{"query": "kirschkern"}, nil}
}

var newDataSource = call{"POST", "/data-sources", "", map[string]string{"provider": "jira", "name": "n"}, nil}

func importCall(id string) call {
	return call{"POST", "/data-sources/" + id + "/items", "", `{"uri":"https://x.test/","title":"t","body":"b","sourceType":"issue"}`,
		map[string]string{"Content-Type": "application/x-ndjson"}}
}

// walk calls visit for every operation of the OpenAPI document. An operation
// without an example fails the test, as does an example without an operation.
func walk(t *testing.T, all map[string]example, visit func(op *huma.Operation, e example)) {
	t.Helper()
	var seen, missing []string
	var visits []func()
	for path, item := range httpapi.OpenAPI(app.Providers()).Paths {
		for method, op := range map[string]*huma.Operation{"GET": item.Get, "POST": item.Post, "PUT": item.Put, "PATCH": item.Patch, "DELETE": item.Delete, "HEAD": item.Head, "OPTIONS": item.Options, "TRACE": item.Trace} {
			if op == nil {
				continue
			}
			if tag := op.Tags[0]; slices.Contains([]string{"SCIM", "Administration", "Sessions", "Agents"}, tag) {
				continue // scim_test.go, admin_test.go, sessions_test.go and oauth_test.go
			}
			e, ok := all[op.OperationID]
			if !ok {
				missing = append(missing, op.OperationID+" ("+method+" "+path+")")
				continue
			}
			if e.owned.method != method {
				t.Errorf("the example of %s is a %s", op.OperationID, e.owned.method)
			}
			seen = append(seen, op.OperationID)
			visits = append(visits, func() {
				t.Log(op.OperationID) // the last one before a failure
				visit(op, e)
			})
		}
	}
	if len(missing) > 0 {
		t.Fatalf("add a request to the function examples, in this file, for the new operations %s", strings.Join(missing, ", "))
	}
	for _, visit := range visits {
		visit()
	}
	for id := range all {
		if !slices.Contains(seen, id) {
			t.Errorf("unknown operation %s", id)
		}
	}
}

func TestNoOperationWithoutAKey(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	walk(t, examples(unknownID, unknownID, unknownID), func(op *huma.Operation, e example) {
		reply := a.refused(e.owned, 401, "unauthorized")
		if got := reply.Header.Get("WWW-Authenticate"); got != "Bearer" && op.OperationID != "callTools" {
			t.Errorf("WWW-Authenticate %q", got)
		}
		for _, status := range []string{"401", "403", "405", "429", "500", "503"} {
			if op.Responses[status] == nil {
				t.Errorf("the document does not name status %s", status)
			}
		}
	})
}

var requestIDMember = regexp.MustCompile(`"requestId":"[^"]*"`)

// shown returns the parts of a reply that a client can compare.
func shown(r response) string {
	return r.Status + requestIDMember.ReplaceAllString(string(r.body), "") + r.Header.Get("ETag") + r.Header.Get("Link")
}

// TestAnotherTeamsDataIsAbsent: an id of another team and an unknown id get the same reply, for
// every operation and every kind of key, and no data of the other team changes.
func TestAnotherTeamsDataIsAbsent(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme, rival := a.newTenant("acme"), a.newTenant("rival")
	const secret = "Kirschkern"
	collection := a.newCollection(acme.key, secret)
	document := a.putDocument(acme.key, collection, "https://acme.test/"+secret, secret, secret)
	question := numberedID(1)
	a.ask(acme.key, question, secret).want(t, 204)
	state := func() string {
		return shown(a.do(call{"GET", "/collections/" + collection, acme.key, nil, nil})) +
			shown(a.do(call{"GET", "/documents/" + document, acme.key, nil, nil})) +
			shown(a.do(call{"GET", "/answers/" + question, acme.key, nil, nil}))
	}
	before := state()
	for _, key := range []string{rival.key, rival.pat} {
		walk(t, examples(collection, document, question), func(_ *huma.Operation, e example) {
			reply := a.do(e.owned.as(key))
			if strings.Contains(string(reply.body), secret) || strings.Contains(string(reply.body), acme.ID) {
				t.Errorf("another team reads %s", reply.body)
			}
			switch {
			case e.spends: // the id is taken: the one thing that a client can see, and no more
				reply.wantCode(t, 409, "answer-conflict")
			case e.admin:
				if reply.StatusCode != 403 && reply.StatusCode >= 300 {
					t.Errorf("status %d: %s", reply.StatusCode, reply.body)
				}
			case e.list && e.unknown.method == "":
				if reply.StatusCode >= 300 || e.owned.method == "GET" && !e.echoes && strings.Contains(string(reply.body), collection) {
					t.Errorf("status %d: %s", reply.StatusCode, reply.body)
				}
			default:
				unknown := a.do(e.unknown.as(key))
				if shown(reply) != shown(unknown) {
					t.Errorf("another team's: %s\nunknown: %s", shown(reply), shown(unknown))
				}
				if e.gone != (reply.StatusCode < 300) {
					t.Errorf("status %d", reply.StatusCode)
				}
			}
		})
	}
	if after := state(); after != before || !strings.Contains(after, secret) {
		t.Errorf("before: %s\nafter: %s", before, after)
	}
}
