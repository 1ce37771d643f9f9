package protocol

import (
	"cmp"
	"strings"
)

// Order is the sort order of a list (RFC 7644 section 3.4.2.3). The zero Order is by id, the
// order of creation.
type Order struct {
	by         *selector
	leaf       *Attribute
	descending bool
}

// ParseOrder reads sortBy and sortOrder. It adds the attribute to what c reads. Its errors are
// invalidValue.
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
			return o, Bad(InvalidValue, "%s has sub-attributes; sort by one of them.", Shorten(by))
		}
	}
	return o, nil
}

// maxSortValue limits the part of a value that is sorted by, in bytes, because cursors contain
// it.
const maxSortValue = 512

// SortKey is the position of a resource in a list.
type SortKey struct {
	Value   string // compared byte by byte
	Missing bool
	ID      string
}

// Key returns the position of a resource.
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

// SortValue returns the part of a value that is sorted by.
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

// ByUserName reports whether user names and ids determine the order.
func (o Order) ByUserName() bool {
	return o.by == nil || o.by.Ext == "" && o.leaf != nil && o.leaf.Name == "userName"
}

// Compare orders two positions: missing values last when ascending, equal values by id.
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
