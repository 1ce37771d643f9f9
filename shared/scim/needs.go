package scim

import (
	"strings"
)

// memberNeeds says which members of a group must be read for a change or a
// filter: all, or those with the ids.
type memberNeeds struct {
	all bool
	ids []string
}

// needsOf returns which members the operations of a PATCH look at. The work of
// a change is in proportion to it, not to the group.
func needsOf(operations []operation) memberNeeds {
	var n memberNeeds
	for _, o := range operations {
		if at, ok := groupType.locate(o.path.urn, o.path.attr, o.path.sub); ok && at.attr != nil && at.attr.Name == "members" {
			n.operation(o.op, at, o.path.in, o.value)
		}
	}
	return n
}

func (n *memberNeeds) operation(op string, at attributeRef, in *filter, value any) {
	switch {
	case in != nil:
		n.inside(in)
		n.values(value)
	case at.sub != nil || op == "replace" || value == nil:
		n.all = true
	default:
		n.values(value)
	}
}

// values adds the ids that a value names.
func (n *memberNeeds) values(value any) {
	switch v := value.(type) {
	case string:
		n.ids = append(n.ids, v)
	case []any:
		for _, e := range v {
			n.values(e)
		}
	case map[string]any:
		id, ok := idOf(v)
		if !ok {
			n.all = true // chosen by something else
			return
		}
		n.ids = append(n.ids, id)
	}
}

func idOf(object map[string]any) (string, bool) {
	id, ok := messageMember(object, "value").(string)
	return id, ok
}

// inside adds the ids that a filter inside members[…] compares with, or all when
// it looks at more than ids.
func (n *memberNeeds) inside(f *filter) {
	switch {
	case f.op == opAnd || f.op == opOr:
		n.inside(f.left)
		n.inside(f.right)
	case f.op == opEq && strings.EqualFold(f.path.attr, "value") && !f.value.isNull():
		n.ids = append(n.ids, f.value.text)
	default:
		n.all = true
	}
}

// filter adds what a filter of groups looks at.
func (n *memberNeeds) filter(f *filter) {
	switch f.op {
	case opAnd, opOr:
		n.filter(f.left)
		n.filter(f.right)
		return
	case opNot:
		n.filter(f.left)
		return
	}
	if !strings.EqualFold(f.path.attr, "members") {
		return
	}
	value := f.path.sub == "" || strings.EqualFold(f.path.sub, "value")
	switch {
	case f.path.in == nil && f.op == opEq && value && !f.value.isNull():
		n.ids = append(n.ids, f.value.text)
	case f.path.in != nil && f.op == opHas:
		n.inside(f.path.in)
	default:
		n.all = true
	}
}
