package protocol

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// maxComparisons limits what the operations of one PATCH together compare elements of lists with: a
// thousand operations on a list of 20,000, and filters of many comparisons as often.
const maxComparisons = 20_000_000

// MaxOperations limits the operations of one PATCH, and of one Bulk request.
const MaxOperations = 1000

// Operation is one operation of a PATCH (RFC 7644 section 3.5.2).
type Operation struct {
	Op    string // add, replace or remove
	Path  Path
	Value any // nil: absent or null
	// named: the operation had no path, and Path is a key of its value. If the attribute is
	// unknown or read-only, the operation is ignored, as in the body of a PUT.
	named bool
}

// ParsePatch reads the message of a PATCH. Its errors are of type Error.
func ParsePatch(message map[string]any) ([]Operation, error) {
	if err := CheckMessage(message, PatchURN); err != nil {
		return nil, err
	}
	list, ok := MessageMember(message, "Operations").([]any)
	if !ok {
		return nil, Bad(InvalidSyntax, "The request body must have a list of Operations.")
	}
	if len(list) > MaxOperations {
		return nil, Refuse(413, "", "A PATCH may have at most %d operations; send fewer.", MaxOperations)
	}
	out := make([]Operation, 0, len(list))
	for _, e := range list {
		object, ok := e.(map[string]any)
		if !ok {
			return nil, Bad(InvalidSyntax, "An operation must be an object.")
		}
		operations, err := parseOperation(object)
		if err != nil {
			return nil, err
		}
		if out = append(out, operations...); len(out) > MaxOperations {
			return nil, Refuse(413, "", "A PATCH may change at most %d attributes; send fewer.", MaxOperations)
		}
	}
	return out, nil
}

// parseOperation reads an operation. One without a path becomes one operation for each
// attribute in its value.
func parseOperation(object map[string]any) ([]Operation, error) {
	name, _ := MessageMember(object, "op").(string)
	value, given := memberOf(object, "value")
	o := Operation{Op: strings.ToLower(name), Value: value}
	if o.Op != "add" && o.Op != "replace" && o.Op != "remove" {
		return nil, Bad(InvalidSyntax, "op must be add, replace or remove.")
	}
	if o.Op != "remove" && !given {
		return nil, Bad(InvalidValue, "%s requires a value; null removes the attribute.", o.Op)
	}
	text, ok := MessageMember(object, "path").(string)
	if !ok && MessageMember(object, "path") != nil {
		return nil, Bad(InvalidPath, "The path must be a string.")
	}
	if strings.TrimSpace(text) == "" {
		if o.Op == "remove" {
			return nil, Bad(NoTarget, "remove requires a path.")
		}
		return parseNamed(o)
	}
	var err error
	o.Path, err = ParsePath(text)
	return []Operation{o}, err
}

// parseNamed reads the value of an operation without a path: an object whose keys are paths, or
// a list of such objects.
func parseNamed(o Operation) ([]Operation, error) {
	objects, isList := o.Value.([]any)
	if !isList {
		objects = []any{o.Value}
	}
	var out []Operation
	for _, e := range objects {
		object, ok := e.(map[string]any)
		if !ok {
			return nil, Bad(InvalidValue, "An operation without a path requires an object as its value.")
		}
		named, err := parseKeys(o.Op, "", object)
		if err != nil {
			return nil, err
		}
		out = append(out, named...)
	}
	if len(objects) == 0 {
		return nil, Bad(InvalidValue, "An operation without a path requires an object as its value.")
	}
	return out, nil
}

// parseKeys returns an operation for each key of object, whose names without a URN are of the schema urn. The URN of a
// core schema has an object of its attributes as its value, like that of an extension.
func parseKeys(op, urn string, object map[string]any) ([]Operation, error) {
	var out []Operation
	for _, key := range slices.Sorted(maps.Keys(object)) {
		at, ok, err := parseKey(key)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if isCore := at.Attr == "" && (at.URN == UserURN || at.URN == GroupURN); !isCore || urn != "" {
			at.URN = cmp.Or(at.URN, urn)
			out = append(out, Operation{Op: op, Path: at, Value: object[key], named: true})
			continue
		}
		attributes, isObject := object[key].(map[string]any)
		if !isObject {
			return nil, Bad(InvalidValue, "The value of %q must be an object of its attributes.", Shorten(key))
		}
		inner, err := parseKeys(op, at.URN, attributes)
		if err != nil {
			return nil, err
		}
		out = append(out, inner...)
	}
	return out, nil
}

// parseKey reads a key of such a value: an attribute name, or a path with a value filter like
// emails[type eq "work"].value, which Entra ID sends. It returns false for a key that cannot be
// a name.
func parseKey(key string) (at Path, ok bool, err error) {
	if strings.Contains(key, "[") {
		at, err = ParsePath(key)
		return at, err == nil, err
	}
	at.URN, at.Attr, at.Sub, ok = SplitName(key)
	return at, ok, nil
}

// Patch applies operations in order to a copy of attributes, which it returns. fixed are the id
// and meta of the resource: an operation may name them, but not change them.
func (t *ResourceType) Patch(attributes map[string]any, fixed map[string]any, operations []Operation) (map[string]any, error) {
	after := clone(attributes).(map[string]any)
	compared := 0
	for _, o := range operations {
		if compared += t.comparisons(after, o); compared > maxComparisons {
			return nil, Refuse(413, "", "The operations of this PATCH compare too many elements; send fewer at a time, or shorter filters.")
		}
		if err := t.apply(after, fixed, o); err != nil {
			return nil, err
		}
	}
	return after, t.checkRequired(after)
}

// comparisons returns how many comparisons of elements the operation takes.
func (t *ResourceType) comparisons(attributes map[string]any, o Operation) int {
	at, ok := t.Locate(o.Path.URN, o.Path.Attr, o.Path.Sub)
	if !ok || at.Attr == nil {
		return 0
	}
	list, _ := at.get(attributes).([]any)
	return len(list) * o.Path.In.comparisons()
}

// readOnly reports whether clients cannot change the attribute r.
func (r AttributeRef) readOnly() bool {
	return r.Attr != nil && r.Attr.serverOwned() || r.Sub != nil && r.Sub.serverOwned()
}

func (t *ResourceType) apply(attributes, fixed map[string]any, o Operation) error {
	at, ok := t.Locate(o.Path.URN, o.Path.Attr, o.Path.Sub)
	switch {
	case o.named && (!ok || at.readOnly()):
		return nil
	case !ok:
		return Bad(InvalidPath, "There is no attribute %q.", Shorten(o.Path.String()))
	case at.readOnly():
		return unchangeable(at, fixed, o)
	case o.Path.In != nil:
		return t.changeElements(attributes, at, o)
	case o.Op == "remove":
		return t.remove(attributes, at, o.Value)
	}
	return t.change(attributes, at, o.Op, o.Value)
}

// unchangeable allows an operation on a read-only attribute only if it leaves the value as it
// is.
func unchangeable(at AttributeRef, fixed map[string]any, o Operation) error {
	if o.Op != "remove" && at.Ext == "" && o.Path.In == nil {
		if at.Attr.Name == "schemas" {
			return nil // computed from the attributes
		}
		current := fixed[at.Attr.Name]
		if object, ok := current.(map[string]any); ok && at.Sub != nil {
			current = object[at.Sub.Name]
		}
		if current != nil && Equal(current, o.Value) {
			return nil
		}
	}
	return Bad(Mutability, "%s cannot be changed.", Shorten(o.Path.String()))
}
