package httpapi

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"docent/shared/answer"
	"docent/shared/search"
	"docent/shared/uri"
)

// referenceList returns the list of references at the end of a text of before characters, and where each of
// them is. Without references there is no list.
func referenceList(references []answer.Reference, before int) (list string, citations []urlCitation) {
	if len(references) == 0 {
		return "", nil
	}
	var b strings.Builder
	add := func(text string) {
		b.WriteString(text)
		before += utf8.RuneCountInString(text)
	}
	add("\n\nReferences:\n")
	for i, r := range references {
		link := uri.Link(r.HTMLURL)
		title := search.OneLine(r.Title)
		add(fmt.Sprintf("\n%d. ", i+1))
		start := before
		if target := search.LinkTarget(r.HTMLURL); target != "" {
			add(fmt.Sprintf("[%s](%s)", plainMarkdown(cmp.Or(title, link)), target))
		} else {
			add(strings.TrimSpace(plainMarkdown(title) + " `" + link + "`"))
		}
		citations = append(citations, urlCitation{start, before, link, title})
	}
	return b.String(), citations
}

// plainMarkdown returns text with the signs of Markdown escaped.
func plainMarkdown(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_[]<>&|~$!", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
