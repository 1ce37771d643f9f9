package filter

import (
	"maps"
	"slices"
	"strconv"

	"docent/shared/apierr"
)

// Parse reads a filter from JSON:
//
//	{"product": "api", "version": {"gte": 2}, "labels": {"in": ["draft", "new"]}, "not": {"team": "x"}, "or": [{...}, {...}]}
//
// null and {} are no filter: nil. Its errors are *apierr.Error, whose pointers start at the filter; see Under.
// What is not an operator is refused, and null where a value belongs: leaving either out would select more than
// the caller meant.
func Parse(text []byte) (*Filter, error) {
	if string(text) == "null" {
		return nil, nil //nolint:nilnil // no filter
	}
	// Below a filter at the greatest depth are the operators of a name, and the list of in. Lists of filters nest too.
	members, err := decodeObject(text, 2*MaxDepth+2)
	if err != nil {
		return nil, err
	}
	if len(members) == 0 {
		return nil, nil //nolint:nilnil // no filter
	}
	p := parser{left: MaxConditions}
	f, err := p.filter("", members, 1)
	if err != nil {
		return nil, err
	}
	return &f, nil
}

// parser counts the conditions of one filter.
type parser struct{ left int }

// filter returns the filter of the members at pointer.
func (p *parser) filter(pointer string, members map[string]any, depth int) (Filter, error) {
	var f Filter
	if depth > MaxDepth {
		return f, apierr.BadField(pointer, "must not be nested more than %d levels deep", MaxDepth)
	}
	if len(members) == 0 {
		return f, apierr.BadField(pointer, "must have a condition")
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		conditions, err := p.member(pointer, name, members[name], depth)
		if err != nil {
			return f, err
		}
		f.conditions = append(f.conditions, conditions...)
	}
	return f, nil
}

// member returns the conditions of one member of a filter.
func (p *parser) member(pointer, name string, value any, depth int) ([]condition, error) {
	at := pointerTo(pointer, name)
	switch operator(name) {
	case and, or:
		list, ok := value.([]any)
		if !ok || len(list) == 0 {
			return nil, apierr.BadField(at, "must be a list of filters")
		}
		c := condition{operator: operator(name)}
		for i, one := range list {
			f, err := p.inner(at+"/"+strconv.Itoa(i), one, depth+1)
			if err != nil {
				return nil, err
			}
			c.filters = append(c.filters, f)
		}
		return []condition{c}, nil
	case not:
		f, err := p.inner(at, value, depth+1)
		return []condition{{operator: not, filters: []Filter{f}}}, err
	}
	if err := checkName(pointer, name); err != nil {
		return nil, err
	}
	operators, ok := value.(map[string]any)
	if !ok {
		c, err := p.condition(at, name, equals, value)
		return []condition{c}, err
	}
	if len(operators) == 0 {
		return nil, apierr.BadField(at, "must be a value or have an operator")
	}
	var conditions []condition
	for _, op := range slices.Sorted(maps.Keys(operators)) {
		if !slices.Contains(comparing, operator(op)) {
			return nil, apierr.BadField(at, "must have no member but in, gt, gte, lt, lte and exists")
		}
		c, err := p.condition(at+"/"+op, name, operator(op), operators[op])
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, c)
	}
	return conditions, nil
}

// comparing are the operators that a name may have.
var comparing = []operator{in, greater, atLeast, less, atMost, exists}

// inner returns a filter in a combination.
func (p *parser) inner(pointer string, value any, depth int) (Filter, error) {
	members, ok := value.(map[string]any)
	if !ok {
		return Filter{}, apierr.BadField(pointer, "must be a filter, which is an object")
	}
	return p.filter(pointer, members, depth)
}

// condition returns one condition on a name.
func (p *parser) condition(pointer, name string, op operator, operand any) (condition, error) {
	c := condition{name: name, operator: op}
	if p.left--; p.left < 0 {
		return c, apierr.BadField("", "must have at most %d conditions", MaxConditions)
	}
	if op == in {
		list, ok := operand.([]any)
		if !ok || len(list) == 0 || len(list) > MaxList {
			return c, apierr.BadField(pointer, "must be a list of 1 to %d values", MaxList)
		}
		for _, one := range list {
			value, err := single(pointer, one)
			if err != nil {
				return c, err
			}
			c.values = append(c.values, value)
		}
		return c, nil
	}
	value, err := single(pointer, operand)
	if err != nil {
		return c, err
	}
	c.values = []Value{value}
	switch op {
	case exists:
		if _, ok := value.of.(bool); !ok {
			return c, apierr.BadField(pointer, "must be true or false")
		}
	case greater, atLeast, less, atMost:
		if _, comparable := value.compare(value); !comparable {
			return c, apierr.BadField(pointer, "must be a number, or a date or time as in RFC 3339")
		}
	}
	return c, nil
}

// single returns decoded JSON as a value that is not a list.
func single(pointer string, decoded any) (Value, error) {
	value, err := valueOf(decoded)
	if _, isList := value.of.([]string); err != nil || isList || value.IsZero() {
		return value, apierr.BadField(pointer, "must be a string, a number or a boolean")
	}
	if err := value.check(); err != nil {
		return value, apierr.BadField(pointer, "%s", err)
	}
	return value, nil
}
