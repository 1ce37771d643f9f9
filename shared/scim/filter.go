package scim

import "strings"

// operator is what a node of a filter does.
type operator string

const (
	opAnd operator = "and"
	opOr  operator = "or"
	opNot operator = "not"
	opHas operator = "has" // a value path alone: some element matches
	opPr  operator = "pr"
	opEq  operator = "eq"
	opNe  operator = "ne"
	opCo  operator = "co"
	opSw  operator = "sw"
	opEw  operator = "ew"
	opGt  operator = "gt"
	opGe  operator = "ge"
	opLt  operator = "lt"
	opLe  operator = "le"
)

// comparisons are the operators that take a value.
var comparisons = []operator{opEq, opNe, opCo, opSw, opEw, opGt, opGe, opLt, opLe}

// filter is a parsed filter (RFC 7644 section 3.4.2.2), its names as written.
type filter struct {
	op          operator
	left, right *filter // and, or; not has only left
	path        path    // of all others
	value       literal // of comparisons
}

// path names an attribute, or elements of one: in filters, in PATCH, in sortBy.
type path struct {
	urn  string // canonical, empty when none is written
	attr string // empty for a URN alone
	in   *filter
	sub  string
}

// literal is a value as written in a filter.
type literal struct {
	text   string // without quotes and escapes
	quoted bool
}

// isNull tells whether l stands for no value.
func (l literal) isNull() bool { return !l.quoted && strings.EqualFold(l.text, "null") }

// String writes f so that parsing gives f again.
func (f *filter) String() string {
	switch f.op {
	case opAnd:
		return f.left.operand(opAnd, false) + " and " + f.right.operand(opAnd, true)
	case opOr:
		return f.left.operand(opOr, false) + " or " + f.right.operand(opOr, true)
	case opNot:
		return "not (" + f.left.String() + ")"
	case opHas:
		return f.path.String()
	case opPr:
		return f.path.String() + " pr"
	default:
		return f.path.String() + " " + string(f.op) + " " + f.value.String()
	}
}

// operand writes f as a side of parent, in parentheses where parsing would
// otherwise group differently.
func (f *filter) operand(parent operator, right bool) string {
	if f.op == opOr && parent == opAnd || right && (f.op == parent || f.op == opOr) {
		return "(" + f.String() + ")"
	}
	return f.String()
}

func (p path) String() string {
	text := p.urn
	if p.urn != "" && p.attr != "" {
		text += ":"
	}
	text += p.attr
	if p.in != nil {
		text += "[" + p.in.String() + "]"
	}
	if p.sub != "" {
		text += "." + p.sub
	}
	return text
}

func (l literal) String() string {
	if !l.quoted {
		return l.text
	}
	text, err := encode(l.text)
	if err != nil {
		return `""` // a string always encodes
	}
	return string(text)
}

// conjuncts calls do with every clause that must hold for f to hold.
func (f *filter) conjuncts(do func(*filter)) {
	for f.op == opAnd {
		f.right.conjuncts(do)
		f = f.left
	}
	do(f)
}
