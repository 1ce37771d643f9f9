package llm

import (
	"html"
	"slices"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// asClients reads Markdown like clients that make links of bare addresses.
var asClients = goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()

// safe reports whether markdown, however a client renders it, fetches nothing and links
// only to passages. The renderer ensures this already; this checks it independently.
func safe(markdown string, passages []Passage) bool {
	source := []byte(markdown)
	ok := true
	_ = ast.Walk(asClients.Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.RawHTML, *ast.HTMLBlock, *ast.Image, *ast.AutoLink:
			ok = false
		case *ast.Link:
			ok = ok && slices.ContainsFunc(passages, func(p Passage) bool {
				to := string(n.Destination)
				return p.Link != "" && (to == p.Link || to == html.UnescapeString(p.Link))
			})
		}
		if !ok {
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	}) // the function above fails never
	return ok
}
