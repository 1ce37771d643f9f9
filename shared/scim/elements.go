package scim

import "maps"

// changeElements applies an operation whose path has a value filter.
func (t *resourceType) changeElements(attributes map[string]any, at attributeRef, o operation) error {
	if at.attr == nil || !at.attr.Multi || at.attr.Kind != complexKind {
		return bad(invalidPath, "%s has no elements to choose from.", shown(o.path.attr))
	}
	matches, err := (&compiler{t: t, of: at.attr}).compile(o.path.in)
	if err != nil {
		return err
	}
	if o.op == "remove" && at.sub == nil {
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
	case o.op == "remove":
		return at.changeSome(attributes, list, nil, matches)
	case matched == 0:
		return at.create(attributes, list, o)
	case at.sub != nil:
		return at.changeSome(attributes, list, o.value, matches)
	case o.value == nil:
		return at.drop(attributes, matches)
	}
	return at.replaceSome(attributes, list, o, matches)
}

// changeSome gives the sub-attribute at p of the chosen elements a value. An
// element that is left with nothing goes.
func (p attributeRef) changeSome(attributes map[string]any, list []any, value any, chosen func(map[string]any) bool) error {
	if p.readOnly() {
		return nil
	}
	if p.sub.Required && value == nil {
		return bad(mutability, "%s is required and cannot be removed.", p.sub.Name)
	}
	kept := make([]any, 0, len(list))
	primary := -1
	for _, e := range list {
		element := e.(map[string]any)
		if chosen(element) {
			element = maps.Clone(element)
			if err := p.attr.merge(element, map[string]any{p.sub.Name: value}); err != nil {
				return err
			}
			if p.sub.Name == "primary" && element["primary"] == true {
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
func (p attributeRef) replaceSome(attributes map[string]any, list []any, o operation, chosen matcher) error {
	value, err := p.attr.coerceOne(single(o.value))
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
			if o.op == "add" {
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
func (p attributeRef) store(attributes map[string]any, list []any, primary int) error {
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
	p.set(attributes, p.attr.join(nil, list))
	return nil
}

// create adds the element that a value filter describes when there is none: its
// filter must be a conjunction of eq.
func (p attributeRef) create(attributes map[string]any, list []any, o operation) error {
	missing := bad(noTarget, "Nothing matches %q.", shown(o.path.String()))
	if p.sub == nil && o.op == "replace" {
		return missing
	}
	made := map[string]any{}
	fits := true
	o.path.in.conjuncts(func(f *filter) {
		fits = fits && f.op == opEq && !f.value.isNull() && p.attr.sub(f.path.attr) != nil
		if fits {
			made[f.path.attr] = f.value.text
		}
	})
	if !fits {
		return missing
	}
	value := o.value
	if p.sub != nil {
		value = map[string]any{p.sub.Name: value}
	}
	value = single(value)
	element, err := p.attr.coerceOne(value)
	if err != nil {
		return err
	}
	given, _ := element.(map[string]any)
	if p.sub != nil && len(given) == 0 {
		return nil // clearing what is not there
	}
	described, err := p.attr.coerceOne(made)
	if err != nil {
		return err
	}
	next, _ := described.(map[string]any)
	if next == nil {
		next = map[string]any{}
	}
	maps.Copy(next, given)
	list = p.attr.join(list, []any{next})
	p.set(attributes, list)
	return p.attr.bounded(list)
}
