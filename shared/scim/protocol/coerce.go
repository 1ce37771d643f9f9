package protocol

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"docent/shared/fold"
)

// MaxElements bounds the elements of a multi-valued attribute, members apart: the
// index entries of the old and the new ones must fit into one write.
const MaxElements = 40

// Read turns the object that a client sent to create or replace a resource of
// type t into the attributes that are stored: canonical names and types, nothing
// that is unknown, readOnly or unassigned.
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

// setExtension merges an object of the extension's attributes into the resource;
// null clears the extension.
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

// checkRequired checks what must be assigned.
func (t *ResourceType) checkRequired(attributes map[string]any) error {
	for _, a := range t.Core.Attributes {
		if text, _ := attributes[a.Name].(string); a.Required && strings.TrimSpace(text) == "" {
			return Bad(InvalidValue, "%s is required and must not be blank.", a.Name)
		}
	}
	return nil
}

// container is the object that holds the attribute at p, made when it is missing
// and create is set, else nil.
func (p AttributeRef) container(attributes map[string]any, create bool) map[string]any {
	if p.Ext == "" {
		return attributes
	}
	extension, _ := attributes[p.Ext].(map[string]any)
	if extension == nil && create {
		extension = map[string]any{}
		attributes[p.Ext] = extension
	}
	return extension
}

// set stores a coerced value of the whole attribute; nil unassigns it. What may
// be written but never read is discarded.
func (p AttributeRef) set(attributes map[string]any, value any) {
	if p.Attr.Mutability == writeOnly {
		return
	}
	in := p.container(attributes, value != nil)
	if value != nil {
		in[p.Attr.Name] = value
		return
	}
	delete(in, p.Attr.Name)
	if p.Ext != "" && len(in) == 0 {
		delete(attributes, p.Ext)
	}
}

// get returns the stored value of the whole attribute, nil when it is unassigned.
func (p AttributeRef) get(attributes map[string]any) any {
	return p.container(attributes, false)[p.Attr.Name]
}

// coerce turns a JSON value into a's canonical form, nil for what is unassigned.
func (a *Attribute) coerce(value any) (any, error) {
	if value == nil {
		return nil, nil
	}
	if a.Multi {
		elements, ok := value.([]any)
		if !ok {
			elements = []any{value}
		}
		return a.coerceList(elements)
	}
	return a.coerceOne(a.alone(value))
}

// alone returns the value that a list of one holds, where a takes one value: providers
// send lists, of the value or of an object with it, where the schema has none.
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
			return nil, Bad(InvalidValue, "%s must be an object.", a.Name)
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

// merge sets the sub-attributes that object names in out; what is null or empty
// there is unassigned, what it does not name stays.
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
	if a.Name == "members" && len(out) > 0 && out["value"] == nil {
		return Bad(InvalidValue, "A member needs the id of a user as its value.")
	}
	return nil
}

// join adds elements to list. One that is there already changes nothing; one of
// the same value and type as another is merged into it; a primary one makes all
// others not primary.
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

// identity is equal for elements that are the same value.
func (a *Attribute) identity(element any) string {
	object, ok := element.(map[string]any)
	if !ok {
		text, _ := element.(string)
		return a.comparable(text)
	}
	value, ok := object["value"].(string)
	if !ok { // addresses: the whole of it, the mark apart
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

// onePrimary unmarks all elements but the one at position at.
func onePrimary(list []any, at int) {
	for i, e := range list {
		if object, ok := e.(map[string]any); ok && i != at && object["primary"] == true {
			delete(object, "primary")
		}
	}
}

// Equal tells whether two trees are equal.
func Equal(a, b any) bool { return reflect.DeepEqual(a, b) }
