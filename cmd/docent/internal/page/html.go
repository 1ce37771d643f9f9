package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	convert "docent/shared/markup"
)

// dropped are the elements whose text is not part of the page's content.
var dropped = []atom.Atom{
	atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Iframe, atom.Object, atom.Embed,
	atom.Svg, atom.Canvas, atom.Audio, atom.Video, atom.Nav, atom.Form, atom.Button, atom.Dialog,
}

// readHTML returns a page's title and its text as Markdown. The title is that of the title element, otherwise of the
// first h1, otherwise "". If the page marks one element as its main content, only that is kept. Scripts, navigation and
// forms are always removed.
func readHTML(s string) (title, body string, err error) {
	doc, err := html.Parse(strings.NewReader(s))
	if err != nil {
		return "", "", fmt.Errorf("read the HTML: %w", err)
	}
	title = choose(textOf(find(doc, isElement(atom.Title))), textOf(find(doc, isElement(atom.H1))))
	prune(doc)
	from := doc
	if main := find(doc, isMain); main != nil && clean(textOf(main)) != "" {
		from = main
	}
	// Each page gets its own converter: it costs little, and pages are converted in parallel.
	conv := converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin(), convert.Bounds{Padded: true},
	))
	out, err := conv.ConvertNode(from)
	if err != nil {
		return "", "", fmt.Errorf("convert the HTML: %w", err)
	}
	return title, strings.ToValidUTF8(string(out), "\uFFFD"), nil
}

func isElement(a atom.Atom) func(*html.Node) bool {
	return func(n *html.Node) bool { return n.Type == html.ElementNode && n.DataAtom == a && n.Namespace == "" }
}

func isMain(n *html.Node) bool {
	return isElement(atom.Main)(n) || (n.Type == html.ElementNode && attribute(n, "role") == "main")
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// Classes in manuals made by DocBook and Publican: of links to other pages, and of notes whose titles are headings.
var (
	navigation  = []string{"navheader", "navfooter", "docnav"}
	admonitions = []string{"note", "tip", "important", "warning", "caution"}
)

// hasClass reports whether n has one of the classes.
func hasClass(n *html.Node, classes ...string) bool {
	return slices.ContainsFunc(strings.Fields(attribute(n, "class")), func(class string) bool { return slices.Contains(classes, class) })
}

// find returns the first node, in document order, that is wanted, or nil.
func find(root *html.Node, wanted func(*html.Node) bool) *html.Node {
	for n := range root.Descendants() {
		if wanted(n) {
			return n
		}
	}
	return nil
}

func prune(root *html.Node) {
	var gone, contents []*html.Node
	for n := range root.Descendants() {
		switch {
		case n.Type == html.CommentNode:
			gone = append(gone, n)
		case n.Type == html.ElementNode && (slices.Contains(dropped, n.DataAtom) || attribute(n, "role") == "navigation" || hasClass(n, navigation...)):
			gone = append(gone, n)
		case hasClass(n, "toc"):
			contents = append(contents, n)
		case n.Parent != nil && hasClass(n, "title") && hasClass(n.Parent, admonitions...):
			n.Data, n.DataAtom = "p", atom.P // what follows it is not below it
		}
	}
	for _, n := range gone {
		n.Parent.RemoveChild(n)
	}
	for _, n := range contents {
		// The contents of a page or chapter are links to its parts. Of a book, they are all that the page has.
		if n.Parent != nil && len(textOf(root))-len(textOf(n)) >= minText {
			n.Parent.RemoveChild(n)
		}
	}
}

// minText is how many bytes of text a page has whose table of contents is left out.
const minText = 300

func textOf(n *html.Node) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}
