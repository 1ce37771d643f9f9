package search

import (
	"docent/shared/search/text"
	"strings"
)

// Link is what a Markdown link to the document may have as its target, "" when its
// uri is no http or https URL.
func (h Hit) Link() string { return linkTarget(h.URI) }

// Standalone is the passage for a reader who sees nothing else: title, heading path and
// text, each heading once, with the fence or the table's head that it begins within.
func (h Hit) Standalone() string {
	passage := h.Passage
	first, rest, _ := strings.Cut(strings.TrimLeft(passage, "\r\n"), "\n")
	if level, heading := text.ATXHeading(first); level == 1 && text.PlainHeading(heading) == text.PlainHeading(h.Title) {
		passage = strings.TrimLeft(rest, "\r\n")
	}
	if h.opening != "" {
		passage = h.opening + "\n" + passage
	}
	passage = text.Indexed(h.Heading, passage)
	if h.Title != "" {
		passage = h.Title + "\n" + passage
	}
	return passage
}
