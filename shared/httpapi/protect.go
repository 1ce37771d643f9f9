package httpapi

import "net/http"

// Protect sets what every reply carries, errors and empty ones included: nothing keeps a
// copy of it, and no browser takes it for another type than it says. A client may still
// ask by If-None-Match whether what it holds is current.
func Protect(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
}
