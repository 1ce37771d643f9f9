// Package markup keeps the conversion of HTML to Markdown in proportion to the page. The library html-to-markdown fills up
// each row of a table to the widest one, repeats cells that span others, pads columns to their widest cell, copies
// quotations and lists for each level that they are in, and looks for the end of a link from each bracket. So a page of
// some hundred kilobytes could become gigabytes.
package markup

import (
	"bytes"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/marker"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"docent/shared/raised"
)

// Bounds of a page.
const (
	maxNested = 20  // quotations and lists within each other; deeper ones become paragraphs
	maxLabel  = 256 // bytes of a link's text in which its end is looked for
	maxAnchor = 8   // nodes within an anchor that shows nothing
)

// Bounds is a plugin of html-to-markdown. It changes the tree before it is converted, and loses no text: a
// table that would become too large becomes paragraphs, and so do quotations and lists that are nested too deeply.
// It drops anchors without text, and the marks that link to a heading or term itself, and keeps that text is struck through, and that
// digits stand above the line.
type Bounds struct {
	Padded bool // the plugin for tables pads the cells of a column to the same width, as it does by default
}

var _ converter.Plugin = Bounds{}

// Name returns the name of the plugin.
func (Bounds) Name() string { return "bounds" }

// Init registers what the plugin does.
func (b Bounds) Init(c *converter.Converter) error {
	c.Register.PreRenderer(joinTexts, converter.PriorityEarly-1) // before the converter's own
	c.Register.PreRenderer(func(_ converter.Context, doc *html.Node) {
		dropAnchors(doc)
		raise(doc)
		flattenDeep(doc, 0)
		b.boundTables(doc)
		markBars(doc, false, false)
	}, converter.PriorityEarly)
	c.Register.UnEscaper(escapesBracket, converter.PriorityEarly)
	c.Register.Renderer(renderCell, converter.PriorityEarly)
	c.Register.Renderer(renderStruck, converter.PriorityEarly)
	return nil
}

// renderCell writes a space after a cell that another one follows at once. The plugin for tables writes a table with several lines in a
// cell as paragraphs, and joined the words of cells.
func renderCell(ctx converter.Context, w converter.Writer, n *html.Node) converter.RenderStatus {
	if !isCell(n) {
		return converter.RenderTryNext
	}
	ctx.RenderChildNodes(ctx, w, n)
	if next := n.NextSibling; next != nil && isCell(next) {
		_, _ = w.WriteString(" ")
	}
	return converter.RenderSuccess
}

// markBars marks the bars in code within cells, as the converter marks those in other text: the plugin for tables escapes what is marked.
// Otherwise such a bar would end the cell.
func markBars(n *html.Node, inCell, inCode bool) {
	for c := range n.ChildNodes() {
		switch {
		case c.Type == html.TextNode && inCell && inCode:
			c.Data = strings.ReplaceAll(c.Data, "|", string(marker.MarkerEscaping)+"|")
		case c.Type == html.ElementNode:
			markBars(c, inCell || isCell(c), inCode || isCode(c))
		}
	}
}

func isCode(n *html.Node) bool {
	switch n.Data {
	case "code", "pre", "kbd", "samp", "tt", "var":
		return true
	}
	return false
}

// renderStruck writes text that is struck through with its marks, so that what no longer holds does not read as if it did. Marks hold
// on one line only, and none are within others.
func renderStruck(ctx converter.Context, w converter.Writer, n *html.Node) converter.RenderStatus {
	if !isStruck(n) {
		return converter.RenderTryNext
	}
	for p := n.Parent; p != nil; p = p.Parent {
		if isStruck(p) {
			return converter.RenderTryNext
		}
	}
	var b bytes.Buffer
	ctx.RenderChildNodes(ctx, &b, n)
	text := b.String()
	shown := strings.TrimSpace(text)
	if shown == "" || strings.Contains(shown, "\n") {
		_, _ = w.WriteString(text)
		return converter.RenderSuccess
	}
	before, after, _ := strings.Cut(text, shown)
	_, _ = w.WriteString(before + struck + shown + struck + after)
	return converter.RenderSuccess
}

const struck = "~~"

func isStruck(n *html.Node) bool {
	return n.Type == html.ElementNode && (n.Data == "del" || n.Data == "s" || n.Data == "strike")
}

// dropAnchors removes the anchors below n that show nothing, and those that generators of documentation add to headings and
// terms so that readers can copy their address.
func dropAnchors(n *html.Node) {
	var gone []*html.Node
	for a := range n.Descendants() {
		if a.DataAtom == atom.A && isAnchor(a) {
			gone = append(gone, a)
		}
	}
	for _, a := range gone {
		a.Parent.RemoveChild(a)
	}
}

// raise writes the numbers in the elements below n that stand above the line as characters that say so.
func raise(n *html.Node) {
	for above := range n.Descendants() {
		if above.DataAtom != atom.Sup {
			continue
		}
		for d := range above.Descendants() {
			if d.Type == html.TextNode {
				d.Data = raised.Text(d.Data)
			}
		}
	}
}

func isAnchor(a *html.Node) bool {
	text, n := "", 0
	for d := range a.Descendants() {
		switch {
		case d.Type == html.TextNode:
			text += strings.TrimSpace(d.Data)
		case d.Type == html.ElementNode && d.Data != "span" && d.Data != "i": // such as an image
			return false
		}
		if n++; n > maxAnchor || len(text) > len("¶") {
			return false
		}
	}
	switch text {
	case "", "¶":
		return true
	case "#", "§":
		switch a.Parent.Data {
		case "h1", "h2", "h3", "h4", "h5", "h6", "dt":
			return true
		}
	}
	return false
}

// flattenDeep makes paragraphs of the quotations and lists below n that are in more than maxNested others. n is in depth.
func flattenDeep(n *html.Node, depth int) {
	for c := range n.ChildNodes() {
		within := depth
		if nests := c.Data == "blockquote" || c.Data == "ul" || c.Data == "ol"; nests {
			within++
			if within > maxNested {
				rename(c, atom.Div)
			}
		} else if c.Data == "li" && within > maxNested {
			rename(c, atom.P)
		}
		flattenDeep(c, within)
	}
}

func rename(n *html.Node, to atom.Atom) { n.Data, n.DataAtom = to.String(), to }

// escapesBracket returns 1 for a bracket that must be escaped because it can begin a link, and -1 to leave it to the library,
// which looks for the closing bracket up to the end of the line, or of the text.
func escapesBracket(chars []byte, index int) int {
	if chars[index] != '[' {
		return -1
	}
	label := chars[index+1 : min(len(chars), index+1+maxLabel)]
	for _, c := range label {
		switch c {
		case ']':
			return 1
		case '\n':
			return -1
		}
	}
	if len(label) < maxLabel {
		return -1
	}
	return 1
}
