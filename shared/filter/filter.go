package filter

import "slices"

// Bounds of a filter, besides MaxBytes.
const (
	MaxConditions = 20
	MaxDepth      = 4 // the filter, and the filters in and, or and not
)

// Filter selects documents. All its conditions must hold. A nil Filter selects every document. Parse makes one;
// it is not changed afterwards and safe for concurrent use.
type Filter struct {
	conditions []condition // in order of their names, so that equal filters have equal texts
}

// operator says how a condition decides.
type operator string

// The operators. The last three combine filters.
const (
	equals  operator = "="
	in      operator = "in"
	greater operator = "gt"
	atLeast operator = "gte"
	less    operator = "lt"
	atMost  operator = "lte"
	exists  operator = "exists"
	and     operator = "and"
	or      operator = "or"
	not     operator = "not"
)

// condition is a condition on one name, or a combination of filters.
type condition struct {
	name     string // empty: a combination
	operator operator
	values   []Value  // what the operator compares with; only in has several
	filters  []Filter // of a combination; not has one
}

// String returns f as JSON, in a form that Parse reads. Filters that differ only in the order of their members
// have the same text. The text of a nil Filter is empty.
func (f *Filter) String() string {
	if f == nil {
		return ""
	}
	return encode(f.tree())
}

// tree returns f as the decoded JSON of its text.
func (f *Filter) tree() map[string]any {
	members := map[string]any{}
	for _, c := range f.conditions {
		switch c.operator {
		case equals:
			members[c.name] = c.values[0]
		case and, or:
			filters := make([]any, len(c.filters))
			for i := range c.filters {
				filters[i] = c.filters[i].tree()
			}
			members[string(c.operator)] = filters
		case not:
			members[string(not)] = c.filters[0].tree()
		default:
			operators, ok := members[c.name].(map[string]any)
			if !ok {
				operators = map[string]any{}
				members[c.name] = operators
			}
			if c.operator == in {
				operators[string(in)] = c.values
			} else {
				operators[string(c.operator)] = c.values[0]
			}
		}
	}
	return members
}

// MarshalJSON returns the text of f.
func (f *Filter) MarshalJSON() ([]byte, error) {
	if f == nil {
		return []byte("null"), nil
	}
	return []byte(f.String()), nil
}

// UnmarshalJSON is Parse for filters inside other JSON.
func (f *Filter) UnmarshalJSON(text []byte) error {
	parsed, err := Parse(text)
	if err != nil {
		return err
	}
	if parsed == nil {
		parsed = &Filter{}
	}
	*f = *parsed
	return nil
}

// OrNil returns f, or nil if it has no conditions.
func (f *Filter) OrNil() *Filter {
	if f == nil || len(f.conditions) == 0 {
		return nil
	}
	return f
}

// WithoutFacts returns the conditions of f that name no fact, nil if there are none. It selects at least what f
// selects.
func (f *Filter) WithoutFacts() *Filter {
	if f == nil {
		return nil
	}
	kept := &Filter{}
	for _, c := range f.conditions {
		if one := (&Filter{[]condition{c}}); !one.NamesFact() {
			kept.conditions = append(kept.conditions, c)
		}
	}
	return kept.OrNil()
}

// NamesFact reports whether f has a condition on a fact, about which MayMatch cannot decide. The metadata of a
// document may have the same name.
func (f *Filter) NamesFact() bool {
	return f != nil && slices.ContainsFunc(f.conditions, func(c condition) bool {
		return isFact(c.name) || slices.ContainsFunc(c.filters, func(inner Filter) bool { return inner.NamesFact() })
	})
}
