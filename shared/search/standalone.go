package search

import "strings"

// Link is what a Markdown link to the document may have as its target, "" when its
// uri is no http or https URL.
func (h Hit) Link() string { return linkTarget(h.URI) }

// Standalone is the passage for a reader who sees nothing else: title, heading path and
// text, each heading once, with the fence or the table's head that it begins within.
func (h Hit) Standalone() string {
	text := h.Passage
	first, rest, _ := strings.Cut(strings.TrimLeft(text, "\r\n"), "\n")
	if level, heading := atxHeading(first); level == 1 && plainHeading(heading) == plainHeading(h.Title) {
		text = strings.TrimLeft(rest, "\r\n")
	}
	if h.opening != "" {
		text = h.opening + "\n" + text
	}
	text = indexed(h.Heading, text)
	if h.Title != "" {
		text = h.Title + "\n" + text
	}
	return text
}
