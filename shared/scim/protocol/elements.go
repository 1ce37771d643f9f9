package protocol

import "maps"

// changeElements applies an operation whose path has a value filter.
func (t *ResourceType) changeElements(attributes map[string]any, at AttributeRef, o Operation) error {
	if at.Attr == nil || !at.Attr.Multi || at.Attr.Kind != complexKind {
		return Bad(InvalidPath, "%s does not support a value filter.", Shorten(o.Path.Attr))
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

// changeSome sets the sub-attribute r of the chosen elements. An element that becomes empty is
// removed.
func (r AttributeRef) changeSome(attributes map[string]any, list []any, value any, chosen func(map[string]any) bool) error {
	if r.readOnly() {
		return nil
	}
	if r.Sub.Required && value == nil {
		return Bad(Mutability, "%s is required and cannot be removed.", r.Sub.Name)
	}
	kept := make([]any, 0, len(list))
	primary := -1
	for _, e := range list {
		element := e.(map[string]any)
		if chosen(element) {
			before := element[r.Sub.Name]
			element = maps.Clone(element)
			if err := r.Attr.merge(element, map[string]any{r.Sub.Name: value}); err != nil {
				return err
			}
			if r.Sub.Mutability == immutable && before != nil && element[r.Sub.Name] != before {
				return Bad(Mutability, "%s of an element cannot be changed; replace the element.", r.Sub.Name)
			}
			if r.Sub.Name == "primary" && element["primary"] == true {
				primary = len(kept)
			}
		}
		if len(element) > 0 {
			kept = append(kept, element)
		}
	}
	return r.store(attributes, kept, primary)
}

// replaceSome replaces the chosen elements; for add, it merges into them.
func (r AttributeRef) replaceSome(attributes map[string]any, list []any, o Operation, chosen Matcher) error {
	value, err := r.Attr.coerceOne(single(o.Value))
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
				if r.Attr.Name == "members" && with["value"] != nil && with["value"] != element["value"] { // all would become one
					return Bad(Mutability, "value of an element cannot be changed; add the member without a filter.")
				}
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
	return r.store(attributes, kept, primary)
}

// single returns the element of a list with one element, otherwise value.
func single(value any) any {
	if list, ok := value.([]any); ok && len(list) == 1 {
		return list[0]
	}
	return value
}

// store stores the list without repeated elements. If primary is not negative, the element at
// that position is the only primary one.
func (r AttributeRef) store(attributes map[string]any, list []any, primary int) error {
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
		r.set(attributes, nil)
		return nil
	}
	r.set(attributes, r.Attr.join(nil, list))
	return nil
}

// create adds the element that a value filter describes, if none matches. The filter must be a
// conjunction of eq.
func (r AttributeRef) create(attributes map[string]any, list []any, o Operation) error {
	missing := Bad(NoTarget, "Nothing matches %q.", Shorten(o.Path.String()))
	if r.Sub == nil && o.Op == "replace" {
		return missing
	}
	made := map[string]any{}
	fits := true
	o.Path.In.Conjuncts(func(f *Filter) {
		fits = fits && f.Op == OpEq && !f.Value.IsNull() && r.Attr.sub(f.Path.Attr) != nil
		if fits {
			made[f.Path.Attr] = f.Value.Text
		}
	})
	if !fits {
		return missing
	}
	value := o.Value
	if r.Sub != nil {
		value = map[string]any{r.Sub.Name: value}
	}
	value = single(value)
	element, err := r.Attr.coerceOne(value)
	if err != nil {
		return err
	}
	given, _ := element.(map[string]any)
	if r.Sub != nil && len(given) == 0 {
		return nil // nothing to clear
	}
	described, err := r.Attr.coerceOne(made)
	if err != nil {
		return err
	}
	next, _ := described.(map[string]any)
	if next == nil {
		next = map[string]any{}
	}
	maps.Copy(next, given)
	list = r.Attr.join(list, []any{next})
	r.set(attributes, list)
	return r.Attr.bounded(list)
}
