package protocol

// Matcher reports whether an object matches a filter.
type Matcher func(object map[string]any) bool

// Compiler turns filters into matchers for resources of one type, and records which attributes
// they read.
type Compiler struct {
	Type *ResourceType
	// Root is set in a search over all types. An attribute that Type does not have is
	// then unassigned; otherwise it is invalidFilter.
	Root  bool
	of    *Attribute // in brackets: the attribute whose elements are matched
	forms *forms     // of the texts that the filters compare
	// Reads are the attributes that the filters read, and the extensions of others.
	Reads AttributeSet
	// ReadsGroups and ReadsManagers: the filters read attributes that are stored elsewhere.
	ReadsGroups, ReadsManagers bool
	compared                   map[AttributeRef]int // how often a filter compares each value of an attribute
	inside                     int                  // in brackets: how often it compares each element
}

// Comparisons returns how often the filters compare a value of an object, if they do not end early.
func (c *Compiler) Comparisons(o map[string]any) (n int) {
	for at, times := range c.compared {
		values, many := at.get(o).([]any)
		if !many {
			n += times
		}
		n += times * len(values)
	}
	return n
}

// AttributeSet is a set of names of core attributes and URNs of extensions.
type AttributeSet map[string]bool

func (l *AttributeSet) add(ref AttributeRef) {
	if *l == nil {
		*l = AttributeSet{}
	}
	if ref.Ext != "" {
		(*l)[ref.Ext] = true
		return
	}
	(*l)[ref.Attr.Name] = true
}

type selector struct {
	AttributeRef
	in      Matcher
	element bool // the object is an element, Attr one of its sub-attributes
	unknown bool
}

// Compile checks f against the schema and returns its matcher. Its errors are invalidFilter.
func (c *Compiler) Compile(f *Filter) (Matcher, error) {
	switch f.Op {
	case OpAnd, OpOr:
		left, err := c.Compile(f.Left)
		if err != nil {
			return nil, err
		}
		right, err := c.Compile(f.Right)
		if err != nil {
			return nil, err
		}
		if f.Op == OpAnd {
			return func(o map[string]any) bool { return left(o) && right(o) }, nil
		}
		return func(o map[string]any) bool { return left(o) || right(o) }, nil
	case OpNot:
		inner, err := c.Compile(f.Left)
		if err != nil {
			return nil, err
		}
		return func(o map[string]any) bool { return !inner(o) }, nil
	}
	s, err := c.selector(f.Path)
	if err != nil {
		return nil, err
	}
	if f.Op == OpHas || f.Op == OpPr || f.Op == OpNe && f.Value.IsNull() {
		return func(o map[string]any) bool { return s.some(o, nil, assigned) }, nil
	}
	if f.Op == OpEq && f.Value.IsNull() {
		return func(o map[string]any) bool { return !s.some(o, nil, assigned) }, nil
	}
	if s.unknown {
		return func(map[string]any) bool { return f.Op == OpNe }, nil
	}
	return c.comparison(f, s)
}

func (c *Compiler) comparison(f *Filter, s selector) (Matcher, error) {
	leaf := s.Attr
	if s.Sub != nil {
		leaf = s.Sub
	}
	if leaf != nil && leaf.Kind == complexKind {
		s.Sub = leaf.sub("value")
		leaf = s.Sub
	}
	if leaf == nil {
		return nil, Bad(InvalidFilter, "%s has sub-attributes; compare one of them.", Shorten(f.Path.String()))
	}
	if c.forms == nil {
		c.forms = &forms{}
	}
	holds, err := comparison(leaf, f.Op, f.Value, c.forms)
	if err != nil {
		return nil, err
	}
	var missing any
	if s.element && s.Attr.isPrimary() || s.Sub != nil && s.Sub.isPrimary() {
		missing = false // an element without a primary flag is not primary (RFC 7643 section 2.4)
	}
	some := func(o map[string]any) bool { return s.some(o, missing, holds) }
	if f.Op != OpNe {
		return some, nil
	}
	return func(o map[string]any) bool { return !s.some(o, missing, assigned) || some(o) }, nil
}

// selector resolves p.
func (c *Compiler) selector(p Path) (selector, error) {
	unknown := Bad(InvalidFilter, "There is no attribute %q here.", Shorten(p.String()))
	if c.of != nil {
		s := selector{element: true, AttributeRef: AttributeRef{Attr: c.of.sub(p.Attr)}}
		c.inside++
		if p.URN != "" || p.Sub != "" || s.Attr == nil {
			return s, unknown
		}
		return s, nil
	}
	at, ok := c.Type.Locate(p.URN, p.Attr, p.Sub)
	if !ok {
		if c.Root {
			return selector{unknown: true}, nil
		}
		return selector{}, unknown
	}
	s := selector{AttributeRef: at}
	c.Reads.add(at)
	if at.Attr != nil {
		c.compare(at, 1)
		c.ReadsGroups = c.ReadsGroups || at.Ext == "" && at.Attr.Name == "groups"
		c.ReadsManagers = c.ReadsManagers || at.Attr.Name == "manager" && at.Sub != nil && at.Sub.Name != "value"
	}
	if p.In == nil {
		return s, nil
	}
	if !at.Attr.Multi || at.Attr.Kind != complexKind {
		return s, Bad(InvalidFilter, "%s does not support a value filter.", at.Attr.Name)
	}
	if c.forms == nil {
		c.forms = &forms{}
	}
	inner := &Compiler{Type: c.Type, of: at.Attr, forms: c.forms}
	var err error
	s.in, err = inner.Compile(p.In)
	c.compare(at, inner.inside)
	return s, err
}

// compare counts comparisons of each value of at.
func (c *Compiler) compare(at AttributeRef, times int) {
	if c.compared == nil {
		c.compared = map[AttributeRef]int{}
	}
	c.compared[AttributeRef{Ext: at.Ext, Attr: at.Attr}] += times
}

// values returns the values at s in o, the elements of a list one by one.
func (s selector) values(o map[string]any) (values []any) {
	s.some(o, nil, func(v any) bool {
		values = append(values, v)
		return false
	})
	return values
}

// some reports whether holds is true for one of the values at s in o. Unless missing is nil, it stands for the value of an
// element that has none. Nothing is allocated, because a long filter asks this of each member of each group.
func (s selector) some(o map[string]any, missing any, holds func(value any) bool) bool {
	if s.unknown {
		return false
	}
	if s.Ext != "" {
		extension, ok := o[s.Ext].(map[string]any)
		if !ok {
			return false
		}
		if s.Attr == nil {
			return holds(extension)
		}
		o = extension
	}
	value, ok := o[s.Attr.Name]
	if !ok {
		return s.element && missing != nil && holds(missing)
	}
	elements, many := value.([]any)
	if !many {
		return s.holdsIn(value, missing, holds)
	}
	for _, e := range elements {
		if s.holdsIn(e, missing, holds) {
			return true
		}
	}
	return false
}

// holdsIn is some for one element.
func (s selector) holdsIn(e, missing any, holds func(value any) bool) bool {
	if s.in == nil && s.Sub == nil {
		return holds(e)
	}
	element, ok := e.(map[string]any)
	if !ok || s.in != nil && !s.in(element) {
		return false
	}
	if s.Sub == nil {
		return holds(e)
	}
	if v, ok := element[s.Sub.Name]; ok {
		return holds(v)
	}
	return missing != nil && holds(missing)
}

// assigned reports whether a value is neither an empty string nor an empty object.
func assigned(value any) bool {
	switch v := value.(type) {
	case string:
		return v != ""
	case map[string]any:
		return len(v) > 0
	default:
		return true
	}
}
