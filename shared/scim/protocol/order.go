package protocol

import (
	"cmp"
	"strings"
)

// Order is how a list is sorted (RFC 7644 section 3.4.2.3). The zero order is by
// id, which is the order of creation.
type Order struct {
	by         *selector
	leaf       *Attribute
	descending bool
}

// ParseOrder reads sortBy and sortOrder. c notes what more the attribute needs.
func ParseOrder(c *Compiler, by, direction string) (Order, error) {
	var o Order
	switch {
	case direction == "" || strings.EqualFold(direction, "ascending"):
	case strings.EqualFold(direction, "descending"):
		o.descending = true
	default:
		return o, Bad(InvalidValue, "sortOrder must be ascending or descending.")
	}
	if by == "" {
		return Order{}, nil
	}
	p, err := ParsePath(by)
	if err != nil || p.In != nil || p.Attr == "" {
		return o, Bad(InvalidValue, "sortBy must be the name of an attribute.")
	}
	s, err := c.selector(p)
	if err != nil {
		return o, Bad(InvalidValue, "There is no attribute %q to sort by.", Shorten(by))
	}
	o.by = &s
	if s.unknown {
		return o, nil
	}
	if o.leaf = s.Attr; s.Sub != nil {
		o.leaf = s.Sub
	}
	if o.leaf.Kind == complexKind {
		if o.leaf = s.Attr.sub("value"); o.leaf == nil {
			return o, Bad(InvalidValue, "%s is a group of attributes; sort by one of them.", Shorten(by))
		}
	}
	return o, nil
}

// maxSortValue bounds what of a value counts for the order, in bytes: it goes into
// cursors.
const maxSortValue = 512

// SortKey is a resource's place in a list.
type SortKey struct {
	Value   string // comparable as bytes
	Missing bool
	ID      string
}

// Key returns the place of a resource.
func (o Order) Key(resource map[string]any) SortKey {
	id, _ := resource["id"].(string)
	k := SortKey{ID: id, Missing: true}
	if o.by == nil || o.leaf == nil {
		return k
	}
	s := *o.by
	s.Sub = nil
	values := s.values(resource)
	if len(values) == 0 {
		return k
	}
	value := values[0]
	for _, v := range values {
		if object, ok := v.(map[string]any); ok && object["primary"] == true {
			value = v
			break
		}
	}
	if object, ok := value.(map[string]any); ok {
		value = object[o.leaf.Name]
	}
	switch v := value.(type) {
	case bool:
		k.Value, k.Missing = "0", false
		if v {
			k.Value = "1"
		}
	case string:
		k.Value, k.Missing = SortValue(o.leaf.comparable(v)), v == ""
		if t, ok := parseTime(v); ok && o.leaf.Kind == dateTimeKind {
			k.Value = t.UTC().Format("20060102150405.000000000")
		}
	}
	return k
}

// SortValue is the part of a value that counts for the order.
func SortValue(value string) string {
	if len(value) <= maxSortValue {
		return value
	}
	return strings.ToValidUTF8(value[:maxSortValue], "")
}

// ByID reports whether the list is in the order of ids.
func (o Order) ByID() bool { return o.by == nil }

// By reports whether the list is sorted by the attribute of the core schema with that name.
func (o Order) By(name string) bool {
	return o.by != nil && !o.by.unknown && o.by.Ext == "" && o.by.Attr.Name == name
}

// ByUserName reports whether the names of users alone say where they are in the order.
func (o Order) ByUserName() bool {
	return o.by == nil || o.by.Ext == "" && o.leaf != nil && o.leaf.Name == "userName"
}

// Compare orders two places: missing values last when ascending, ties by id.
func (o Order) Compare(a, b SortKey) int {
	result := 0
	switch {
	case a.Missing != b.Missing:
		result = 1
		if b.Missing {
			result = -1
		}
	case !a.Missing:
		result = strings.Compare(a.Value, b.Value)
	}
	if o.descending {
		result = -result
	}
	return cmp.Or(result, strings.Compare(a.ID, b.ID))
}
