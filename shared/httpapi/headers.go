package httpapi

import (
	"net/http"
	"strings"

	"docent/shared/apierr"
)

// joinLists makes one line of each header that is a list and may come in several (RFC 9110 section 5.3), because readers of a
// header take the first line.
func joinLists(h http.Header) {
	for _, name := range []string{"Accept", "If-Match", "If-None-Match", "Prefer"} {
		if lines := h.Values(name); len(lines) > 1 {
			h.Set(name, strings.Join(lines, ", "))
		}
	}
}

// checkHeaders returns an error if a header that has one value is sent twice: of several keys the first would count.
func checkHeaders(h http.Header) error {
	for _, name := range []string{"Authorization", "Content-Type"} {
		if len(h.Values(name)) > 1 {
			return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The header %s must be sent once.", name)
		}
	}
	return nil
}
