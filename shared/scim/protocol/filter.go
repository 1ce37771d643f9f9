package protocol

import "strings"

// Operator is the operation of a filter node.
type Operator string

// The operators of filters.
const (
	OpAnd Operator = "and"
	OpOr  Operator = "or"
	OpNot Operator = "not"
	OpHas Operator = "has" // a value path without comparison: some element matches
	OpPr  Operator = "pr"
	OpEq  Operator = "eq"
	OpNe  Operator = "ne"
	OpCo  Operator = "co"
	OpSw  Operator = "sw"
	OpEw  Operator = "ew"
	OpGt  Operator = "gt"
	OpGe  Operator = "ge"
	OpLt  Operator = "lt"
	OpLe  Operator = "le"
)

// comparisons are the operators that require a value.
var comparisons = []Operator{OpEq, OpNe, OpCo, OpSw, OpEw, OpGt, OpGe, OpLt, OpLe}

// Filter is a node of a parsed filter (RFC 7644 section 3.4.2.2). Names are spelled as the
// client sent them.
type Filter struct {
	Op          Operator
	Left, Right *Filter // of and and or; not has only Left
	Path        Path    // of all other operators
	Value       Literal // of comparisons
}

// Path names an attribute, or elements of one, in a filter, a PATCH operation or sortBy.
type Path struct {
	URN  string // canonical; empty if the client gave none
	Attr string // empty for a URN alone
	In   *Filter
	Sub  string
}

// Literal is a value in a filter.
type Literal struct {
	Text   string // without quotes and escapes
	Quoted bool
}

// IsNull reports whether l is null, which means that no value is assigned.
func (l Literal) IsNull() bool { return !l.Quoted && strings.EqualFold(l.Text, "null") }

// comparisons returns how many values f compares, at least 1.
func (f *Filter) comparisons() int {
	switch {
	case f == nil || f.Left == nil:
		return 1
	case f.Right == nil:
		return f.Left.comparisons()
	default:
		return f.Left.comparisons() + f.Right.comparisons()
	}
}

// String returns f as text that parses to f again.
func (f *Filter) String() string {
	switch f.Op {
	case OpAnd:
		return f.Left.operand(OpAnd, false) + " and " + f.Right.operand(OpAnd, true)
	case OpOr:
		return f.Left.operand(OpOr, false) + " or " + f.Right.operand(OpOr, true)
	case OpNot:
		return "not (" + f.Left.String() + ")"
	case OpHas:
		return f.Path.String()
	case OpPr:
		return f.Path.String() + " pr"
	default:
		return f.Path.String() + " " + string(f.Op) + " " + f.Value.String()
	}
}

// operand returns f as an operand of parent, with parentheses if parsing would group
// differently without them.
func (f *Filter) operand(parent Operator, right bool) string {
	if f.Op == OpOr && parent == OpAnd || right && (f.Op == parent || f.Op == OpOr) {
		return "(" + f.String() + ")"
	}
	return f.String()
}

func (p Path) String() string {
	text := p.URN
	if p.URN != "" && p.Attr != "" {
		text += ":"
	}
	text += p.Attr
	if p.In != nil {
		text += "[" + p.In.String() + "]"
	}
	if p.Sub != "" {
		text += "." + p.Sub
	}
	return text
}

func (l Literal) String() string {
	if !l.Quoted {
		return l.Text
	}
	text, err := Encode(l.Text)
	if err != nil {
		return `""` // a string always encodes
	}
	return string(text)
}

// Conjuncts calls do with every clause that must be true for f to be true.
func (f *Filter) Conjuncts(do func(*Filter)) {
	for f.Op == OpAnd {
		f.Right.Conjuncts(do)
		f = f.Left
	}
	do(f)
}
