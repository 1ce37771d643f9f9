package markup

import (
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"golang.org/x/net/html"
)

// joinTexts removes what the converter shows nothing of below n, and joins the texts that then follow each other. The converter would do the
// same, but copy a text again for each of its parts.
func joinTexts(ctx converter.Context, n *html.Node) {
	var first *html.Node // of the texts that follow each other
	var text strings.Builder
	end := func() {
		if text.Len() > 0 {
			first.Data = text.String()
			text.Reset()
		}
		first = nil
	}
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		switch {
		case isRemoved(ctx, c):
			n.RemoveChild(c)
		case c.Type != html.TextNode:
			end()
			joinTexts(ctx, c)
		case first == nil:
			first = c
		default:
			if text.Len() == 0 {
				text.WriteString(first.Data)
			}
			text.WriteString(c.Data)
			n.RemoveChild(c)
		}
		c = next
	}
	end()
}

func isRemoved(ctx converter.Context, n *html.Node) bool {
	name := n.Data
	switch n.Type {
	case html.CommentNode:
		name = "#comment"
	case html.ElementNode:
	default:
		return false
	}
	kind, _ := ctx.GetTagType(name)
	return kind == converter.TagTypeRemove
}
