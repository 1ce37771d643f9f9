package protocol

import (
	"strings"

	"docent/shared/fold"
)

// Projection selects the attributes of a reply (RFC 7644 section 3.9). The zero Projection
// selects all that are returned by default.
type Projection struct {
	only     bool // the parameter attributes names some
	names    []Path
	excluded []Path
}

// ParseProjection reads the parameters attributes and excludedAttributes: names separated by
// commas. It ignores what cannot be a name, and excludedAttributes if attributes names any.
func ParseProjection(attributes, excluded []string) Projection {
	p := Projection{names: names(attributes)}
	if p.only = len(p.names) > 0; !p.only {
		p.excluded = names(excluded)
	}
	return p
}

// names returns each name once, because every name copies values of every resource.
func names(values []string) []Path {
	var out []Path
	known := map[string]bool{}
	for _, value := range values {
		for name := range strings.SplitSeq(value, ",") {
			name = strings.TrimSpace(name)
			urn, attr, sub, ok := SplitName(name)
			if folded := fold.Text(name); ok && !known[folded] {
				known[folded] = true
				out = append(out, Path{URN: urn, Attr: attr, Sub: sub})
			}
		}
	}
	return out
}

// Given reports whether the client selected attributes.
func (p Projection) Given() bool { return p.only || len(p.excluded) > 0 }

// Shows reports whether a reply contains any part of an attribute of the core schema, so that
// it must be read.
func (p Projection) Shows(t *ResourceType, name string) bool {
	if p.only {
		for _, n := range p.names {
			if at, ok := t.Locate(n.URN, n.Attr, n.Sub); ok && at.Ext == "" && at.Attr.Name == name {
				return true
			}
		}
		return false
	}
	for _, n := range p.excluded {
		if at, ok := t.Locate(n.URN, n.Attr, n.Sub); ok && at.Ext == "" && at.Attr.Name == name && at.Sub == nil {
			return false
		}
	}
	return true
}

// ShowsExtension is Shows for an attribute of an extension.
func (p Projection) ShowsExtension(t *ResourceType, urn, name string) bool {
	probe := map[string]any{urn: map[string]any{name: map[string]any{"value": "x", "displayName": "x"}}}
	_, ok := p.Apply(t, probe)[urn]
	return ok
}

// Apply returns the selected part of resource, without changing resource.
func (p Projection) Apply(t *ResourceType, resource map[string]any) map[string]any {
	out := map[string]any{}
	if !p.only {
		for name, value := range resource {
			out[name] = value
		}
	}
	for _, name := range []string{"schemas", "id"} {
		if value, ok := resource[name]; ok {
			out[name] = value
		}
	}
	for _, n := range p.names {
		if at, ok := t.Locate(n.URN, n.Attr, n.Sub); ok {
			at.include(resource, out)
		}
	}
	for _, n := range p.excluded {
		if at, ok := t.Locate(n.URN, n.Attr, n.Sub); ok {
			at.exclude(out)
		}
	}
	return out
}

// include copies the attribute r from resource to out.
func (r AttributeRef) include(resource, out map[string]any) {
	if r.Attr == nil {
		if extension, ok := resource[r.Ext]; ok {
			out[r.Ext] = extension
		}
		return
	}
	value, ok := r.container(resource, false)[r.Attr.Name]
	if !ok {
		return
	}
	if r.Sub == nil {
		r.container(out, true)[r.Attr.Name] = value
		return
	}
	into := r.container(out, true)
	switch v := value.(type) {
	case map[string]any:
		part, _ := into[r.Attr.Name].(map[string]any)
		into[r.Attr.Name] = withMember(part, v, r.Sub.Name)
	case []any:
		parts, _ := into[r.Attr.Name].([]any)
		next := make([]any, len(v))
		for i, e := range v {
			element, _ := e.(map[string]any)
			var part map[string]any
			if i < len(parts) {
				part, _ = parts[i].(map[string]any)
			}
			next[i] = withMember(part, element, r.Sub.Name)
		}
		into[r.Attr.Name] = next
	}
}

// withMember returns a copy of part with the member of that name from from.
func withMember(part, from map[string]any, name string) map[string]any {
	out := map[string]any{}
	for k, v := range part {
		out[k] = v
	}
	if v, ok := from[name]; ok {
		out[name] = v
	}
	return out
}

// exclude removes the attribute r from a copy of a resource. The values are shared with the
// original, so changed ones are copied.
func (r AttributeRef) exclude(resource map[string]any) {
	if r.Attr == nil {
		delete(resource, r.Ext)
		return
	}
	if r.Attr.Returned == always {
		return
	}
	in := resource
	if r.Ext != "" {
		extension, ok := resource[r.Ext].(map[string]any)
		if !ok {
			return
		}
		in = without(extension, "")
		resource[r.Ext] = in
	}
	value := in[r.Attr.Name]
	if r.Sub == nil {
		delete(in, r.Attr.Name)
		return
	}
	switch v := value.(type) {
	case map[string]any:
		in[r.Attr.Name] = without(v, r.Sub.Name)
	case []any:
		next := make([]any, len(v))
		for i, e := range v {
			element, _ := e.(map[string]any)
			next[i] = without(element, r.Sub.Name)
		}
		in[r.Attr.Name] = next
	}
}

func without(object map[string]any, name string) map[string]any {
	out := map[string]any{}
	for k, v := range object {
		if k != name {
			out[k] = v
		}
	}
	return out
}
