package protocol

import "maps"

// change adds or replaces what is at p, outside of any value filter.
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

// assign gives the attribute or sub-attribute at p a value; null and empty ones
// unassign it. With merge, an object changes only what it names of a complex
// attribute.
func (p AttributeRef) assign(attributes map[string]any, value any, merge bool) error {
	if p.readOnly() {
		return nil
	}
	if !p.Attr.Multi && p.Sub == nil {
		value = p.Attr.alone(value)
	}
	if p.Sub != nil {
		value = map[string]any{p.Sub.Name: value}
	} else if text, ok := value.(string); ok && p.Attr.Kind == complexKind && p.Attr.sub("value") != nil {
		value = map[string]any{"value": text}
	}
	object, isObject := value.(map[string]any)
	if p.Attr.Kind != complexKind || p.Attr.Multi || !merge || !isObject {
		coerced, err := p.Attr.coerce(value)
		if err == nil {
			p.set(attributes, coerced)
		}
		return err
	}
	merged, _ := p.get(attributes).(map[string]any)
	merged = maps.Clone(merged)
	if merged == nil {
		merged = map[string]any{}
	}
	if err := p.Attr.merge(merged, object); err != nil {
		return err
	}
	if len(merged) == 0 {
		p.set(attributes, nil)
		return nil
	}
	p.set(attributes, merged)
	return nil
}

// changeEach gives a sub-attribute of every element a value, and makes the first
// element where there is none.
func (p AttributeRef) changeEach(attributes map[string]any, value any) error {
	list, _ := p.get(attributes).([]any)
	if len(list) == 0 {
		made, err := p.Attr.coerce(map[string]any{p.Sub.Name: value})
		if err == nil {
			p.set(attributes, made)
		}
		return err
	}
	return p.changeSome(attributes, list, value, func(map[string]any) bool { return true })
}

// remove unassigns what is at p; of a multi-valued attribute only the elements
// that value names, when there is one.
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

// removeListed removes the elements that a value list names: those that have
// every sub-attribute of one of its entries.
func (p AttributeRef) removeListed(attributes map[string]any, value any) error {
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
		entry, err := p.Attr.coerceOne(e)
		if err != nil {
			return err
		}
		object, ok := entry.(map[string]any)
		if !ok {
			continue
		}
		if id, ok := object["value"].(string); ok && p.Attr.Name == "members" {
			byValue[id] = true
			continue
		}
		others = append(others, object)
	}
	return p.drop(attributes, func(element map[string]any) bool {
		id, _ := element["value"].(string)
		if byValue[id] {
			return true
		}
		for _, entry := range others {
			if p.Attr.covers(element, entry) {
				return true
			}
		}
		return false
	})
}

// covers tells whether element has every sub-attribute of entry.
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

// drop removes the elements that gone picks.
func (p AttributeRef) drop(attributes map[string]any, gone func(map[string]any) bool) error {
	list, _ := p.get(attributes).([]any)
	kept := make([]any, 0, len(list))
	for _, e := range list {
		if element, ok := e.(map[string]any); !ok || !gone(element) {
			kept = append(kept, e)
		}
	}
	if len(kept) == 0 {
		p.set(attributes, nil)
	} else {
		p.set(attributes, kept)
	}
	return nil
}
