package httpapi

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// example is a request of an operation and its reply, as JSON.
type example struct{ request, reply string }

// The ids of the examples.
const (
	exampleCollection = "0198b6a4-5f0e-7c3d-9a41-1d2e3f405162"
	exampleUpload     = "0f6d1c84-7b1e-4c55-9d0a-3f2e8b6a9c71"
	exampleDocument   = "6e1c2a74-0d5b-5f7e-8a3c-94b1d7e20f58"
	exampleQuestion   = "1f0c9a52-3b7d-4c1e-9d84-27a6b5c0e913"
)

const exampleSources = `{"sources":[{"content":"## Rolling back\n\nRun ` + "`deploy rollback`" + ` with the number of the release.","title":"Releases",` +
	`"url":"https://wiki.acme.example/releases","sourceType":"documentation","provider":"custom"}]}`

// examples has, by operation, what the document shows. A test sends each request and compares the
// members of its reply.
var examples = map[string]example{
	"createCollection": {`{"name":"Handbook","description":"How we work: on-call, releases, holidays.","iconUrl":"https://wiki.acme.example/book.svg"}`,
		`{"id":"` + exampleCollection + `","name":"Handbook","description":"How we work: on-call, releases, holidays.","iconUrl":"https://wiki.acme.example/book.svg"}`},
	"updateCollection": {`{"description":"How we work.","iconUrl":null}`,
		`{"id":"` + exampleCollection + `","name":"Handbook","description":"How we work."}`},
	"getCollection": {"", `{"id":"` + exampleCollection + `","name":"Handbook","description":"How we work."}`},
	"putDocument": {`{"collectionId":"` + exampleCollection + `","title":"Releases","body":"## Rolling back\n\nRun ` + "`deploy rollback`" +
		` with the number of the release.","uri":"https://wiki.acme.example/releases","metadata":{"product":"api","version":3,"audience":["operators"]}}`,
		`{"id":"` + exampleDocument + `"}`},
	"updateDocument": {`{"metadata":{"product":"api","version":4},"access":{"groups":["Engineering"]}}`,
		`{"id":"` + exampleDocument + `","collectionId":"` + exampleCollection + `","title":"Releases","uri":"https://wiki.acme.example/releases",` +
			`"metadata":{"product":"api","version":4},"access":{"users":[],"groups":["Engineering"]},"accessUnknown":{"users":[],"groups":["Engineering"]},` +
			`"createdAt":"2026-11-21T12:00:00.000Z","updatedAt":"2026-11-21T13:00:00.000Z"}`},
	"createUpload": {`{"mediaType":"application/pdf","size":52428800}`,
		`{"id":"` + exampleUpload + `","uploadUrl":"https://docent.acme.example/v1/uploads/` + exampleUpload + `?secret=example&team=example","method":"PUT",` +
			`"headers":{"Content-Type":"application/pdf"},"expiresAt":"2026-11-21T12:15:00.000Z"}`},
	"getDocument": {"", `{"id":"` + exampleDocument + `","collectionId":"` + exampleCollection + `","title":"Releases","uri":"https://wiki.acme.example/releases","metadata":{"audience":["operators"],"product":"api","version":3},` +
		`"body":"## Rolling back\n\nRun ` + "`deploy rollback`" + ` with the number of the release.","createdAt":"2026-11-21T12:00:00.000Z",` +
		`"updatedAt":"2026-11-21T12:00:00.000Z","indexing":{"state":"indexed"}}`},
	"askQuestion": {`{"question":"How do I roll a release back?"}`, ""},
	"getAnswer": {"", `{"questionId":"` + exampleQuestion + `","question":"How do I roll a release back?","state":"complete",` +
		`"result":{"answer":"**Run ` + "`deploy rollback`" + ` with the number of the release.** [1]","references":[{"htmlUrl":"https://wiki.acme.example/releases","title":"Releases"}]},` +
		`"answer":"**Run ` + "`deploy rollback`" + ` with the number of the release.** [1]","references":[{"htmlUrl":"https://wiki.acme.example/releases","title":"Releases"}]}`},
	"searchContext":         {`{"query":"roll a release back","limit":5,"filter":{"product":"api","version":{"gte":2}}}`, exampleSources},
	"searchDocumentation":   {`{"query":"roll a release back","instruction":"Prefer what is about production."}`, exampleSources},
	"searchCode":            {`{"query":"func rollback"}`, `{"sources":[]}`},
	"searchPullRequests":    {`{"query":"rollback of migrations"}`, `{"sources":[]}`},
	"searchIssues":          {`{"query":"rollback fails"}`, `{"sources":[]}`},
	"searchMessages":        {`{"query":"who is on call"}`, `{"sources":[]}`},
	"queryIssues":           {`{"query":"open bugs about releases","labels":["bug"],"sort":"updated"}`, ""},
	"queryPullRequests":     {`{"query":"merged last week","state":"merged"}`, ""},
	"research":              {`{"query":"How do I roll a release back?","effort":"low","dataSourceIds":["` + exampleCollection + `"]}`, ""},
	"getContent":            {`{"urls":["https://wiki.acme.example/releases"]}`, ""},
	"callTools":             {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"roll a release back"}}}`, ""},
	"createDataSource":      {`{"provider":"jira","name":"Issues"}`, ""},
	"createApiKey":          {`{"kind":"team","name":"Chat bot","dataSourceIds":["` + exampleCollection + `"],"scopes":["read","ask"],"expiresAt":"2027-11-21T00:00:00Z"}`, ""},
	"rotateApiKey":          {`{"overlapSeconds":3600}`, ""},
	"updateTeam":            {`{"name":"Acme","webFetch":true}`, ""},
	"createWebhookEndpoint": {`{"url":"https://hooks.acme.example/docent","eventTypes":["document.indexed","answer.failed","auth.key.rejected"],"description":"Operations"}`, ""},
	"updateWebhookEndpoint": {`{"disabled":true}`, ""},
	"rotateWebhookSecret":   {`{"overlapSeconds":3600}`, ""},
}

// exemplify adds the examples to the document.
func exemplify(doc *huma.OpenAPI) {
	for _, op := range operations(doc) {
		e, ok := examples[op.OperationID]
		if !ok {
			continue
		}
		if op.RequestBody != nil && e.request != "" {
			for _, media := range op.RequestBody.Content {
				media.Example = decoded(e.request)
			}
		}
		for _, code := range []string{"200", "201"} {
			if r := op.Responses[code]; r != nil && e.reply != "" && r.Content["application/json"] != nil {
				r.Content["application/json"].Example = decoded(e.reply)
			}
		}
	}
}

// decoded returns an example as the document's encoder needs it.
func decoded(text string) any {
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		panic("example " + text + ": " + err.Error()) // a test loads the document
	}
	return value
}
