package search

import (
	"strings"

	"docent/shared/search/text"
)

// Link returns the target of a Markdown link to the passage, or "" if its address is not
// an http or https URL.
func (h Hit) Link() string { return LinkTarget(h.Address()) }

// Standalone returns the passage for a reader who sees nothing else: title, heading path and
// text, each heading once. A passage that begins within code or a table gets the fence or the
// table's head.
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
