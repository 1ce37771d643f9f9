package httpapi_test

import (
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/answer"
	"docent/shared/app"
	"docent/shared/audit"
	"docent/shared/collection"
	documents "docent/shared/document"
	"docent/shared/httpapi"
	"docent/shared/source"
	"docent/shared/source/question"
	"docent/shared/team"
	"docent/shared/usage"
)

// TestBoundsEqualTheConstantsOfTheAreas compares the bounds in the tags of inputs, which cannot name a
// constant, with the constants of the areas.
func TestBoundsEqualTheConstantsOfTheAreas(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		operation, field string
		want             int
	}{
		{"createCollection", "name", collection.MaxName},
		{"createCollection", "description", collection.MaxDescription},
		{"createCollection", "iconUrl", collection.MaxIconURL},
		{"updateCollection", "name", collection.MaxName},
		{"updateCollection", "description", collection.MaxDescription},
		{"putDocument", "title", documents.MaxTitle},
		{"putDocument", "uri", documents.MaxURI},
		{"updateDocument", "title", documents.MaxTitle},
		{"askQuestion", "question", answer.MaxQuestion},
		{"searchContext", "query", question.MaxQuery},
		{"searchContext", "limit", question.MaxSearchLimit},
		{"research", "query", question.MaxQuery},
		{"queryIssues", "query", question.MaxQuery},
		{"queryIssues", "projects", question.MaxMany},
		{"queryPullRequests", "labels", question.MaxMany},
		{"queryPullRequests", "limit", question.MaxQueryLimit},
		{"getContent", "urls", question.MaxGet},
		{"createDataSource", "name", source.MaxName},
		{"createApiKey", "name", team.MaxName},
		{"createApiKey", "dataSourceIds", team.MaxSources},
		{"updateTeam", "name", team.MaxName},
		{"listSecurityEvents", "limit", audit.MaxPage},
		{"getUsage", "limit", usage.MaxBuckets},
	} {
		if got := greatest(t, tt.operation, tt.field); got != tt.want {
			t.Errorf("%s: %s is bounded by %d, want %d", tt.operation, tt.field, got, tt.want)
		}
	}
}

// greatest returns the upper bound of a field of an operation's body or query: of its length, its
// number of items or its value.
func greatest(t *testing.T, operation, field string) int {
	t.Helper()
	doc := httpapi.OpenAPI(app.Providers())
	schema := fieldOf(doc, operation, field)
	switch {
	case schema == nil:
		t.Fatalf("%s has no field %s", operation, field)
	case schema.MaxLength != nil:
		return *schema.MaxLength
	case schema.MaxItems != nil:
		return *schema.MaxItems
	case schema.Maximum != nil:
		return int(*schema.Maximum)
	}
	return 0
}

func fieldOf(doc *huma.OpenAPI, operation, field string) *huma.Schema {
	for _, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Put, item.Post, item.Patch} {
			if op == nil || op.OperationID != operation {
				continue
			}
			for _, p := range op.Parameters {
				if p.Name == field {
					return p.Schema
				}
			}
			if op.RequestBody == nil {
				return nil
			}
			body := op.RequestBody.Content["application/json"].Schema
			if body.Ref != "" {
				body = doc.Components.Schemas.SchemaFromRef(body.Ref)
			}
			return body.Properties[field]
		}
	}
	return nil
}
