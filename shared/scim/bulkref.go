package scim

import (
	"maps"
	"strings"

	"docent/shared/scim/protocol"
)

// bulkMark starts a reference to the resource that another operation of the request
// creates (RFC 7644 section 3.7.2). It is a reference where the id of a resource is
// allowed: in the path of an operation, as the value of a member or a manager, and in
// a filter of them. Anywhere else it is plain text.
const bulkMark = "bulkId:"

// references returns the bulkIds that o refers to.
func (o *bulkOperation) references() map[string]bool {
	names := map[string]bool{}
	note := func(name string) string { names[name] = true; return name }
	eachReference(o.path, note)
	withReferences(o.data, note)
	return names
}

// withReferences returns a copy of an operation's data in which id replaces every reference.
func withReferences(data map[string]any, id func(name string) string) map[string]any {
	out := resourceReferences(data, id)
	for key, value := range out {
		list, ok := value.([]any)
		if !ok || !strings.EqualFold(key, "Operations") {
			continue
		}
		operations := make([]any, len(list))
		for i, e := range list {
			operations[i] = e
			if operation, ok := e.(map[string]any); ok {
				operations[i] = patchReferences(operation, id)
			}
		}
		out[key] = operations
	}
	return out
}

// refersByID reports whether an attribute's value is the id of a resource.
func refersByID(name string) bool {
	_, attr, _, ok := protocol.SplitName(name)
	return ok && (strings.EqualFold(attr, "members") || strings.EqualFold(attr, "manager"))
}

// resourceReferences is withReferences for an object whose keys are attributes.
func resourceReferences(object map[string]any, id func(string) string) map[string]any {
	out := make(map[string]any, len(object))
	for key, value := range object {
		name, _, filtered := strings.Cut(key, "[")
		extension, isObject := value.(map[string]any)
		switch {
		case refersByID(name):
			if value = valueReferences(value, id); filtered {
				key = eachReference(key, id)
			}
		case isObject && strings.EqualFold(key, protocol.EnterpriseURN):
			value = resourceReferences(extension, id)
		}
		out[key] = value
	}
	return out
}

// patchReferences is withReferences for one operation of a PATCH.
func patchReferences(operation map[string]any, id func(string) string) map[string]any {
	out := maps.Clone(operation)
	path, _ := protocol.MessageMember(operation, "path").(string)
	name, _, _ := strings.Cut(path, "[")
	for key, value := range out {
		object, isObject := value.(map[string]any)
		switch {
		case strings.EqualFold(key, "path") && refersByID(name):
			out[key] = eachReference(path, id)
		case strings.EqualFold(key, "value") && refersByID(name):
			out[key] = valueReferences(value, id)
		case strings.EqualFold(key, "value") && strings.TrimSpace(path) == "":
			out[key] = namedReferences(value, id)
		case strings.EqualFold(key, "value") && isObject && strings.EqualFold(name, protocol.EnterpriseURN):
			out[key] = resourceReferences(object, id)
		}
	}
	return out
}

// namedReferences is withReferences for the value of an operation without a path.
func namedReferences(value any, id func(string) string) any {
	switch v := value.(type) {
	case map[string]any:
		return resourceReferences(v, id)
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = namedReferences(e, id)
		}
		return list
	}
	return value
}

// valueReferences is withReferences for an id, an object with an id as its value, or a list of
// these.
func valueReferences(value any, id func(string) string) any {
	switch v := value.(type) {
	case string:
		return eachReference(v, id)
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = valueReferences(e, id)
		}
		return list
	case map[string]any:
		object := maps.Clone(v)
		for key, e := range object {
			if text, ok := e.(string); ok && strings.EqualFold(key, "value") {
				object[key] = eachReference(text, id)
			}
		}
		return object
	}
	return value
}

// eachReference replaces every reference in text by the result of with: the whole text, a
// segment of a path, or a string in a filter. The time it takes is in proportion to the text.
func eachReference(text string, with func(name string) string) string {
	if name, ok := strings.CutPrefix(text, bulkMark); ok && name != "" {
		return with(name)
	}
	for _, ends := range []string{"/", `"`} {
		if strings.Contains(text, ends+bulkMark) {
			text = referencesBetween(text, ends, with)
		}
	}
	return text
}

// referencesBetween is eachReference for the references that one of ends precedes and follows, or
// the end of the text.
func referencesBetween(text, ends string, with func(name string) string) string {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, ends+bulkMark)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		name, _, _ := strings.Cut(after, ends)
		out.WriteString(ends)
		if name == "" {
			out.WriteString(bulkMark)
		} else {
			out.WriteString(with(name))
		}
		text = after[len(name):]
	}
}
