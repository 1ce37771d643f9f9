package httpapi

import (
	"github.com/danielgtaylor/huma/v2"

	"docent/shared/filter"
)

type (
	// Metadata stands for filter.Metadata in the schemas.
	Metadata struct{}
	// Filter stands for filter.Filter in the schemas.
	Filter struct{}
)

// TransformSchema returns the schema that requests are validated against. Package filter checks the members, with
// better errors than a list of alternatives gives; see describeFilters.
func (Metadata) TransformSchema(huma.Registry, *huma.Schema) *huma.Schema { return anyObject() }

// TransformSchema is as that of Metadata.
func (Filter) TransformSchema(huma.Registry, *huma.Schema) *huma.Schema { return anyObject() }

func anyObject() *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
	s.PrecomputeMessages()
	return s
}

const (
	metadataDoc = "What filters select a document by, besides its facts. Strings have at most 256 characters; one that is a date or time of RFC 3339 can be " +
		"compared as such. A list has at most 50 strings. The whole has at most 8 KB. Names have up to 40 letters, digits and _, and start with a letter; " +
		"and, or and not are taken. A member that is null is left out."
	filterDoc = "Selects documents by their metadata, and by their facts: author, assignee, project, number, state, labels, createdAt, updatedAt, closedAt " +
		"and mergedAt. Metadata takes precedence over a fact of the same name. All members must match. A name that a document does not have matches nothing, " +
		"so that it matches a not. A list matches a value that it contains. Strings are compared exactly, but dates and times as moments; a date is its " +
		"midnight in UTC. At most 20 conditions, nested at most 4 levels deep, in 8 KB."
)

// describeFilters gives metadata and filters their full schemas.
func describeFilters(doc *huma.OpenAPI) {
	schemas := doc.Components.Schemas.Map()
	one := func() []*huma.Schema {
		limit := float64(filter.MaxNumber)
		least := -limit
		return []*huma.Schema{{Type: huma.TypeString, MaxLength: ptr(filter.MaxText)}, {Type: huma.TypeNumber, Minimum: &least, Maximum: &limit}, {Type: huma.TypeBoolean}}
	}
	texts := &huma.Schema{Type: huma.TypeArray, MaxItems: ptr(filter.MaxList), Items: &huma.Schema{Type: huma.TypeString, MaxLength: ptr(filter.MaxText)}}
	if m := schemas["Metadata"]; m != nil {
		m.Description, m.MaxProperties = metadataDoc, ptr(filter.MaxKeys)
		m.AdditionalProperties = &huma.Schema{AnyOf: append(one(), texts, &huma.Schema{Type: "null"})}
		m.Examples = []any{map[string]any{"product": "api", "version": 3, "labels": []string{"draft"}, "reviewed": "2026-11-01"}}
	}
	f := schemas["Filter"]
	if f == nil {
		return
	}
	ref := &huma.Schema{Ref: "#/components/schemas/Filter"}
	bound := &huma.Schema{AnyOf: []*huma.Schema{{Type: huma.TypeNumber}, {Type: huma.TypeString, Description: "A date or time of RFC 3339."}}}
	operators := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: false, MinProperties: ptr(1), Properties: map[string]*huma.Schema{
		"in": {Type: huma.TypeArray, MinItems: ptr(1), MaxItems: ptr(filter.MaxList), Items: &huma.Schema{AnyOf: one()}, Description: "Any of these."},
		"gt": bound, "gte": bound, "lt": bound, "lte": bound,
		"exists": {Type: huma.TypeBoolean, Description: "Whether the document has the name."},
	}}
	f.Description = filterDoc
	f.Properties = map[string]*huma.Schema{
		"and": {Type: huma.TypeArray, MinItems: ptr(1), Items: ref, Description: "All of these."},
		"or":  {Type: huma.TypeArray, MinItems: ptr(1), Items: ref, Description: "Any of these."},
		"not": ref,
	}
	f.AdditionalProperties = &huma.Schema{AnyOf: append(one(), operators)}
	f.Examples = []any{map[string]any{"product": "api", "version": map[string]any{"gte": 2}, "labels": map[string]any{"in": []string{"draft", "new"}},
		"not": map[string]any{"author": "bot"}}}
}

func ptr(n int) *int { return &n }
