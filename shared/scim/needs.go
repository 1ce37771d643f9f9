package scim

import (
	"strings"

	"docent/shared/scim/protocol"
)

// memberNeeds says which members of a group a change or a filter reads, or which groups of a user a
// filter reads: all, or those with the ids.
type memberNeeds struct {
	all   bool
	any   bool // one of them, if there are some
	ids   []string
	names []string // of groups that a filter of users reads, whose ids are not looked up yet
}

// needsOf returns the members that the operations of a PATCH read. A change costs in proportion
// to them, not to the size of the group.
func needsOf(operations []protocol.Operation) memberNeeds {
	var n memberNeeds
	for _, o := range operations {
		if at, ok := protocol.GroupType.Locate(o.Path.URN, o.Path.Attr, o.Path.Sub); ok && at.Attr != nil && at.Attr.Name == "members" {
			n.operation(o.Op, at, o.Path.In, o.Value)
		}
	}
	return n
}

func (n *memberNeeds) operation(op string, at protocol.AttributeRef, in *protocol.Filter, value any) {
	switch {
	case in != nil:
		n.inside(in)
		n.values(value)
	case at.Sub != nil || op == "replace" || value == nil:
		n.all = true
	default:
		n.values(value)
	}
}

// values adds the ids in a value.
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
			n.all = true // not selected by id
			return
		}
		n.ids = append(n.ids, id)
	}
}

func idOf(object map[string]any) (string, bool) {
	id, ok := protocol.MessageMember(object, "value").(string)
	return id, ok
}

// inside adds the ids that a filter inside members[…] compares with, or all members if it
// compares anything else.
func (n *memberNeeds) inside(f *protocol.Filter) {
	switch {
	case f.Op == protocol.OpAnd || f.Op == protocol.OpOr:
		n.inside(f.Left)
		n.inside(f.Right)
	case f.Op == protocol.OpEq && strings.EqualFold(f.Path.Attr, "value") && !f.Value.IsNull():
		n.ids = append(n.ids, f.Value.Text)
	default:
		n.all = true
	}
}

// filter adds the elements that a filter reads of a list: of the members of groups, or the groups of users.
func (n *memberNeeds) filter(f *protocol.Filter, list string) {
	switch f.Op {
	case protocol.OpAnd, protocol.OpOr:
		n.filter(f.Left, list)
		n.filter(f.Right, list)
		return
	case protocol.OpNot:
		n.filter(f.Left, list)
		return
	}
	if !strings.EqualFold(f.Path.Attr, list) {
		return
	}
	value := f.Path.Sub == "" || strings.EqualFold(f.Path.Sub, "value")
	switch {
	case f.Path.In == nil && value && list == "members" && (f.Op == protocol.OpPr || (f.Op == protocol.OpEq || f.Op == protocol.OpNe) && f.Value.IsNull()):
		n.any = true
	case f.Path.In == nil && f.Op == protocol.OpEq && value && !f.Value.IsNull():
		n.ids = append(n.ids, f.Value.Text)
	case f.Path.In == nil && f.Op == protocol.OpEq && strings.EqualFold(list+"."+f.Path.Sub, groupNames) && !f.Value.IsNull():
		n.names = append(n.names, f.Value.Text)
	case f.Path.In != nil && f.Op == protocol.OpHas:
		n.inside(f.Path.In)
	default:
		n.all = true
	}
}
