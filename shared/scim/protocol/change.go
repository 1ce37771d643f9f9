package protocol

import "maps"

// change adds or replaces the value at at, for a path without a value filter.
func (t *ResourceType) change(attributes map[string]any, at AttributeRef, op string, value any) error {
	switch {
	case at.Attr == nil:
		return setExtension(attributes, t, at.Ext, value, false)
	case at.Sub != nil && at.Attr.Multi:
		return at.changeEach(attributes, value)
	case at.Attr.Multi && op == "add":
		added, err := at.Attr.coerce(value)
		if err != nil || added == nil {
			return err
		}
		list, _ := at.get(attributes).([]any)
		list = at.Attr.join(list, added.([]any))
		at.set(attributes, list)
		return at.Attr.bounded(list)
	default:
		return at.assign(attributes, value, true)
	}
}

// assign sets the attribute or sub-attribute r; null and empty values unassign it. With merge,
// an object changes only the sub-attributes that it names.
func (r AttributeRef) assign(attributes map[string]any, value any, merge bool) error {
	if r.readOnly() {
		return nil
	}
	if !r.Attr.Multi && r.Sub == nil {
		value = r.Attr.alone(value)
	}
	if r.Sub != nil {
		value = map[string]any{r.Sub.Name: value}
	} else if text, ok := value.(string); ok && r.Attr.Kind == complexKind && r.Attr.sub("value") != nil {
		value = map[string]any{"value": text}
	}
	object, isObject := value.(map[string]any)
	if r.Attr.Kind != complexKind || r.Attr.Multi || !merge || !isObject {
		coerced, err := r.Attr.coerce(value)
		if err == nil {
			r.set(attributes, coerced)
		}
		return err
	}
	merged, _ := r.get(attributes).(map[string]any)
	merged = maps.Clone(merged)
	if merged == nil {
		merged = map[string]any{}
	}
	if err := r.Attr.merge(merged, object); err != nil {
		return err
	}
	if len(merged) == 0 {
		r.set(attributes, nil)
		return nil
	}
	r.set(attributes, merged)
	return nil
}

// changeEach sets a sub-attribute of every element, and creates an element if there is none.
func (r AttributeRef) changeEach(attributes map[string]any, value any) error {
	list, _ := r.get(attributes).([]any)
	if len(list) == 0 {
		made, err := r.Attr.coerce(map[string]any{r.Sub.Name: value})
		if err == nil {
			r.set(attributes, made)
		}
		return err
	}
	return r.changeSome(attributes, list, value, func(map[string]any) bool { return true })
}

// remove unassigns the value at at, or for a multi-valued attribute only the elements that
// value lists.
func (t *ResourceType) remove(attributes map[string]any, at AttributeRef, value any) error {
	switch {
	case at.Attr == nil:
		delete(attributes, at.Ext)
	case at.Attr.Required:
		return Bad(Mutability, "%s is required and cannot be removed.", at.Attr.Name)
	case at.Sub != nil && at.Attr.Multi:
		list, _ := at.get(attributes).([]any)
		return at.changeSome(attributes, list, nil, func(map[string]any) bool { return true })
	case at.Sub != nil:
		return at.assign(attributes, nil, true)
	case at.Attr.Multi && value != nil:
		return at.removeListed(attributes, value)
	default:
		at.set(attributes, nil)
	}
	return nil
}

// removeListed removes the elements that have every sub-attribute of an entry of value.
func (r AttributeRef) removeListed(attributes map[string]any, value any) error {
	entries, ok := value.([]any)
	if !ok {
		entries = []any{value}
	}
	byValue := map[string]bool{}
	var others []map[string]any
	for _, e := range entries {
		if text, ok := e.(string); ok {
			e = map[string]any{"value": text}
		}
		entry, err := r.Attr.coerceOne(e)
		if err != nil {
			return err
		}
		object, ok := entry.(map[string]any)
		if !ok {
			continue
		}
		if id, ok := object["value"].(string); ok && r.Attr.Name == "members" {
			byValue[id] = true
			continue
		}
		others = append(others, object)
	}
	return r.drop(attributes, func(element map[string]any) bool {
		id, _ := element["value"].(string)
		if byValue[id] {
			return true
		}
		for _, entry := range others {
			if r.Attr.covers(element, entry) {
				return true
			}
		}
		return false
	})
}

// covers reports whether element has every sub-attribute of entry, with the same value.
func (a *Attribute) covers(element, entry map[string]any) bool {
	for name, want := range entry {
		is, ok := element[name]
		if !ok {
			return false
		}
		isText, _ := is.(string)
		wantText, textual := want.(string)
		if textual && a.sub(name).comparable(isText) != a.sub(name).comparable(wantText) || !textual && is != want {
			return false
		}
	}
	return true
}

// drop removes the elements for which gone returns true.
func (r AttributeRef) drop(attributes map[string]any, gone func(map[string]any) bool) error {
	list, _ := r.get(attributes).([]any)
	kept := make([]any, 0, len(list))
	for _, e := range list {
		if element, ok := e.(map[string]any); !ok || !gone(element) {
			kept = append(kept, e)
		}
	}
	if len(kept) == 0 {
		r.set(attributes, nil)
	} else {
		r.set(attributes, kept)
	}
	return nil
}
