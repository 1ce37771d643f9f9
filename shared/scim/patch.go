package scim

import (
	"maps"
	"slices"
	"strings"
)

// maxOperations bounds the operations of one PATCH, and of one Bulk request.
const maxOperations = 1000

// operation is one operation of a PATCH (RFC 7644 section 3.5.2).
type operation struct {
	op    string // add, replace or remove
	path  path
	value any // nil: none, or null
	// named: the path is a key of the value of an operation without a path. One that names
	// nothing, or what clients cannot change, is ignored, as in the body of a PUT.
	named bool
}

// messageMember finds a message's member by its name in any case.
func messageMember(message map[string]any, name string) any {
	v, _ := memberOf(message, name)
	return v
}

// memberOf is messageMember that tells null from absent.
func memberOf(message map[string]any, name string) (value any, there bool) {
	if v, ok := message[name]; ok {
		return v, true
	}
	for _, key := range slices.Sorted(maps.Keys(message)) {
		if strings.EqualFold(key, name) {
			return message[key], true
		}
	}
	return nil, false
}

// checkMessage refuses a message that does not name the schema urn.
func checkMessage(message map[string]any, urn string) error {
	list, _ := messageMember(message, "schemas").([]any)
	for _, s := range list {
		if text, ok := s.(string); ok && strings.EqualFold(text, urn) {
			return nil
		}
	}
	return bad(invalidSyntax, "The request body must list the schema %s.", urn)
}

// parsePatch reads the message of a PATCH.
func parsePatch(message map[string]any) ([]operation, error) {
	if err := checkMessage(message, patchURN); err != nil {
		return nil, err
	}
	list, ok := messageMember(message, "Operations").([]any)
	if !ok {
		return nil, bad(invalidSyntax, "The request body must have a list of Operations.")
	}
	if len(list) > maxOperations {
		return nil, refuse(413, "", "A PATCH may have at most %d operations; send fewer.", maxOperations)
	}
	out := make([]operation, 0, len(list))
	for _, e := range list {
		object, ok := e.(map[string]any)
		if !ok {
			return nil, bad(invalidSyntax, "An operation must be an object.")
		}
		operations, err := parseOperation(object)
		if err != nil {
			return nil, err
		}
		if out = append(out, operations...); len(out) > maxOperations {
			return nil, refuse(413, "", "A PATCH may change at most %d attributes; send fewer.", maxOperations)
		}
	}
	return out, nil
}

// parseOperation reads an operation. One without a path becomes one for each attribute that
// its value names.
func parseOperation(object map[string]any) ([]operation, error) {
	name, _ := messageMember(object, "op").(string)
	value, given := memberOf(object, "value")
	o := operation{op: strings.ToLower(name), value: value}
	if o.op != "add" && o.op != "replace" && o.op != "remove" {
		return nil, bad(invalidSyntax, "op must be add, replace or remove.")
	}
	if o.op != "remove" && !given {
		return nil, bad(invalidValue, "%s needs a value; null unassigns.", o.op)
	}
	text, ok := messageMember(object, "path").(string)
	if !ok && messageMember(object, "path") != nil {
		return nil, bad(invalidPath, "The path must be a string.")
	}
	if strings.TrimSpace(text) == "" {
		if o.op == "remove" {
			return nil, bad(noTarget, "remove needs a path.")
		}
		return parseNamed(o)
	}
	var err error
	o.path, err = parsePath(text)
	return []operation{o}, err
}

// parseNamed reads the value of an operation without a path: an object, or a list of
// objects, whose keys are paths.
func parseNamed(o operation) ([]operation, error) {
	objects, isList := o.value.([]any)
	if !isList {
		objects = []any{o.value}
	}
	var out []operation
	for _, e := range objects {
		object, ok := e.(map[string]any)
		if !ok {
			return nil, bad(invalidValue, "An operation without a path needs an object as its value.")
		}
		for _, key := range slices.Sorted(maps.Keys(object)) {
			at, ok, err := parseKey(key)
			if err != nil {
				return nil, err
			}
			if ok {
				out = append(out, operation{op: o.op, path: at, value: object[key], named: true})
			}
		}
	}
	if len(objects) == 0 {
		return nil, bad(invalidValue, "An operation without a path needs an object as its value.")
	}
	return out, nil
}

// parseKey reads a key of a value without a path: the name of an attribute, as it is or
// with a value filter, such as emails[type eq "work"].value, which Entra ID sends. It is
// false for a key that cannot be a name.
func parseKey(key string) (at path, ok bool, err error) {
	if strings.Contains(key, "[") {
		at, err = parsePath(key)
		return at, err == nil, err
	}
	at.urn, at.attr, at.sub, ok = splitName(key)
	return at, ok, nil
}

// patch applies operations in their order to a copy of attributes, which it
// returns. The resource has the given id and meta, which may be named but not
// changed.
func (t *resourceType) patch(attributes map[string]any, fixed map[string]any, operations []operation) (map[string]any, error) {
	after := clone(attributes).(map[string]any)
	for _, o := range operations {
		if err := t.apply(after, fixed, o); err != nil {
			return nil, err
		}
	}
	return after, t.complete(after)
}

// readOnly reports whether clients cannot change what is at p.
func (p attributeRef) readOnly() bool {
	return p.attr != nil && p.attr.ours() || p.sub != nil && p.sub.ours()
}

// apply applies one operation.
func (t *resourceType) apply(attributes, fixed map[string]any, o operation) error {
	at, ok := t.locate(o.path.urn, o.path.attr, o.path.sub)
	switch {
	case o.named && (!ok || at.readOnly()):
		return nil
	case !ok:
		return bad(invalidPath, "There is no attribute %q.", shown(o.path.String()))
	case at.readOnly():
		return unchangeable(at, fixed, o)
	case o.path.in != nil:
		return t.changeElements(attributes, at, o)
	case o.op == "remove":
		return t.remove(attributes, at, o.value)
	}
	return t.change(attributes, at, o.op, o.value)
}

// unchangeable lets an operation on a readOnly attribute pass if it leaves the value
// as it is.
func unchangeable(at attributeRef, fixed map[string]any, o operation) error {
	if o.op != "remove" && at.ext == "" && o.path.in == nil {
		if at.attr.Name == "schemas" {
			return nil // it follows from the attributes
		}
		current := fixed[at.attr.Name]
		if object, ok := current.(map[string]any); ok && at.sub != nil {
			current = object[at.sub.Name]
		}
		if current != nil && same(current, o.value) {
			return nil
		}
	}
	return bad(mutability, "%s cannot be changed.", shown(o.path.String()))
}
