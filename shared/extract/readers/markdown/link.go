package markdown

import "strings"

// Link returns text as a link to a web or mail address. Text that is empty or the address itself, and other addresses,
// leave the text as it is.
func Link(text, address string) string {
	shown := strings.TrimSpace(text)
	lower := strings.ToLower(address)
	web := strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://") || strings.HasPrefix(lower, "mailto:")
	if shown == "" || !web || shown == address || "mailto:"+shown == address || len(address) > 2048 ||
		strings.ContainsAny(shown, "[]\n") || strings.ContainsAny(address, " \t\r\n<>()") {
		return text
	}
	return strings.Replace(text, shown, "["+shown+"]("+address+")", 1)
}
