package search

// Link is what a Markdown link to the document may have as its target, "" when its
// uri is no http or https URL.
func (h Hit) Link() string { return linkTarget(h.URI) }

// Given is the passage for a reader who sees nothing else: title, heading path and
// text, with the fence or the table's head that it begins within.
func (h Hit) Given() string {
	text := h.Passage
	if h.opening != "" {
		text = h.opening + "\n" + text
	}
	for _, line := range []string{h.Heading, h.Title} {
		if line != "" {
			text = line + "\n" + text
		}
	}
	return text
}
