package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/app"
	"docent/shared/httpapi"
)

// TestEveryOperationIsDescribed: a reader learns from the document what an operation does, and a
// refusal is described once for all operations.
func TestEveryOperationIsDescribed(t *testing.T) {
	t.Parallel()
	doc := httpapi.OpenAPI(app.Providers())
	known := map[string]bool{}
	for path, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op == nil {
				continue
			}
			known[op.OperationID] = true
			if op.Description == "" || op.Summary == "" || !strings.HasSuffix(op.Description, ".") {
				t.Errorf("%s %s: summary %q, description %q; both are required, and the description, in descriptions of openapitexts.go, ends in a full stop",
					op.Method, path, op.Summary, op.Description)
			}
			for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
				if r := op.Responses[status]; status >= "400" && r.Ref == "" {
					t.Errorf("%s %s: %s repeats a refusal that the components have, with other contents", op.Method, path, status)
				}
			}
		}
	}
	for _, id := range httpapi.DescribedOperations() {
		if !known[id] {
			t.Errorf("the text of %s describes no operation", id)
		}
	}
}

// TestLocationIsWhereItIsSent: a reply that shows what exists has none, except in SCIM.
func TestLocationIsWhereItIsSent(t *testing.T) {
	t.Parallel()
	for path, item := range httpapi.OpenAPI(app.Providers()).Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op == nil {
				continue
			}
			for status, r := range op.Responses {
				resource := strings.HasPrefix(path, "/scim/v2/") && (status == "200" || status == "201") && r.Headers["ETag"] != nil
				if declared, sent := r.Headers["Location"] != nil, resource || status == "302" || status == "303"; sent && !declared || declared && status == "200" && !resource {
					t.Errorf("%s %s: %s has the header Location: %v", op.Method, path, status, declared)
				}
			}
		}
	}
}

// TestSchemaNamesAreForPeople: generated clients make types of these names.
func TestSchemaNamesAreForPeople(t *testing.T) {
	t.Parallel()
	schemas := httpapi.OpenAPI(app.Providers()).Components.Schemas.Map()
	for name := range schemas {
		for _, ours := range []string{"Body", "Struct", "Output", "Native", "Gotten"} {
			if strings.Contains(name, ours) {
				t.Errorf("schema %s has the name of a Go type", name)
			}
		}
	}
	// What TypeScript has itself, and orval writes in every operation; and what typescript-fetch of openapi-generator exports besides
	// the schemas: a second one of a name does not compile.
	for _, name := range []string{"Array", "Blob", "Date", "Error", "File", "FormData", "Headers", "Object", "Omit", "Partial", "Promise", "Record", "Request",
		"RequestInit", "Response", "URLSearchParams", "ApiResponse", "BaseAPI", "Configuration", "ErrorContext", "FetchError", "RequestContext", "RequestOpts", "RequiredError",
		"ResponseContext", "ResponseError"} {
		if schemas[name] != nil {
			t.Errorf("schema %s has a name that generated clients have for themselves", name)
		}
	}
	for _, name := range []string{"Collection", "CollectionInput", "Document", "DocumentInput", "Question", "Answer", "SecurityEvent", "OcsfEvent", "ScimUser", "Problem"} {
		if schemas[name] == nil {
			t.Errorf("there is no schema %s", name)
		}
	}
}

// alternative is where an alternative is, or the items of one.
var alternative = regexp.MustCompile(`/(anyOf|oneOf)/\d+(/items)?$`)

// TestGeneratorsUnderstandEverySchema: openapi-generator writes Go and Java that do not compile for these, or clients that refuse replies.
func TestGeneratorsUnderstandEverySchema(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(httpapi.OpenAPI(app.Providers()))
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var walk func(at string, node any)
	walk = func(at string, node any) {
		switch node := node.(type) {
		case []any:
			for n, element := range node {
				walk(fmt.Sprint(at, "/", n), element)
			}
		case map[string]any:
			if strings.HasPrefix(at, "/components/schemas/Ocsf") && node["type"] == "integer" && node["format"] != "int64" {
				t.Errorf("%s: clients in Go, Java and C# read it into 32 bits", at)
			}
			values, _ := node["enum"].([]any)
			if node["default"] != nil && slices.Contains(values, nil) {
				t.Errorf("%s: an enumeration with null and a default", at)
			}
			if node["type"] == "null" && !alternative.MatchString(at) {
				t.Errorf("%s: the type null alone", at)
			}
			if types, _ := node["type"].([]any); alternative.MatchString(at) && len(types) > 1 {
				t.Errorf("%s: null within an alternative, not one of its own: clients in Python refuse such a null", at)
			}
			if alternative.MatchString(at) && node["type"] == "object" && node["properties"] == nil {
				t.Errorf("%s: an object with neither a name nor members among alternatives", at)
			}
			for name, member := range node {
				walk(at+"/"+name, member)
			}
		}
	}
	walk("", doc)
}

// TestNullIsOnlyInJSON: a parameter, a header and a member of a form cannot be null.
func TestNullIsOnlyInJSON(t *testing.T) {
	t.Parallel()
	for path, item := range httpapi.OpenAPI(app.Providers()).Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op == nil {
				continue
			}
			check := func(where string, s *huma.Schema) {
				if s != nil && s.Nullable {
					t.Errorf("%s %s: %s may be null", op.Method, path, where)
				}
			}
			for _, p := range op.Parameters {
				check(p.In+" "+p.Name, p.Schema)
			}
			for status, r := range op.Responses {
				for name, h := range r.Headers {
					check(status+" "+name, h.Schema)
				}
			}
			if op.RequestBody == nil || op.RequestBody.Content["application/x-www-form-urlencoded"] == nil {
				continue
			}
			for name, s := range op.RequestBody.Content["application/x-www-form-urlencoded"].Schema.Properties {
				check("form "+name, s)
			}
		}
	}
}
