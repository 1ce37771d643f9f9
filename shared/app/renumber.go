package app

import (
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"docent/shared/llm"
	"docent/shared/search"
)

// noLink is the link of documents that have none, so that renumbered finds all references.
const noLink = "#"

// linked returns passages that all have a link.
func linked(passages []llm.Passage) []llm.Passage {
	for i := range passages {
		if passages[i].Link == "" {
			passages[i].Link = noLink
		}
	}
	return passages
}

var tables = goldmark.New(goldmark.WithExtensions(extension.Table))

// renumbered returns Markdown that package llm made from the linked passages of found, with the
// numbers of documents in place of its own, which count in order of first use. used are the places
// in found of what it cites, in that order. References are its only links, so nothing else is taken
// for one, not even in code.
func renumbered(markdown string, found []search.Hit, used []int, numbers map[uuid.UUID]int) string {
	var b strings.Builder
	end := 0
	_ = ast.Walk(tables.Parser().Parse(text.NewReader([]byte(markdown))), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		link, ok := n.(*ast.Link)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		label, ok := link.FirstChild().(*ast.Text)
		if !ok {
			return ast.WalkContinue, nil
		}
		from, to := label.Segment.Start, label.Segment.Stop
		own, err := strconv.Atoi(markdown[from:to])
		if err != nil || own < 1 || own > len(used) {
			return ast.WalkContinue, nil
		}
		number := strconv.Itoa(numbers[found[used[own-1]].Document])
		if string(link.Destination) == noLink {
			from, to = from-len("["), to+len("]("+noLink+")")
		}
		b.WriteString(markdown[end:from] + number)
		end = to
		return ast.WalkContinue, nil
	})
	b.WriteString(markdown[end:])
	return b.String()
}
