package filter

import (
	"slices"
	"time"
)

// Facts are what is known of a document besides its metadata. Filters name them as the API does: author,
// assignee, project, number, state, labels, createdAt, updatedAt, closedAt and mergedAt. Empty and zero: unknown.
type Facts struct {
	Author    string
	Assignees []string
	Project   string
	Number    string
	State     string
	Labels    []string
	CreatedAt time.Time
	UpdatedAt time.Time
	ClosedAt  time.Time
	MergedAt  time.Time
}

// Attributes are what a filter decides by. Metadata takes precedence over a fact of the same name.
type Attributes struct {
	Metadata Metadata
	Facts    Facts
}

// facts returns the value of each fact, the zero Value if it is unknown.
var facts = map[string]func(*Facts) Value{
	"author":    func(f *Facts) Value { return knownText(f.Author) },
	"assignee":  func(f *Facts) Value { return knownList(f.Assignees) },
	"project":   func(f *Facts) Value { return knownText(f.Project) },
	"number":    func(f *Facts) Value { return knownText(f.Number) },
	"state":     func(f *Facts) Value { return knownText(f.State) },
	"labels":    func(f *Facts) Value { return knownList(f.Labels) },
	"createdAt": func(f *Facts) Value { return knownTime(f.CreatedAt) },
	"updatedAt": func(f *Facts) Value { return knownTime(f.UpdatedAt) },
	"closedAt":  func(f *Facts) Value { return knownTime(f.ClosedAt) },
	"mergedAt":  func(f *Facts) Value { return knownTime(f.MergedAt) },
}

func knownText(text string) Value {
	if text == "" {
		return Value{}
	}
	return Text(text)
}

func knownList(texts []string) Value {
	if len(texts) == 0 {
		return Value{}
	}
	return Value{texts}
}

func knownTime(t time.Time) Value {
	if t.IsZero() {
		return Value{}
	}
	return Time(t)
}

func isFact(name string) bool {
	_, ok := facts[name]
	return ok
}

// verdict is what a filter says of a document of which not everything is known.
type verdict int

const (
	no verdict = iota
	maybe
	yes
)

// Match reports whether f selects a document with these attributes. A name that the document does not have
// matches no condition but exists: false, and so it matches a not of one.
func (f *Filter) Match(a Attributes) bool {
	return f.decide(func(name string) (Value, bool) {
		if value, ok := a.Metadata[name]; ok {
			return value, true
		}
		if fact, ok := facts[name]; ok {
			return fact(&a.Facts), true
		}
		return Value{}, true
	}) == yes
}

// MayMatch reports whether f may select a document with this metadata and any facts. It is false only if Match is
// false whatever the facts are.
func (f *Filter) MayMatch(m Metadata) bool {
	return f.decide(func(name string) (Value, bool) {
		value, ok := m[name]
		return value, ok || !isFact(name)
	}) != no
}

// decide returns what f says, where value returns the value under a name, and whether it is known.
func (f *Filter) decide(value func(name string) (Value, bool)) verdict {
	if f == nil {
		return yes
	}
	all := yes
	for _, c := range f.conditions {
		if all = min(all, c.decide(value)); all == no {
			return no
		}
	}
	return all
}

func (c condition) decide(value func(name string) (Value, bool)) verdict {
	switch c.operator {
	case and:
		all := yes
		for i := range c.filters {
			all = min(all, c.filters[i].decide(value))
		}
		return all
	case or:
		best := no
		for i := range c.filters {
			best = max(best, c.filters[i].decide(value))
		}
		return best
	case not:
		return yes - c.filters[0].decide(value)
	}
	v, known := value(c.name)
	switch {
	case !known:
		return maybe
	case c.holds(v):
		return yes
	default:
		return no
	}
}

// holds reports whether the condition holds for a value; the zero Value means that there is none.
func (c condition) holds(v Value) bool {
	if c.operator == exists {
		return c.values[0].of == !v.IsZero()
	}
	if c.operator == equals || c.operator == in {
		return slices.ContainsFunc(c.values, v.contains)
	}
	order, ok := v.compare(c.values[0])
	if !ok {
		return false
	}
	switch c.operator {
	case greater:
		return order > 0
	case atLeast:
		return order >= 0
	case less:
		return order < 0
	default:
		return order <= 0
	}
}
