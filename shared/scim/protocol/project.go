package protocol

import (
	"strings"
)

// Projection chooses the attributes of a reply (RFC 7644 section 3.9). The zero
// projection shows everything that is returned by default.
type Projection struct {
	only     bool // attributes was given
	names    []Path
	excluded []Path
}

// ParseProjection reads the parameters attributes and excludedAttributes: names
// separated by commas. What cannot be a name is ignored, as is excludedAttributes
// beside attributes.
func ParseProjection(attributes, excluded []string) Projection {
	p := Projection{names: names(attributes)}
	if p.only = len(p.names) > 0; !p.only {
		p.excluded = names(excluded)
	}
	return p
}

func names(values []string) []Path {
	var out []Path
	for _, value := range values {
		for name := range strings.SplitSeq(value, ",") {
			if urn, attr, sub, ok := SplitName(strings.TrimSpace(name)); ok {
				out = append(out, Path{URN: urn, Attr: attr, Sub: sub})
			}
		}
	}
	return out
}

// Given tells whether the client chose attributes.
func (p Projection) Given() bool { return p.only || len(p.excluded) > 0 }

// Shows tells whether any part of an attribute of the core schema is in the
// reply, so that it must be read.
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

// ShowsExtension is shows for an attribute of an extension.
func (p Projection) ShowsExtension(t *ResourceType, urn, name string) bool {
	probe := map[string]any{urn: map[string]any{name: map[string]any{"value": "x", "displayName": "x"}}}
	_, ok := p.Apply(t, probe)[urn]
	return ok
}

// Apply returns the part of resource, which stays as it is, that p shows.
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

// include copies what is at p from resource to out.
func (p AttributeRef) include(resource, out map[string]any) {
	if p.Attr == nil {
		if extension, ok := resource[p.Ext]; ok {
			out[p.Ext] = extension
		}
		return
	}
	value, ok := p.container(resource, false)[p.Attr.Name]
	if !ok {
		return
	}
	if p.Sub == nil {
		p.container(out, true)[p.Attr.Name] = value
		return
	}
	into := p.container(out, true)
	switch v := value.(type) {
	case map[string]any:
		part, _ := into[p.Attr.Name].(map[string]any)
		into[p.Attr.Name] = withMember(part, v, p.Sub.Name)
	case []any:
		parts, _ := into[p.Attr.Name].([]any)
		next := make([]any, len(v))
		for i, e := range v {
			element, _ := e.(map[string]any)
			var part map[string]any
			if i < len(parts) {
				part, _ = parts[i].(map[string]any)
			}
			next[i] = withMember(part, element, p.Sub.Name)
		}
		into[p.Attr.Name] = next
	}
}

// withMember copies part and adds from's member of that name.
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

// exclude takes what is at p out of a copy of resource, whose values are shared.
func (p AttributeRef) exclude(resource map[string]any) {
	if p.Attr == nil {
		delete(resource, p.Ext)
		return
	}
	if p.Attr.Returned == always {
		return
	}
	in := resource
	if p.Ext != "" {
		extension, ok := resource[p.Ext].(map[string]any)
		if !ok {
			return
		}
		in = without(extension, "")
		resource[p.Ext] = in
	}
	value := in[p.Attr.Name]
	if p.Sub == nil {
		delete(in, p.Attr.Name)
		return
	}
	switch v := value.(type) {
	case map[string]any:
		in[p.Attr.Name] = without(v, p.Sub.Name)
	case []any:
		next := make([]any, len(v))
		for i, e := range v {
			element, _ := e.(map[string]any)
			next[i] = without(element, p.Sub.Name)
		}
		in[p.Attr.Name] = next
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
