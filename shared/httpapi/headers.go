package httpapi

import (
	"iter"
	"mime"
	"net/http"
	"strconv"
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

// checkHeaders returns an error if a header that has one value is sent twice: of several keys the first would count. It also
// returns one if a header is empty that protects a change: a program that lost the value would believe that it is protected.
func checkHeaders(method string, h http.Header) error {
	for _, name := range []string{"Authorization", "Content-Type", "Idempotency-Key"} {
		if len(h.Values(name)) > 1 {
			return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The header %s must be sent once.", name)
		}
	}
	if method == http.MethodGet || method == http.MethodHead {
		return nil
	}
	for name, value := range map[string]string{"If-Match": "the ETag that you read", "Idempotency-Key": "a key of your choice"} {
		if len(h.Values(name)) > 0 && strings.TrimSpace(h.Get(name)) == "" {
			return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The header %s is empty. Send %s, or leave the header out.", name, value)
		}
	}
	return nil
}

// listed yields the members of a header that is a list. A comma in a quoted string separates nothing (RFC 9110 section 5.6).
func listed(field string) iter.Seq[string] {
	quoted, escaped := false, false
	return strings.FieldsFuncSeq(field, func(r rune) bool {
		inside := quoted
		if !escaped && r == '"' {
			quoted = !quoted
		}
		escaped = inside && !escaped && r == '\\'
		return !inside && r == ','
	})
}

// names reports whether accept, the header Accept, names a media type itself, with a weight above 0 (RFC 9110 section 12.5.1).
func names(accept, media string) bool { return weight(accept, media) > 0 }

// weight returns the weight that accept, the header Accept, gives to a media type that it names itself, else 0. A weight that is no number
// counts as 1.
func weight(accept, media string) float64 {
	for entry := range listed(accept) {
		given, params, _ := mime.ParseMediaType(entry) // of one with a bad parameter, it returns the type
		if given == media {
			w, err := strconv.ParseFloat(params["q"], 64)
			if err != nil {
				return 1
			}
			return w
		}
	}
	return 0
}
