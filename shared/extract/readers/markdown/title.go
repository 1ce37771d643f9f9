package markdown

import "strings"

const maxTitle = 200 // characters

// Title returns text on one line, cut to the length of a title.
func Title(text string) string {
	if len(text) > 16*maxTitle {
		text = text[:16*maxTitle]
	}
	runes := []rune(strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), ""))
	if len(runes) > maxTitle {
		return strings.TrimSpace(string(runes[:maxTitle-1])) + "…"
	}
	return string(runes)
}
