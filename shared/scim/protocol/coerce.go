package protocol

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"docent/shared/fold"
)

// MaxElements limits the elements of a multi-valued attribute other than members: the index
// entries of the old and the new ones must fit into one write.
const MaxElements = 40

// Read returns the attributes to store for a body that creates or replaces a resource:
// canonical names and types, without unknown, read-only and unassigned attributes.
func (t *ResourceType) Read(body map[string]any) (map[string]any, error) {
	attributes := map[string]any{}
	seen := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(body)) {
		folded := strings.ToLower(key)
		if seen[folded] {
			return nil, Bad(InvalidSyntax, "The request body repeats the attribute %q.", Shorten(key))
		}
		seen[folded] = true
		urn, attr, sub, ok := SplitName(key)
		at, found := t.Locate(urn, attr, sub)
		if !ok || !found || sub != "" {
			continue
		}
		if at.Attr == nil {
			if err := setExtension(attributes, t, at.Ext, body[key], true); err != nil {
				return nil, err
			}
			continue
		}
		if at.Attr.Mutability == readOnly {
			continue
		}
		value, err := at.Attr.coerce(body[key])
		if err != nil {
			return nil, err
		}
		at.set(attributes, value)
	}
	return attributes, t.checkRequired(attributes)
}

// setExtension merges an object of an extension's attributes into the resource; null removes
// the extension.
func setExtension(attributes map[string]any, t *ResourceType, urn string, value any, create bool) error {
	if value == nil {
		delete(attributes, urn)
		return nil
	}
	object, ok := single(value).(map[string]any)
	if !ok {
		return Bad(InvalidValue, "%s must be an object.", urn)
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		at, ok := t.Locate(urn, key, "")
		if name, sub, dotted := strings.Cut(key, "."); !create && dotted {
			at, ok = t.Locate(urn, name, sub)
		}
		if !ok || at.Attr == nil {
			continue
		}
		if err := at.assign(attributes, object[key], !create); err != nil {
			return err
		}
	}
	return nil
}

// checkRequired returns an error unless the required attributes are assigned.
func (t *ResourceType) checkRequired(attributes map[string]any) error {
	for _, a := range t.Core.Attributes {
		if text, _ := attributes[a.Name].(string); a.Required && strings.TrimSpace(text) == "" {
			return Bad(InvalidValue, "%s is required and must not be blank.", a.Name)
		}
	}
	return nil
}

// container returns the object that contains the attribute r. If it is missing, it is created
// if create is set; otherwise nil is returned.
func (r AttributeRef) container(attributes map[string]any, create bool) map[string]any {
	if r.Ext == "" {
		return attributes
	}
	extension, _ := attributes[r.Ext].(map[string]any)
	if extension == nil && create {
		extension = map[string]any{}
		attributes[r.Ext] = extension
	}
	return extension
}

// set stores a coerced value of the whole attribute; nil unassigns it. The value of a
// write-only attribute is discarded.
func (r AttributeRef) set(attributes map[string]any, value any) {
	if r.Attr.Mutability == writeOnly {
		return
	}
	in := r.container(attributes, value != nil)
	if value != nil {
		in[r.Attr.Name] = value
		return
	}
	delete(in, r.Attr.Name)
	if r.Ext != "" && len(in) == 0 {
		delete(attributes, r.Ext)
	}
}

// get returns the stored value of the whole attribute, or nil.
func (r AttributeRef) get(attributes map[string]any) any {
	return r.container(attributes, false)[r.Attr.Name]
}

// coerce returns the canonical form of a JSON value, or nil if it is unassigned.
func (a *Attribute) coerce(value any) (any, error) {
	if value == nil {
		return nil, nil
	}
	if a.Multi {
		elements, ok := value.([]any)
		switch {
		case value == "" && a.Name != "members": // templates of providers write unset attributes so
			return nil, nil
		case !ok:
			elements = []any{value}
		}
		return a.coerceList(elements)
	}
	return a.coerceOne(a.alone(value))
}

// alone unwraps a list with one element for an attribute with a single value: providers send
// lists, of the value or of an object that contains it.
func (a *Attribute) alone(value any) any {
	one := single(value)
	object, ok := one.(map[string]any)
	if _, listed := value.([]any); !ok || !listed || a.Kind == complexKind {
		return one
	}
	if inner, there := memberOf(object, "value"); there {
		return inner
	}
	return one
}

func (a *Attribute) coerceList(elements []any) (any, error) {
	list := make([]any, 0, len(elements))
	for _, e := range elements {
		value, err := a.coerceOne(e)
		if err != nil {
			return nil, err
		}
		if value != nil {
			list = append(list, value)
		} else if a.Name == "members" { // ignored, it could empty the group
			return nil, noMember()
		}
	}
	list = a.join(nil, list)
	if len(list) == 0 {
		return nil, nil
	}
	return list, a.bounded(list)
}

