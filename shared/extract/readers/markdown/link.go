package markdown

import "strings"

// maxAddress bounds an address, in bytes. A longer one is not looked at: many texts can have the same one.
const maxAddress = 2048

// Link returns text as a link to a web or mail address. Text that is empty or the address itself, and other addresses,
// leave the text as it is.
func Link(text, address string) string {
	if len(address) > maxAddress {
		return text
	}
	shown := strings.TrimSpace(text)
	lower := strings.ToLower(address)
	web := strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://") || strings.HasPrefix(lower, "mailto:")
	if shown == "" || !web || shown == address || "mailto:"+shown == address ||
		strings.ContainsAny(shown, "[]\n") || strings.ContainsAny(address, " \t\r\n<>()") {
		return text
	}
	return strings.Replace(text, shown, "["+shown+"]("+address+")", 1)
}
