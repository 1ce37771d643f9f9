package scim

// matcher tells whether a filter holds of an object.
type matcher func(object map[string]any) bool

// compiler turns filters into matchers for resources of one type.
type compiler struct {
	t *resourceType
	// root: the search goes over all types, where an attribute that this one does
	// not have is unassigned. Elsewhere it is invalidFilter.
	root bool
	of   *attribute // inside brackets: the attribute whose elements are matched
	// looks are the attributes that are looked at, and the extensions that have some.
	looks looked
	// groups and managers are set when the filter looks at what takes more reading.
	groups, managers bool
}

// looked are names of attributes of the core schema and URNs of extensions.
type looked map[string]bool

// add notes what is at p.
func (l *looked) add(p attributeRef) {
	if *l == nil {
		*l = looked{}
	}
	if p.ext != "" {
		(*l)[p.ext] = true
		return
	}
	(*l)[p.attr.Name] = true
}

// selector finds the values of a path in an object.
type selector struct {
	attributeRef
	in      matcher
	element bool // the object is an element, attr one of its sub-attributes
	unknown bool
}

// compile checks f against the schema and returns its matcher.
func (c *compiler) compile(f *filter) (matcher, error) {
	switch f.op {
	case opAnd, opOr:
		left, err := c.compile(f.left)
		if err != nil {
			return nil, err
		}
		right, err := c.compile(f.right)
		if err != nil {
			return nil, err
		}
		if f.op == opAnd {
			return func(o map[string]any) bool { return left(o) && right(o) }, nil
		}
		return func(o map[string]any) bool { return left(o) || right(o) }, nil
	case opNot:
		inner, err := c.compile(f.left)
		if err != nil {
			return nil, err
		}
		return func(o map[string]any) bool { return !inner(o) }, nil
	}
	s, err := c.selector(f.path)
	if err != nil {
		return nil, err
	}
	if f.op == opHas || f.op == opPr || f.op == opNe && f.value.isNull() {
		return func(o map[string]any) bool { return assigned(s.values(o)) }, nil
	}
	if f.op == opEq && f.value.isNull() {
		return func(o map[string]any) bool { return !assigned(s.values(o)) }, nil
	}
	if s.unknown {
		return func(map[string]any) bool { return f.op == opNe }, nil
	}
	return c.comparison(f, s)
}

func (c *compiler) comparison(f *filter, s selector) (matcher, error) {
	leaf := s.attr
	if s.sub != nil {
		leaf = s.sub
	}
	if leaf != nil && leaf.Kind == complexKind {
		s.sub = leaf.sub("value")
		leaf = s.sub
	}
	if leaf == nil {
		return nil, bad(invalidFilter, "%s is a group of attributes and cannot be compared.", shown(f.path.String()))
	}
	holds, err := comparison(leaf, f.op, f.value)
	if err != nil {
		return nil, err
	}
	some := func(o map[string]any) bool {
		for _, v := range s.values(o) {
			if holds(v) {
				return true
			}
		}
		return false
	}
	if f.op != opNe {
		return some, nil
	}
	return func(o map[string]any) bool { return !assigned(s.values(o)) || some(o) }, nil
}

// selector resolves p.
func (c *compiler) selector(p path) (selector, error) {
	unknown := bad(invalidFilter, "There is no attribute %q here.", shown(p.String()))
	if c.of != nil {
		s := selector{element: true, attributeRef: attributeRef{attr: c.of.sub(p.attr)}}
		if p.urn != "" || p.sub != "" || s.attr == nil {
			return s, unknown
		}
		return s, nil
	}
	at, ok := c.t.locate(p.urn, p.attr, p.sub)
	if !ok {
		if c.root {
			return selector{unknown: true}, nil
		}
		return selector{}, unknown
	}
	s := selector{attributeRef: at}
	c.looks.add(at)
	if at.attr != nil {
		c.groups = c.groups || at.ext == "" && at.attr.Name == "groups"
		c.managers = c.managers || at.attr.Name == "manager"
	}
	if p.in == nil {
		return s, nil
	}
	if !at.attr.Multi || at.attr.Kind != complexKind {
		return s, bad(invalidFilter, "%s has no elements to choose from.", at.attr.Name)
	}
	inner := &compiler{t: c.t, of: at.attr}
	var err error
	s.in, err = inner.compile(p.in)
	return s, err
}

// values are the values at s in o: elements of a list one by one.
func (s selector) values(o map[string]any) []any {
	if s.unknown {
		return nil
	}
	if s.ext != "" {
		extension, ok := o[s.ext].(map[string]any)
		if !ok {
			return nil
		}
		if s.attr == nil {
			return []any{extension}
		}
		o = extension
	}
	value, ok := o[s.attr.Name]
	if !ok {
		return nil
	}
	elements, many := value.([]any)
	if !many {
		elements = []any{value}
	}
	if s.in == nil && s.sub == nil {
		return elements
	}
	var out []any
	for _, e := range elements {
		element, ok := e.(map[string]any)
		if !ok || s.in != nil && !s.in(element) {
			continue
		}
		if s.sub == nil {
			out = append(out, e)
		} else if v, ok := element[s.sub.Name]; ok {
			out = append(out, v)
		}
	}
	return out
}

// assigned tells whether values hold anything: empty texts and objects do not.
func assigned(values []any) bool {
	for _, v := range values {
		switch v := v.(type) {
		case string:
			if v != "" {
				return true
			}
		case map[string]any:
			if len(v) > 0 {
				return true
			}
		default:
			return true
		}
	}
	return false
}
