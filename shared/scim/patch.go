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
	path  *path  // nil: none
	value any    // nil: none, or null
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
		o, err := parseOperation(object)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

func parseOperation(object map[string]any) (operation, error) {
	name, _ := messageMember(object, "op").(string)
	value, given := memberOf(object, "value")
	o := operation{op: strings.ToLower(name), value: value}
	if o.op != "add" && o.op != "replace" && o.op != "remove" {
		return o, bad(invalidSyntax, "op must be add, replace or remove.")
	}
	if o.op != "remove" && !given {
		return o, bad(invalidValue, "%s needs a value; null unassigns.", o.op)
	}
	switch text := messageMember(object, "path").(type) {
	case nil:
	case string:
		if strings.TrimSpace(text) == "" {
			break
		}
		p, err := parsePath(text)
		if err != nil {
			return o, err
		}
		o.path = &p
	default:
		return o, bad(invalidPath, "The path must be a string.")
	}
	if o.path == nil && o.op == "remove" {
		return o, bad(noTarget, "remove needs a path.")
	}
	return o, nil
}

// patch applies operations in their order to a copy of attributes, which it
// returns. The resource has the given id and meta, which may be named but not
// changed.
func (t *resourceType) patch(attributes map[string]any, fixed map[string]any, operations []operation) (map[string]any, error) {
	after := clone(attributes).(map[string]any)
	for _, o := range operations {
		var err error
		if o.path == nil {
			err = t.patchAll(after, o)
		} else {
			err = t.patchAt(after, fixed, o)
		}
		if err != nil {
			return nil, err
		}
	}
	return after, t.complete(after)
}

// patchAll applies an operation without a path: every key of its value is one.
func (t *resourceType) patchAll(attributes map[string]any, o operation) error {
	object, ok := o.value.(map[string]any)
	if !ok {
		return bad(invalidValue, "An operation without a path needs an object as its value.")
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		urn, attr, sub, ok := splitName(key)
		at, found := t.locate(urn, attr, sub)
		if !ok || !found || at.readOnly() {
			continue // as in the body of a PUT
		}
		if err := t.change(attributes, at, o.op, object[key]); err != nil {
			return err
		}
	}
	return nil
}

// readOnly tells whether clients cannot change what is at p.
func (p place) readOnly() bool {
	return p.attr != nil && p.attr.ours() || p.sub != nil && p.sub.ours()
}

// patchAt applies an operation with a path.
func (t *resourceType) patchAt(attributes, fixed map[string]any, o operation) error {
	at, ok := t.locate(o.path.urn, o.path.attr, o.path.sub)
	if !ok {
		return bad(invalidPath, "There is no attribute %q.", shown(o.path.String()))
	}
	if at.readOnly() {
		return unchangeable(at, fixed, o)
	}
	if o.path.in != nil {
		return t.changeElements(attributes, at, o)
	}
	if o.op == "remove" {
		return t.remove(attributes, at, o.value)
	}
	return t.change(attributes, at, o.op, o.value)
}

// unchangeable lets an operation on a readOnly attribute pass if it leaves the value
// as it is.
func unchangeable(at place, fixed map[string]any, o operation) error {
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
