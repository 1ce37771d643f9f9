package llm

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// progress verifies a draft while it is written.
type progress struct {
	question string
	passages []Passage
	tell     func(Verified)
	seen     int    // bytes of the draft
	ended    int    // bytes of the draft that are in ended sentences and blocks
	told     string // Markdown
}

// partial verifies the ended part of a draft that begins with soFar, if that part has grown, and
// passes the result to tell if it continues the text that was passed before.
func (p *progress) partial(soFar Draft) {
	var whole strings.Builder
	for _, part := range soFar.Parts {
		whole.WriteString(part.Text)
	}
	draft := whole.String()
	seen := p.seen
	p.seen = len(draft)
	if !strings.ContainsAny(draft[min(seen, len(draft)):], ".!?\n]。！？ ") {
		return // nothing has ended
	}
	draft = cutText(draft, maxDraft)
	ended := endedPart(draft)
	if len(ended) <= p.ended || isNotFound(ended) {
		return
	}
	p.ended = len(ended)
	v := Verify(p.question, p.passages, soFar.first(len(ended)))
	v.Markdown = strings.TrimRight(v.Markdown, "\n")
	if len(v.Markdown) > len(p.told) && strings.HasPrefix(v.Markdown, p.told) {
		p.told = v.Markdown
		p.tell(v)
	}
}

// first returns the parts of the first n bytes of the text of d.
func (d Draft) first(n int) Draft {
	var parts []Part
	for _, p := range d.Parts {
		if n <= 0 {
			break
		}
		p.Text = p.Text[:min(n, len(p.Text))]
		n -= len(p.Text)
		parts = append(parts, p)
	}
	return Draft{Parts: parts}
}

// endedPart returns the start of a draft that does not depend on the text to come. It leaves out the last block if that
// is a numbered list, a table, code or a quotation, because these are kept or dropped as a whole. Otherwise it leaves
// out the last item of a list, or the last sentence, whose citations may follow.
func endedPart(draft string) string {
	if clean(draft) != draft {
		return "" // the verified text would be another one
	}
	source := []byte(draft)
	last := markdown.Parse(text.NewReader(source)).LastChild()
	if last == nil {
		return ""
	}
	if list, ok := last.(*ast.List); ok && !list.IsOrdered() {
		last = list.LastChild() // items are kept one by one
	}
	start := startOf(last, source)
	if start < 0 {
		return ""
	}
	if _, isParagraph := last.(*ast.Paragraph); !isParagraph {
		return draft[:start]
	}
	pieces := sentences(lineOf(last, source))
	if len(pieces) < 2 {
		return draft[:start]
	}
	open := pieces[len(pieces)-1].from
	return draft[:open[0]]
}

// startOf returns where the first line of n starts in source, or -1 if that is unknown.
func startOf(n ast.Node, source []byte) int {
	for ; n != nil; n = n.FirstChild() {
		if n.Type() == ast.TypeBlock && n.Lines().Len() > 0 {
			at := lineStart(source, n.Lines().At(0).Start)
			if _, isFenced := n.(*ast.FencedCodeBlock); isFenced && at > 0 {
				at = lineStart(source, at-1) // its lines begin after the fence
			}
			return at
		}
	}
	return -1
}

// lineStart returns where the line of source that at is in starts.
func lineStart(source []byte, at int) int {
	return strings.LastIndexByte(string(source[:at]), '\n') + 1
}
