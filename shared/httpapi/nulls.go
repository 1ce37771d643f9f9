package httpapi

import (
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// describeNulls makes every optional member of a request body nullable in the document,
// except in merge patches: null counts as left out. Validation ignores such a null anyway.
func describeNulls(doc *huma.OpenAPI) {
	for _, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Post, item.Put} {
			if op == nil || op.RequestBody == nil {
				continue
			}
			if media := op.RequestBody.Content["application/json"]; media != nil {
				takeNulls(doc, media.Schema)
			}
		}
	}
}

// takeNulls makes the optional members of an object and of the objects in it nullable.
// It is idempotent.
func takeNulls(doc *huma.OpenAPI, s *huma.Schema) {
	if s.Ref != "" {
		s = doc.Components.Schemas.SchemaFromRef(s.Ref)
	}
	for name, member := range s.Properties {
		switch {
		case member.Ref != "":
			takeNulls(doc, member)
			if !slices.Contains(s.Required, name) {
				s.Properties[name] = &huma.Schema{AnyOf: []*huma.Schema{member, {Type: "null"}}, Description: member.Description}
			}
		case member.AnyOf != nil || member.Type == "" || slices.Contains(s.Required, name):
		default:
			member.Nullable = true
			if member.Enum != nil && !slices.Contains(member.Enum, nil) {
				member.Enum = append(member.Enum, nil)
			}
			if member.Enum != nil { // openapi-generator writes Go that does not compile; the description says it
				member.Default = nil
			}
		}
	}
}

// onlyNull returns the schema of null alone. It has the type of a text too, because openapi-generator takes null alone for the name
// of a type.
func onlyNull(description string) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Nullable: true, Description: description, Extensions: map[string]any{"const": nil}}
}
