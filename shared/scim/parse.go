package scim

import (
	"slices"
	"strings"
)

// parser reads filters and paths by recursive descent.
type parser struct {
	tokens  []token // ends with the empty word
	depth   int
	inside  bool   // between brackets, where names are those of sub-attributes
	problem string // the first one
}

// parseFilter reads a filter; what it cannot read is invalidFilter.
func parseFilter(text string) (*filter, error) {
	tokens, problem := tokenize(text)
	if problem != "" {
		return nil, bad(invalidFilter, "The filter cannot be read: %s.", problem)
	}
	p := &parser{tokens: tokens}
	f := p.or()
	if p.problem == "" && !p.peek().is("") {
		p.fail("and, or or the end was expected at %q", p.peek())
	}
	if p.problem != "" {
		return nil, bad(invalidFilter, "The filter cannot be read: %s.", p.problem)
	}
	return f, nil
}

// parsePath reads the path of a PATCH operation or of sortBy; what it cannot
// read is invalidPath.
func parsePath(text string) (path, error) {
	tokens, problem := tokenize(text)
	if problem != "" {
		return path{}, bad(invalidPath, "The path cannot be read: %s.", problem)
	}
	p := &parser{tokens: tokens}
	result := p.path()
	if p.problem == "" && !p.peek().is("") {
		p.fail("the end was expected at %q", p.peek())
	}
	if p.problem != "" {
		return path{}, bad(invalidPath, "The path cannot be read: %s.", p.problem)
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

// fail notes a problem; %q in it stands for at.
func (p *parser) fail(problem string, at token) {
	if p.problem != "" {
		return
	}
	quoted := `"` + shown(at.text) + `"`
	if at.is("") {
		quoted = "the end"
	}
	p.problem = strings.Replace(problem, "%q", quoted, 1)
	p.tokens = p.tokens[len(p.tokens)-1:] // nothing more is read
}

func (p *parser) expect(structure string) {
	if t := p.next(); !t.is(structure) {
		p.fail(structure+" was expected at %q", t)
	}
}

// nest counts one level down, until the returned function is called.
func (p *parser) nest() (leave func()) {
	if p.depth++; p.depth > maxDepth {
		p.fail("it nests too deep", token{})
	}
	return func() { p.depth-- }
}

func (p *parser) or() *filter {
	f := p.and()
	for p.problem == "" && p.peek().isWord("or") {
		p.next()
		f = &filter{op: opOr, left: f, right: p.and()}
	}
	return f
}

func (p *parser) and() *filter {
	f := p.clause()
	for p.problem == "" && p.peek().isWord("and") {
		p.next()
		f = &filter{op: opAnd, left: f, right: p.clause()}
	}
	return f
}

func (p *parser) clause() *filter {
	if p.peek().is("(") {
		return p.group()
	}
	if p.peek().isWord("not") {
		p.next()
		if !p.peek().is("(") {
			p.fail("not needs parentheses before %q", p.peek())
		}
		return &filter{op: opNot, left: p.group()}
	}
	f := &filter{path: p.path()}
	t := p.peek()
	if f.path.in != nil && f.path.sub == "" && (t.structural() || t.isWord("and") || t.isWord("or")) {
		f.op = opHas
		return f
	}
	if f.path.attr == "" && !t.isWord("pr") {
		p.fail("a schema cannot be compared at %q", t)
	}
	if p.next(); t.structural() || t.quoted {
		p.fail("an operator was expected at %q", t)
		return f
	}
	if f.op = operator(strings.ToLower(t.text)); f.op == opPr {
		return f
	}
	if !slices.Contains(comparisons, f.op) {
		p.fail("there is no operator %q", t)
	}
	value := p.next()
	if value.structural() {
		p.fail("a value was expected at %q", value)
	}
	f.value = literal{value.text, value.quoted}
	return f
}

func (p *parser) group() *filter {
	defer p.nest()()
	p.expect("(")
	f := p.or()
	p.expect(")")
	return f
}

// path reads name, name[filter] or name[filter].sub.
func (p *parser) path() (out path) {
	t := p.next()
	if t.structural() || t.quoted {
		p.fail("an attribute was expected at %q", t)
		return out
	}
	var ok bool
	if out.urn, out.attr, out.sub, ok = splitName(t.text); !ok {
		p.fail("there is no attribute %q", t)
		return out
	}
	if !p.peek().is("[") || p.peek().spaced {
		return out
	}
	if p.inside || out.sub != "" || out.attr == "" {
		p.fail("a value path cannot stand at %q", p.peek())
		return out
	}
	defer p.nest()()
	p.next()
	p.inside = true
	out.in = p.or()
	p.inside = false
	p.expect("]")
	if t := p.peek(); !t.quoted && !t.spaced && strings.HasPrefix(t.text, ".") {
		p.next()
		if out.sub = t.text[1:]; !isAttributeName(out.sub) {
			p.fail("there is no sub-attribute %q", t)
		}
	}
	return out
}
