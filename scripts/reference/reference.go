package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// reference is the API as the dashboard shows it.
type reference struct {
	Tags       []tag       `json:"tags"`
	Operations []operation `json:"operations"`
}

type tag struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

type operation struct {
	ID         string      `json:"id"`
	Method     string      `json:"method"`
	Path       string      `json:"path"`
	Tag        string      `json:"tag"`
	Summary    string      `json:"summary"`
	Parameters []parameter `json:"parameters,omitempty"`
	Media      string      `json:"media,omitempty"` // of the body
	Body       []parameter `json:"body,omitempty"`
	Example    any         `json:"example,omitempty"` // of the body
	Reply      any         `json:"reply,omitempty"`   // names with types
	Statuses   []string    `json:"statuses"`
}

// parameter is a parameter, or a member of the body.
type parameter struct {
	Name     string `json:"name"`
	In       string `json:"in"`
	Type     string `json:"type"`
	Required bool   `json:"required,omitempty"`
	Doc      string `json:"doc,omitempty"`
}

// schemas resolves references.
type schemas struct{ huma.Registry }

func referenceOf(doc *huma.OpenAPI) reference {
	var r reference
	for _, t := range doc.Tags {
		r.Tags = append(r.Tags, tag{t.Name, t.Description})
	}
	s := schemas{doc.Components.Schemas}
	for path, item := range doc.Paths {
		for method, op := range map[string]*huma.Operation{"GET": item.Get, "POST": item.Post, "PUT": item.Put, "PATCH": item.Patch, "DELETE": item.Delete} {
			if op != nil {
				r.Operations = append(r.Operations, s.operation(method, path, op))
			}
		}
	}
	slices.SortFunc(r.Operations, func(a, b operation) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method)) })
	return r
}

func (s schemas) operation(method, path string, op *huma.Operation) operation {
	o := operation{ID: op.OperationID, Method: method, Path: path, Tag: op.Tags[0], Summary: op.Summary,
		Statuses: slices.Sorted(maps.Keys(op.Responses))}
	for _, p := range op.Parameters {
		if p.Name != "Accept" && p.Ref == "" { // what is shared by all operations, such as Content-Encoding, is left out
			o.Parameters = append(o.Parameters, parameter{p.Name, p.In, s.typeOf(p.Schema), p.Required, cmp.Or(p.Description, s.resolve(p.Schema).Description)})
		}
	}
	if op.RequestBody != nil {
		media, schema := first(op.RequestBody.Content)
		o.Media = media
		o.Body = s.members(schema)
		if strings.HasSuffix(media, "json") {
			o.Example = s.example(schema, 0)
		}
	}
	for _, status := range []string{"200", "201"} {
		if response := op.Responses[status]; response != nil && len(response.Content) > 0 {
			if media, schema := first(response.Content); strings.HasSuffix(media, "json") && op.Tags[0] != "SCIM" {
				o.Reply = s.shape(schema, 0)
			}
		}
	}
	return o
}

// first returns JSON if there is such a content, otherwise the first by name.
func first(content map[string]*huma.MediaType) (string, *huma.Schema) {
	names := slices.Sorted(maps.Keys(content))
	if slices.Contains(names, "application/json") {
		return "application/json", content["application/json"].Schema
	}
	return names[0], content[names[0]].Schema
}

func (s schemas) resolve(schema *huma.Schema) *huma.Schema {
	for schema != nil && schema.Ref != "" {
		schema = s.SchemaFromRef(schema.Ref)
	}
	if schema == nil {
		return &huma.Schema{}
	}
	if len(schema.AnyOf) > 0 && len(schema.Properties) == 0 {
		return s.resolve(schema.AnyOf[0])
	}
	return schema
}

// typeOf returns a schema in a few words.
func (s schemas) typeOf(schema *huma.Schema) string {
	schema = s.resolve(schema)
	text := schema.Type
	switch {
	case len(schema.Enum) > 0:
		var values []string
		for _, v := range schema.Enum {
			if v != nil {
				values = append(values, fmt.Sprint(v))
			}
		}
		return strings.Join(values, ", ")
	case schema.Type == huma.TypeArray && schema.Items != nil:
		return "list of " + s.typeOf(schema.Items)
	case schema.Format != "":
		text = schema.Format
	case hasConst(schema):
		return "null"
	}
	if schema.MaxLength != nil {
		text += fmt.Sprintf(", at most %d characters", *schema.MaxLength)
	}
	if schema.Minimum != nil && schema.Maximum != nil {
		text += fmt.Sprintf(", %g to %g", *schema.Minimum, *schema.Maximum)
	}
	return cmp.Or(text, "any")
}

// hasConst reports whether the schema allows one value. The only one in the document is null.
func hasConst(schema *huma.Schema) bool {
	_, ok := schema.Extensions["const"]
	return ok
}

func (s schemas) members(schema *huma.Schema) []parameter {
	schema = s.resolve(schema)
	var all []parameter
	for _, name := range s.names(schema) {
		p := schema.Properties[name]
		all = append(all, parameter{name, "body", s.typeOf(p), slices.Contains(schema.Required, name), cmp.Or(p.Description, s.resolve(p).Description)})
	}
	return all
}

// names returns the members of an object, required ones first.
func (s schemas) names(schema *huma.Schema) []string {
	names := slices.Sorted(maps.Keys(schema.Properties))
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(btoi(!slices.Contains(schema.Required, a)), btoi(!slices.Contains(schema.Required, b)))
	})
	return names
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// maxDepth bounds schemas that contain themselves.
const maxDepth = 4

// example returns a body with the required members.
func (s schemas) example(schema *huma.Schema, depth int) any {
	schema = s.resolve(schema)
	switch {
	case len(schema.Enum) > 0:
		return schema.Enum[0]
	case schema.Type == huma.TypeObject && depth < maxDepth:
		object := map[string]any{}
		for _, name := range s.names(schema) {
			if slices.Contains(schema.Required, name) {
				object[name] = s.example(schema.Properties[name], depth+1)
			}
		}
		return object
	case schema.Type == huma.TypeArray:
		return []any{}
	case schema.Type == huma.TypeInteger, schema.Type == huma.TypeNumber:
		return 1
	case schema.Type == huma.TypeBoolean:
		return true
	case schema.Type == huma.TypeString:
		return ""
	default:
		return nil
	}
}

// shape returns a schema with types instead of values.
func (s schemas) shape(schema *huma.Schema, depth int) any {
	schema = s.resolve(schema)
	switch {
	case len(schema.Properties) > 0 && depth < maxDepth:
		object := map[string]any{}
		for name, p := range schema.Properties {
			object[name] = s.shape(p, depth+1)
		}
		return object
	case schema.Type == huma.TypeArray && schema.Items != nil:
		return []any{s.shape(schema.Items, depth+1)}
	default:
		return s.typeOf(schema)
	}
}
