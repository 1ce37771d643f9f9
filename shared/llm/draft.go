package llm

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// claim is a sentence or a cell of a draft.
type claim struct {
	line  line // without citations
	cites []int
	lead  bool // only introduces the next block: not a statement of its own
}

type kind uint8

const (
	paragraph kind = iota
	heading
	list
	item
	grid
	row
	codeBlock
	quoteBlock
)

// node is a block of a draft.
type node struct {
	kind     kind
	claims   []claim // of a paragraph or heading: its sentences; of a row: its cells; of code: one
	children []*node // of a list, an item, a table or a block quote
	ordered  bool
	start    int  // number of the first item
	level    int  // of a heading
	next     bool // what followed in the draft is there
	info     string
}

// maxDepth is how deep blocks may nest.
const maxDepth = 6

// markdown reads drafts: CommonMark with tables, but without definitions of links, so
// that [1] is always a citation.
var markdown = func() parser.Parser {
	p := parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...), parser.WithInlineParsers(parser.DefaultInlineParsers()...))
	p.AddOptions(
		parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)))
	return p
}()

// read checks the blocks of d and returns those that remain, in whole or in part.
func (v *verifier) read(d Draft) []*node {
	var b strings.Builder
	for _, p := range d.Parts {
		v.starts = append(v.starts, b.Len())
		b.WriteString(clean(p.Text))
	}
	source := cutText(b.String(), maxDraft)
	if d.Cut || len(source) < b.Len() {
		source = wholeSentences(source)
	}
	return v.blocks(markdown.Parse(text.NewReader([]byte(source))), []byte(source), 0)
}

// wholeSentences returns s without the sentence in which it was cut off.
func wholeSentences(s string) string {
	return s[:strings.LastIndexAny(s, ".!?\n]。！？")+1]
}

// blocks checks the children of parent.
func (v *verifier) blocks(parent ast.Node, source []byte, depth int) []*node {
	var out []*node
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		var before []int // what the block before cites, for code
		if len(out) > 0 && out[len(out)-1].next {
			before = out[len(out)-1].cites()
		}
		made := v.block(n, source, before, depth)
		if made == nil {
			if len(out) > 0 {
				out[len(out)-1].next = false
			}
			continue
		}
		made.next = n.NextSibling() != nil
		out = append(out, made)
	}
	return v.withLeads(out)
}

func (v *verifier) block(n ast.Node, source []byte, before []int, depth int) *node {
	if depth == maxDepth {
		v.claims++
		return nil
	}
	switch n := n.(type) {
	case *ast.Paragraph, *ast.TextBlock:
		return v.paragraph(lineOf(n, source))
	case *ast.Heading:
		l, _ := withoutMarks(lineOf(n, source))
		if l.text == "" || len(l.text) > maxLead {
			return nil
		}
		return &node{kind: heading, level: n.Level, claims: []claim{{line: l, lead: true}}}
	case *ast.List:
		return v.list(n, source, depth)
	case *ast.Blockquote:
		return v.quoteBlock(n, source, depth)
	case *ast.FencedCodeBlock:
		return v.code(n.Lines(), source, string(n.Language(source)), before)
	case *ast.CodeBlock:
		return v.code(n.Lines(), source, "", before)
	case *east.Table:
		return v.table(n, source)
	case *ast.ThematicBreak:
		return nil
	default: // HTML, and what is not known
		v.claims++
		return nil
	}
}

// maxLead is the longest line, in bytes, that may state nothing of its own.
const maxLead = 160

func (v *verifier) paragraph(l line) *node {
	p := &node{kind: paragraph}
	pieces := sentences(l)
	for i, s := range pieces {
		c, ok := v.claim(s, nil)
		if last := i == len(pieces)-1; last && strings.HasSuffix(c.line.text, ":") && len(c.cites) == 0 && len(c.line.text) <= maxLead {
			c.lead = true
			p.claims = append(p.claims, c)
			continue
		}
		v.claims++
		if ok {
			p.claims = append(p.claims, c)
		}
	}
	if len(p.claims) == 0 {
		return nil
	}
	return p
}

func (v *verifier) list(n *ast.List, source []byte, depth int) *node {
	l := &node{kind: list, ordered: n.IsOrdered(), start: n.Start}
	claims := v.claims
	for i := n.FirstChild(); i != nil; i = i.NextSibling() {
		if blocks := v.blocks(i, source, depth+1); len(blocks) > 0 {
			l.children = append(l.children, &node{kind: item, children: blocks})
		}
	}
	if len(l.children) == 0 || l.ordered && l.stated() < v.claims-claims {
		return nil
	}
	return l
}

// quoteBlock reads a quotation. Each of its sentences must be in a passage.
func (v *verifier) quoteBlock(n ast.Node, source []byte, depth int) *node {
	q := &node{kind: quoteBlock, children: v.blocks(n, source, depth+1)}
	for _, b := range q.children {
		if b.kind != paragraph || slices.ContainsFunc(b.claims, func(c claim) bool { return c.lead || !v.supported(c, []string{c.line.text}) }) {
			return nil
		}
	}
	if len(q.children) == 0 {
		return nil
	}
	return q
}

func (v *verifier) code(lines *text.Segments, source []byte, info string, before []int) *node {
	v.claims++
	var l line
	for _, s := range lines.Sliced(0, lines.Len()) {
		l.add(string(s.Value(source)), code, s.Start)
	}
	c := claim{line: l, cites: before}
	for _, i := range v.partsOf(l) {
		c.cites = append(slices.Clone(c.cites), v.parts[i].Cites...)
		if !v.quoted(v.parts[i]) {
			return nil
		}
	}
	if c.cites = unique(c.cites); len(c.cites) == 0 || !v.supported(c, nil) {
		return nil
	}
	if !isWord(info) {
		info = ""
	}
	return &node{kind: codeBlock, claims: []claim{c}, info: info}
}

func isWord(s string) bool {
	return len(s) <= 20 && !strings.ContainsFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '+' && r != '-' })
}

// table keeps rows whole. The citations of a row apply to each of its cells.
func (v *verifier) table(n ast.Node, source []byte) *node {
	g := &node{kind: grid}
	var head *node
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		made := &node{kind: row}
		var cites []int
		var cells []line
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			l := lineOf(c, source)
			_, found := withoutMarks(l)
			cites = append(cites, found...)
			for _, i := range v.partsOf(l) {
				cites = append(cites, v.parts[i].Cites...)
			}
			cells = append(cells, l)
		}
		cites = unique(cites)
		if _, isHead := r.(*east.TableHeader); isHead {
			for _, l := range cells {
				l, _ = withoutMarks(l)
				made.claims = append(made.claims, claim{line: l, lead: true})
			}
			head = made
			continue
		}
		v.claims++
		whole := len(cites) > 0
		for _, l := range cells {
			c, ok := v.claim(l, cites)
			whole = whole && (ok || c.line.text == "" && len(c.cites) > 0)
			c.cites = cites
			whole = whole && !slices.ContainsFunc(cites, func(n int) bool { return n < 1 || n > len(v.passages) })
			made.claims = append(made.claims, c)
		}
		if whole {
			g.children = append(g.children, made)
		}
	}
	if head == nil || len(g.children) == 0 || !v.leads(head, g.cites()) {
		return nil
	}
	g.children = slices.Insert(g.children, 0, head)
	return g
}
