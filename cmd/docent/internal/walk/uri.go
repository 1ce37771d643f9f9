package walk

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
)

// checkBase returns base in the form that a relative path is appended to. It adds a slash unless base ends in a slash,
// or in "=", which starts a query parameter for the path.
func checkBase(base string) (string, error) {
	if strings.ContainsAny(base, " \t\r\n") {
		return "", fmt.Errorf("the base URI %q contains a blank; percent-encode it", base)
	}
	u, err := url.Parse(base)
	if err != nil || !u.IsAbs() {
		return "", fmt.Errorf("the base URI %q is not absolute; an example is https://wiki.example/docs/", base)
	}
	switch strings.ToLower(u.Scheme) {
	case "javascript", "data", "vbscript":
		return "", fmt.Errorf("the base URI must not have the scheme %q", u.Scheme)
	}
	if !strings.HasSuffix(base, "/") && !strings.HasSuffix(base, "=") {
		base += "/"
	}
	return base, nil
}

// fileURI returns the URI of an absolute path (RFC 8089).
func fileURI(abs string) string {
	path := filepath.ToSlash(abs)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter
	}
	return "file://" + escape(path)
}

// escape percent-encodes a slash-separated path segment by segment.
func escape(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// relative undoes base + escape(path). It accepts only URIs that escape would make for a path below the folder.
func relative(base, uri string) (string, bool) {
	escaped, ok := strings.CutPrefix(uri, base)
	if !ok || base == "" {
		return "", false
	}
	path, err := url.PathUnescape(escaped)
	if err != nil || escape(path) != escaped || strings.ContainsRune(path, 0) {
		return "", false
	}
	return path, filepath.IsLocal(filepath.FromSlash(path))
}
