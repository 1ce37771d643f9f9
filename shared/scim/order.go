package scim

import (
	"cmp"
	"strings"
)

// order is how a list is sorted (RFC 7644 section 3.4.2.3). The zero order is by
// id, which is the order of creation.
type order struct {
	by         *selector
	leaf       *attribute
	descending bool
}

// newOrder reads sortBy and sortOrder. c notes what more the attribute needs.
func newOrder(c *compiler, by, direction string) (order, error) {
	var o order
	switch {
	case direction == "" || strings.EqualFold(direction, "ascending"):
	case strings.EqualFold(direction, "descending"):
		o.descending = true
	default:
		return o, bad(invalidValue, "sortOrder must be ascending or descending.")
	}
	if by == "" {
		return order{}, nil
	}
	p, err := parsePath(by)
	if err != nil || p.in != nil || p.attr == "" {
		return o, bad(invalidValue, "sortBy must be the name of an attribute.")
	}
	s, err := c.selector(p)
	if err != nil {
		return o, bad(invalidValue, "There is no attribute %q to sort by.", shown(by))
	}
	o.by = &s
	if s.unknown {
		return o, nil
	}
	if o.leaf = s.attr; s.sub != nil {
		o.leaf = s.sub
	}
	if o.leaf.Kind == complexKind {
		if o.leaf = s.attr.sub("value"); o.leaf == nil {
			return o, bad(invalidValue, "%s is a group of attributes; sort by one of them.", shown(by))
		}
	}
	return o, nil
}

// maxSortValue bounds what of a value counts for the order, in bytes: it goes into
// cursors.
const maxSortValue = 512

// sortKey is a resource's place in a list.
type sortKey struct {
	value   string // comparable as bytes
	missing bool
	id      string
}

// key returns the place of a resource.
func (o order) key(resource map[string]any) sortKey {
	id, _ := resource["id"].(string)
	k := sortKey{id: id, missing: true}
	if o.by == nil || o.leaf == nil {
		return k
	}
	s := *o.by
	s.sub = nil
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
		k.value, k.missing = "0", false
		if v {
			k.value = "1"
		}
	case string:
		k.value, k.missing = cutValue(o.leaf.comparable(v)), v == ""
		if t, ok := parseTime(v); ok && o.leaf.Kind == dateTimeKind {
			k.value = t.UTC().Format("20060102150405.000000000")
		}
	}
	return k
}

// cutValue is the part of a value that counts for the order.
func cutValue(value string) string {
	if len(value) <= maxSortValue {
		return value
	}
	return strings.ToValidUTF8(value[:maxSortValue], "")
}

// byUserName reports whether the names of users alone say where they are in the order.
func (o order) byUserName() bool {
	return o.by == nil || o.by.ext == "" && o.leaf != nil && o.leaf.Name == "userName"
}

// compare orders two places: missing values last when ascending, ties by id.
func (o order) compare(a, b sortKey) int {
	result := 0
	switch {
	case a.missing != b.missing:
		result = 1
		if b.missing {
			result = -1
		}
	case !a.missing:
		result = strings.Compare(a.value, b.value)
	}
	if o.descending {
		result = -result
	}
	return cmp.Or(result, strings.Compare(a.id, b.id))
}
