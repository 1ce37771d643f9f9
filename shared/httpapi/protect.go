package httpapi

import "net/http"

// Protect sets the headers that every reply has, also errors and empty ones: caches must
// not store it, and browsers must not guess its type. A client may still use
// If-None-Match.
func Protect(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
}
