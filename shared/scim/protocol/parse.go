package protocol

import (
	"slices"
	"strings"
)

// parser reads filters and paths by recursive descent.
type parser struct {
	tokens  []token // ends with the empty word
	depth   int
	inside  bool   // in brackets, where names are sub-attributes
	problem string // the first one found
}

// ParseFilter parses a filter. Its error is invalidFilter.
func ParseFilter(text string) (*Filter, error) {
	tokens, problem := tokenize(text)
	if problem != "" {
		return nil, Bad(InvalidFilter, "The filter cannot be read: %s.", problem)
	}
	p := &parser{tokens: tokens}
	f := p.or()
	if p.problem == "" && !p.peek().is("") {
		p.fail("expected and, or or the end at %q", p.peek())
	}
	if p.problem != "" {
		return nil, Bad(InvalidFilter, "The filter cannot be read: %s.", p.problem)
	}
	return f, nil
}

// ParsePath parses the path of a PATCH operation or of sortBy. Its error is invalidPath.
func ParsePath(text string) (Path, error) {
	tokens, problem := tokenize(text)
	if problem != "" {
		return Path{}, Bad(InvalidPath, "The path cannot be read: %s.", problem)
	}
	p := &parser{tokens: tokens}
	result := p.path()
	if p.problem == "" && !p.peek().is("") {
		p.fail("expected the end at %q", p.peek())
	}
	if p.problem != "" {
		return Path{}, Bad(InvalidPath, "The path cannot be read: %s.", p.problem)
	}
	return result, nil
}

func (p *parser) peek() token { return p.tokens[0] }

func (p *parser) next() token {
	t := p.tokens[0]
	if len(p.tokens) > 1 {
		p.tokens = p.tokens[1:]
	}
	return t
}

// fail records the first problem, with at in the place of %q, and stops the parser.
func (p *parser) fail(problem string, at token) {
	if p.problem != "" {
		return
	}
	quoted := `"` + Shorten(at.text) + `"`
	if at.is("") {
		quoted = "the end"
	}
	p.problem = strings.Replace(problem, "%q", quoted, 1)
	p.tokens = p.tokens[len(p.tokens)-1:] // stop reading
}

func (p *parser) expect(structure string) {
	if t := p.next(); !t.is(structure) {
		p.fail("expected "+structure+" at %q", t)
	}
}

// nest enters a level of nesting; the returned function leaves it.
func (p *parser) nest() (leave func()) {
	if p.depth++; p.depth > maxDepth {
		p.fail("it is nested too deeply", token{})
	}
	return func() { p.depth-- }
}

func (p *parser) or() *Filter {
	f := p.and()
	for p.problem == "" && p.peek().isWord("or") {
		p.next()
		f = &Filter{Op: OpOr, Left: f, Right: p.and()}
	}
	return f
}

func (p *parser) and() *Filter {
	f := p.clause()
	for p.problem == "" && p.peek().isWord("and") {
		p.next()
		f = &Filter{Op: OpAnd, Left: f, Right: p.clause()}
	}
	return f
}

func (p *parser) clause() *Filter {
	if p.peek().is("(") {
		return p.group()
	}
	if p.peek().isWord("not") {
		p.next()
		if !p.peek().is("(") {
			p.fail("not needs parentheses before %q", p.peek())
		}
		return &Filter{Op: OpNot, Left: p.group()}
	}
	f := &Filter{Path: p.path()}
	t := p.peek()
	if f.Path.In != nil && f.Path.Sub == "" && (t.structural() || t.isWord("and") || t.isWord("or")) {
		f.Op = OpHas
		return f
	}
	if f.Path.Attr == "" && !t.isWord("pr") {
		p.fail("a schema cannot be compared at %q", t)
	}
	if p.next(); t.structural() || t.quoted {
		p.fail("expected an operator at %q", t)
		return f
	}
	if f.Op = Operator(strings.ToLower(t.text)); f.Op == OpPr {
		return f
	}
	if !slices.Contains(comparisons, f.Op) {
		p.fail("there is no operator %q", t)
	}
	value := p.next()
	if value.structural() {
		p.fail("expected a value at %q", value)
	}
	f.Value = Literal{value.text, value.quoted}
	return f
}

func (p *parser) group() *Filter {
	defer p.nest()()
	p.expect("(")
	f := p.or()
	p.expect(")")
	return f
}

// path reads name, name[filter] or name[filter].sub.
func (p *parser) path() (out Path) {
	t := p.next()
	if t.structural() || t.quoted {
		p.fail("expected an attribute at %q", t)
		return out
	}
	var ok bool
	if out.URN, out.Attr, out.Sub, ok = SplitName(t.text); !ok {
		p.fail("there is no attribute %q", t)
		return out
	}
	if !p.peek().is("[") || p.peek().spaced {
		return out
	}
	if p.inside || out.Sub != "" || out.Attr == "" {
		p.fail("a value path is not allowed at %q", p.peek())
		return out
	}
	defer p.nest()()
	p.next()
	p.inside = true
	out.In = p.or()
	p.inside = false
	p.expect("]")
	if t := p.peek(); !t.quoted && !t.spaced && strings.HasPrefix(t.text, ".") {
		p.next()
		if out.Sub = t.text[1:]; !isAttributeName(out.Sub) {
			p.fail("there is no sub-attribute %q", t)
		}
	}
	return out
}
