package confluence

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"

	"docent/shared/markup"
)

// Bounds of a body. What exceeds them is left out.
const (
	maxBody  = 4 << 20 // bytes of the storage format
	maxDepth = 60      // nested elements
	maxNodes = 400_000
	maxText  = 4 << 20 // bytes of Markdown
)

// place says where a body is, which its links depend on.
type place struct {
	base  string                // URL of the site
	space string                // key
	page  string                // id
	name  func(u person) string // of a mentioned account, or ""
}

// person identifies a mentioned account: one of the three is set.
type person struct{ accountID, userKey, username string }

// markdown converts a body in the storage format, which is XHTML with elements of
// Confluence's own. A damaged body is converted as far as it can be read.
func markdown(body string, at place) string {
	if len(body) > maxBody {
		body = body[:maxBody]
	}
	root := &html.Node{Type: html.ElementNode, Data: "div"}
	for _, n := range at.rewriteAll(parse(body)) {
		root.AppendChild(n)
	}
	text, err := convert(root)
	if err != nil || len(text) > maxText {
		text = strings.ToValidUTF8(text[:min(len(text), maxText)], "")
	}
	return strings.TrimSpace(odd.Replace(text))
}

// odd replaces characters that are no text: the editor writes many spaces that do not
// break.
var odd = strings.NewReplacer("\u00a0", " ", "\u200b", "", "\x00", "", "\a", "")

// parse returns the tree of a body. The name of an element or attribute keeps its prefix,
// as in ac:link.
func parse(body string) *html.Node {
	root := &html.Node{Type: html.ElementNode, Data: "div"}
	d := xml.NewDecoder(strings.NewReader(strings.ToValidUTF8(body, "�")))
	d.Strict, d.Entity, d.AutoClose = false, xml.HTMLEntity, xml.HTMLAutoClose
	d.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errors.New("UTF-8 only") }
	at, depth, tooDeep, nodes := root, 0, 0, 0
	var text strings.Builder // of the parts that follow each other, such as those of CDATA
	end := func() {
		if text.Len() > 0 {
			at.AppendChild(&html.Node{Type: html.TextNode, Data: text.String()})
			text.Reset()
		}
	}
	for nodes < maxNodes {
		token, err := d.RawToken()
		if err != nil {
			break
		}
		nodes++
		switch t := token.(type) {
		case xml.StartElement:
			if depth == maxDepth {
				tooDeep++
				continue
			}
			n := &html.Node{Type: html.ElementNode, Data: strings.ToLower(nameOf(t.Name))}
			for _, a := range t.Attr {
				n.Attr = append(n.Attr, html.Attribute{Key: strings.ToLower(nameOf(a.Name)), Val: a.Value})
			}
			end()
			at.AppendChild(n)
			if isVoid(n.Data) {
				continue
			}
			at, depth = n, depth+1
		case xml.EndElement:
			name := strings.ToLower(nameOf(t.Name))
			switch {
			case isVoid(name):
			case tooDeep > 0:
				tooDeep--
			default:
				if parent, up := closed(root, at, depth, name); up != depth {
					end()
					at, depth = parent, up
				}
			}
		case xml.CharData:
			text.Write(t)
		}
	}
	end()
	return root
}

// closed returns the parent of the innermost open element called name, and its depth. If
// none is open, nothing is closed.
func closed(root, at *html.Node, depth int, name string) (*html.Node, int) {
	for n, d := at, depth; n != root; n, d = n.Parent, d-1 {
		if n.Data == name {
			return n.Parent, d - 1
		}
	}
	return at, depth
}

func isVoid(name string) bool {
	switch name {
	case "br", "hr", "img", "col", "input", "wbr":
		return true
	}
	return false
}

func nameOf(n xml.Name) string {
	if n.Space != "" {
		return n.Space + ":" + n.Local
	}
	return n.Local
}

// rawElement is rendered as the text in its attribute, without escapes.
const rawElement = "docent-raw"

func raw(text string) *html.Node {
	return &html.Node{Type: html.ElementNode, Data: rawElement, Attr: []html.Attribute{{Key: "text", Val: text}}}
}

// convert returns the Markdown of a tree.
func convert(root *html.Node) (text string, err error) {
	defer func() { // a hostile page may make the converter panic
		if p := recover(); p != nil {
			text, err = plain(root), errors.New("the page could not be converted")
		}
	}()
	c := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(commonmark.WithListEndComment(false)),
		table.NewTablePlugin(table.WithNewlineBehavior(table.NewlineBehaviorPreserve), table.WithHeaderPromotion(true),
			table.WithSpanCellBehavior(table.SpanBehaviorMirror), table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal)), markup.Bounds{}))
	c.Register.RendererFor(rawElement, converter.TagTypeInline, func(_ converter.Context, w converter.Writer, n *html.Node) converter.RenderStatus {
		_, _ = w.WriteString(attribute(n, "text"))
		return converter.RenderSuccess
	}, converter.PriorityEarly)
	out, err := c.ConvertNode(root)
	return string(out), err
}

// plain returns the text of a tree, with a line for each text in it.
func plain(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode && strings.TrimSpace(c.Data) != "" {
			b.WriteString(strings.TrimSpace(c.Data) + "\n")
		}
	}
	return b.String()
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
