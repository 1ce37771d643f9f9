package protocol

import "maps"

// changeElements applies an operation whose path has a value filter.
func (t *ResourceType) changeElements(attributes map[string]any, at AttributeRef, o Operation) error {
	if at.Attr == nil || !at.Attr.Multi || at.Attr.Kind != complexKind {
		return Bad(InvalidPath, "%s has no elements to choose from.", Shorten(o.Path.Attr))
	}
	matches, err := (&Compiler{Type: t, of: at.Attr}).Compile(o.Path.In)
	if err != nil {
		return err
	}
	if o.Op == "remove" && at.Sub == nil {
		return at.drop(attributes, matches)
	}
	list, _ := at.get(attributes).([]any)
	matched := 0
	for _, e := range list {
		if matches(e.(map[string]any)) {
			matched++
		}
	}
	switch {
	case o.Op == "remove":
		return at.changeSome(attributes, list, nil, matches)
	case matched == 0:
		return at.create(attributes, list, o)
	case at.Sub != nil:
		return at.changeSome(attributes, list, o.Value, matches)
	case o.Value == nil:
		return at.drop(attributes, matches)
	}
	return at.replaceSome(attributes, list, o, matches)
}

// changeSome gives the sub-attribute at p of the chosen elements a value. An
// element that is left with nothing goes.
func (p AttributeRef) changeSome(attributes map[string]any, list []any, value any, chosen func(map[string]any) bool) error {
	if p.readOnly() {
		return nil
	}
	if p.Sub.Required && value == nil {
		return Bad(Mutability, "%s is required and cannot be removed.", p.Sub.Name)
	}
	kept := make([]any, 0, len(list))
	primary := -1
	for _, e := range list {
		element := e.(map[string]any)
		if chosen(element) {
			element = maps.Clone(element)
			if err := p.Attr.merge(element, map[string]any{p.Sub.Name: value}); err != nil {
				return err
			}
			if p.Sub.Name == "primary" && element["primary"] == true {
				primary = len(kept)
			}
		}
		if len(element) > 0 {
			kept = append(kept, element)
		}
	}
	return p.store(attributes, kept, primary)
}

// replaceSome replaces the chosen elements, or with add merges into them.
func (p AttributeRef) replaceSome(attributes map[string]any, list []any, o Operation, chosen Matcher) error {
	value, err := p.Attr.coerceOne(single(o.Value))
	if err != nil {
		return err
	}
	with, _ := value.(map[string]any)
	kept := make([]any, 0, len(list))
	primary := -1
	for _, e := range list {
		element := e.(map[string]any)
		if chosen(element) {
			next := map[string]any{}
			if o.Op == "add" {
				next = maps.Clone(element)
			}
			maps.Copy(next, with)
			if element = next; element["primary"] == true {
				primary = len(kept)
			}
		}
		if len(element) > 0 {
			kept = append(kept, element)
		}
	}
	return p.store(attributes, kept, primary)
}

// single unpacks a list of one.
func single(value any) any {
	if list, ok := value.([]any); ok && len(list) == 1 {
		return list[0]
	}
	return value
}

// store puts the list back, without repeated elements; the element at primary,
// if not negative, is the primary one.
func (p AttributeRef) store(attributes map[string]any, list []any, primary int) error {
	if primary >= 0 {
		for i := range list {
			if element := list[i].(map[string]any); i != primary && element["primary"] == true {
				element = maps.Clone(element)
				delete(element, "primary")
				list[i] = element
			}
		}
	}
	if len(list) == 0 {
		p.set(attributes, nil)
		return nil
	}
	p.set(attributes, p.Attr.join(nil, list))
	return nil
}

// create adds the element that a value filter describes when there is none: its
// filter must be a conjunction of eq.
func (p AttributeRef) create(attributes map[string]any, list []any, o Operation) error {
	missing := Bad(NoTarget, "Nothing matches %q.", Shorten(o.Path.String()))
	if p.Sub == nil && o.Op == "replace" {
		return missing
	}
	made := map[string]any{}
	fits := true
	o.Path.In.Conjuncts(func(f *Filter) {
		fits = fits && f.Op == OpEq && !f.Value.IsNull() && p.Attr.sub(f.Path.Attr) != nil
		if fits {
			made[f.Path.Attr] = f.Value.Text
		}
	})
	if !fits {
		return missing
	}
	value := o.Value
	if p.Sub != nil {
		value = map[string]any{p.Sub.Name: value}
	}
	value = single(value)
	element, err := p.Attr.coerceOne(value)
	if err != nil {
		return err
	}
	given, _ := element.(map[string]any)
	if p.Sub != nil && len(given) == 0 {
		return nil // clearing what is not there
	}
	described, err := p.Attr.coerceOne(made)
	if err != nil {
		return err
	}
	next, _ := described.(map[string]any)
	if next == nil {
		next = map[string]any{}
	}
	maps.Copy(next, given)
	list = p.Attr.join(list, []any{next})
	p.set(attributes, list)
	return p.Attr.bounded(list)
}
