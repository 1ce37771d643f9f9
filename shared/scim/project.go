package scim

import (
	"strings"
)

// projection chooses the attributes of a reply (RFC 7644 section 3.9). The zero
// projection shows everything that is returned by default.
type projection struct {
	only     bool // attributes was given
	names    []path
	excluded []path
}

// newProjection reads the parameters attributes and excludedAttributes: names
// separated by commas. What cannot be a name is ignored, as is excludedAttributes
// beside attributes.
func newProjection(attributes, excluded []string) projection {
	p := projection{names: names(attributes)}
	if p.only = len(p.names) > 0; !p.only {
		p.excluded = names(excluded)
	}
	return p
}

func names(values []string) []path {
	var out []path
	for _, value := range values {
		for name := range strings.SplitSeq(value, ",") {
			if urn, attr, sub, ok := splitName(strings.TrimSpace(name)); ok {
				out = append(out, path{urn: urn, attr: attr, sub: sub})
			}
		}
	}
	return out
}

// given tells whether the client chose attributes.
func (p projection) given() bool { return p.only || len(p.excluded) > 0 }

// shows tells whether any part of an attribute of the core schema is in the
// reply, so that it must be read.
func (p projection) shows(t *resourceType, name string) bool {
	if p.only {
		for _, n := range p.names {
			if at, ok := t.locate(n.urn, n.attr, n.sub); ok && at.ext == "" && at.attr.Name == name {
				return true
			}
		}
		return false
	}
	for _, n := range p.excluded {
		if at, ok := t.locate(n.urn, n.attr, n.sub); ok && at.ext == "" && at.attr.Name == name && at.sub == nil {
			return false
		}
	}
	return true
}

// showsExtension is shows for an attribute of an extension.
func (p projection) showsExtension(t *resourceType, urn, name string) bool {
	probe := map[string]any{urn: map[string]any{name: map[string]any{"value": "x", "displayName": "x"}}}
	_, ok := p.apply(t, probe)[urn]
	return ok
}

// apply returns the part of resource, which stays as it is, that p shows.
func (p projection) apply(t *resourceType, resource map[string]any) map[string]any {
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
		if at, ok := t.locate(n.urn, n.attr, n.sub); ok {
			at.include(resource, out)
		}
	}
	for _, n := range p.excluded {
		if at, ok := t.locate(n.urn, n.attr, n.sub); ok {
			at.exclude(out)
		}
	}
	return out
}

// include copies what is at p from resource to out.
func (p attributeRef) include(resource, out map[string]any) {
	if p.attr == nil {
		if extension, ok := resource[p.ext]; ok {
			out[p.ext] = extension
		}
		return
	}
	value, ok := p.container(resource, false)[p.attr.Name]
	if !ok {
		return
	}
	if p.sub == nil {
		p.container(out, true)[p.attr.Name] = value
		return
	}
	into := p.container(out, true)
	switch v := value.(type) {
	case map[string]any:
		part, _ := into[p.attr.Name].(map[string]any)
		into[p.attr.Name] = withMember(part, v, p.sub.Name)
	case []any:
		parts, _ := into[p.attr.Name].([]any)
		next := make([]any, len(v))
		for i, e := range v {
			element, _ := e.(map[string]any)
			var part map[string]any
			if i < len(parts) {
				part, _ = parts[i].(map[string]any)
			}
			next[i] = withMember(part, element, p.sub.Name)
		}
		into[p.attr.Name] = next
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
func (p attributeRef) exclude(resource map[string]any) {
	if p.attr == nil {
		delete(resource, p.ext)
		return
	}
	if p.attr.Returned == always {
		return
	}
	in := resource
	if p.ext != "" {
		extension, ok := resource[p.ext].(map[string]any)
		if !ok {
			return
		}
		in = without(extension, "")
		resource[p.ext] = in
	}
	value := in[p.attr.Name]
	if p.sub == nil {
		delete(in, p.attr.Name)
		return
	}
	switch v := value.(type) {
	case map[string]any:
		in[p.attr.Name] = without(v, p.sub.Name)
	case []any:
		next := make([]any, len(v))
		for i, e := range v {
			element, _ := e.(map[string]any)
			next[i] = without(element, p.sub.Name)
		}
		in[p.attr.Name] = next
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