func (a *Attribute) bounded(list []any) error {
	if len(list) > MaxElements && a.Name != "members" {
		return Bad(InvalidValue, "%s has more than %d elements.", a.Name, MaxElements)
	}
	return nil
}

// coerceOne is coerce for one element.
func (a *Attribute) coerceOne(value any) (any, error) {
	if value == nil {
		return nil, nil
	}
	switch a.Kind {
	case complexKind:
		if text, ok := value.(string); ok && a.sub("value") != nil {
			value = map[string]any{"value": text} // the value alone, as in "roles": ["x"]
		}
		object, ok := value.(map[string]any)
		if !ok {
			return nil, Bad(InvalidValue, "%s must be an object.", a.element())
		}
		if len(object) > 0 && a.Name != "members" && !a.names(object) { // of another shape; as an empty one it would clear the attribute
			return nil, Bad(InvalidValue, "%s has none of its attributes, such as %s.", a.element(), a.Sub[0].Name)
		}
		out := map[string]any{}
		if err := a.merge(out, object); err != nil || len(out) == 0 {
			return nil, err
		}
		return out, nil
	case booleanKind:
		if is, ok := value.(bool); ok {
			return is, nil
		}
		if text, ok := value.(string); ok {
			if is, ok := parseBoolean(text); ok {
				return is, nil
			}
		}
		return nil, Bad(InvalidValue, "%s must be true or false.", a.Name)
	default:
		text, ok := value.(string)
		if !ok {
			return nil, Bad(InvalidValue, "%s must be a string.", a.Name)
		}
		if text == "" {
			return nil, nil
		}
		return text, nil
	}
}

// element names a value of a for an error.
func (a *Attribute) element() string {
	if a.Multi {
		return "An element of " + a.Name
	}
	return a.Name
}

// names reports whether object has a sub-attribute of a.
func (a *Attribute) names(object map[string]any) bool {
	for key := range object {
		if a.sub(key) != nil {
			return true
		}
	}
	return false
}

// merge sets in out the sub-attributes that object names, and removes those that are null or
// empty.
func (a *Attribute) merge(out, object map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		sub := a.sub(key)
		if sub == nil || sub.serverOwned() {
			continue
		}
		value, err := sub.coerce(object[key])
		if err != nil {
			return err
		}
		if a.Name == "members" && sub.Name == "type" {
			if text, _ := value.(string); value != nil && !strings.EqualFold(text, UserType.Name) {
				return Bad(InvalidValue, "Members of a group are users; groups cannot contain groups.")
			}
			continue
		}
		if value == nil {
			delete(out, sub.Name)
		} else {
			out[sub.Name] = value
		}
	}
	if a.Name == "members" && out["value"] == nil {
		return noMember()
	}
	return nil
}

func noMember() error {
	return Bad(InvalidValue, "A member needs the id of a user as its value.")
}

// join adds elements to list. An element that is already in it changes nothing; one with the
// same value and type is merged; a new primary element makes all others not primary.
func (a *Attribute) join(list, elements []any) []any {
	positions := make(map[string]int, len(list)+len(elements))
	for i, e := range list {
		positions[a.identity(e)] = i
	}
	for _, e := range elements {
		identity := a.identity(e)
		at, there := positions[identity]
		added, complex := e.(map[string]any)
		switch {
		case !there:
			at = len(list)
			positions[identity] = at
			list = append(list, e)
		case complex && a.Name != "members":
			maps.Copy(list[at].(map[string]any), added)
		}
		if complex && added["primary"] == true {
			onePrimary(list, at)
		}
	}
	return list
}

// identity returns the same string for elements with the same value.
func (a *Attribute) identity(element any) string {
	object, ok := element.(map[string]any)
	if !ok {
		text, _ := element.(string)
		return a.comparable(text)
	}
	value, ok := object["value"].(string)
	if !ok { // addresses: everything except the primary flag
		object = maps.Clone(object)
		delete(object, "primary")
		text, _ := Encode(object) // texts and booleans always encode
		return string(text)
	}
	if a.Name == "members" {
		return value
	}
	kind, _ := object["type"].(string)
	return a.sub("value").comparable(value) + "\x00" + fold.Text(kind)
}

// onePrimary unmarks all elements except the one at position at.
func onePrimary(list []any, at int) {
	for i, e := range list {
		if object, ok := e.(map[string]any); ok && i != at && object["primary"] == true {
			delete(object, "primary")
		}
	}
}

// Equal reports whether two trees are equal.
func Equal(a, b any) bool { return reflect.DeepEqual(a, b) }
