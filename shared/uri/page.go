package uri

import (
	"strconv"
	"strings"
)

// pageFragment begins the fragment that opens a PDF at a page (RFC 8118, section 3).
const pageFragment = "#page="

// AtPage returns the address of a page of the file at text, from 1. It returns text if there is no page, or if
// text has a fragment already.
func AtPage(text string, page int) string {
	if page < 1 || strings.Contains(text, "#") {
		return text
	}
	return text + pageFragment + strconv.Itoa(page)
}

// WithoutPage returns what AtPage was given.
func WithoutPage(text string) string {
	address, page, ok := strings.Cut(text, pageFragment)
	if n, err := strconv.Atoi(page); !ok || err != nil || n < 1 {
		return text
	}
	return address
}
