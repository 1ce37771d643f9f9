package scim

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"docent/shared/scim/protocol"
)

const (
	scimType  = "application/scim+json"
	jsonType  = "application/json"
	plainType = "text/plain"
)

// WriteError writes e in the form that the request accepts: the error object of RFC 7644
// section 3.12, or its detail as plain text. The caller sets further headers before.
func WriteError(w http.ResponseWriter, r *http.Request, e *protocol.Error) {
	if !wantsObject(r) {
		w.Header().Set("Content-Type", plainType+"; charset=utf-8")
		w.WriteHeader(e.Status)
		_, _ = w.Write([]byte(e.Detail + "\n"))
		return
	}
	body, err := protocol.Encode(e.Object())
	if err != nil {
		body = nil // texts always encode
	}
	w.Header().Set("Content-Type", successType(r))
	w.WriteHeader(e.Status)
	_, _ = w.Write(body)
}

// wantsObject reports whether an error is sent as an object: the type that Accept prefers, and
// an object if both are equal. If Accept allows neither, the type of the request's body
// decides.
func wantsObject(r *http.Request) bool {
	object := max(accepted(r, scimType), accepted(r, jsonType))
	plain := accepted(r, plainType)
	if object > 0 || plain > 0 {
		return object >= plain
	}
	return isJSON(r.Header.Get("Content-Type"))
}

// isJSON reports whether SCIM accepts a Content-Type.
func isJSON(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == scimType || media == jsonType)
}

// successType returns the type of a reply with a JSON body (RFC 7644 section 3.1).
func successType(r *http.Request) string {
	named := func(media string) bool {
		for _, header := range r.Header.Values("Accept") {
			if strings.Contains(strings.ToLower(header), media) {
				return true
			}
		}
		return false
	}
	if named(jsonType) && !named(scimType) {
		return jsonType
	}
	return scimType
}

// accepted returns the weight that Accept gives a type: the one of the most specific range that
// covers it, or 0 (RFC 9110 section 12.5.1).
func accepted(r *http.Request, media string) float64 {
	weight, most := 0.0, -1
	kind, _, _ := strings.Cut(media, "/")
	for _, header := range r.Header.Values("Accept") {
		for entry := range strings.SplitSeq(header, ",") {
			text, q := weightOf(entry)
			specific := -1
			switch text {
			case media:
				specific = 2
			case kind + "/*":
				specific = 1
			case "*/*":
				specific = 0
			}
			if specific > most {
				weight, most = q, specific
			}
		}
	}
	return weight
}

// weightOf splits a range of Accept into type and weight.
func weightOf(entry string) (media string, q float64) {
	media, parameters, _ := strings.Cut(entry, ";")
	q = 1
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
		if strings.EqualFold(name, "q") {
			if parsed, err := strconv.ParseFloat(value, 64); err == nil {
				q = min(max(parsed, 0), 1)
			}
		}
	}
	return strings.ToLower(strings.TrimSpace(media)), q
}
