// Package dashboard serves the files of the web dashboard: a static program that calls the
// public API from the browser. `make dashboard` bundles src into dist, which is committed, so
// that building Docent requires Go only.
package dashboard

import (
	"bytes"
	"compress/gzip"
	"embed"
	"mime"
	"net/http"
	"path"
	"strings"
)

//go:embed dist
var dist embed.FS

// Policy is the Content-Security-Policy of every page. The style and the scripts are files of
// the dashboard, it connects to its own API only, and text cannot become markup or script.
// policyWith also lets it send files to another origin.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: https:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types read-html-file"

// policyWith returns Policy with one more origin to connect to; empty: none.
func policyWith(origin string) string {
	if origin == "" {
		return Policy
	}
	return strings.Replace(Policy, "connect-src 'self'", "connect-src 'self' "+origin, 1)
}

// page is a file as it is sent.
type page struct {
	media, cache string
	text, packed []byte // packed: compressed by gzip; nil: not smaller, or never sent
}

// Pages returns the handler of the files by their paths, "/" for the start page. If compress is
// true, it compresses for browsers that accept it. Large files are sent to the origin uploads, such as
// "https://bucket.s3.eu-central-1.amazonaws.com"; empty: to the API.
func Pages(compress bool, uploads string) http.Handler {
	policy := policyWith(uploads)
	pages, err := load(compress)
	if err != nil {
		panic(err) // the files are part of the program
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		if name == "" {
			name = "index.html"
		}
		protect(w.Header(), policy)
		p, ok := pages[name]
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "This path supports only GET and HEAD.", http.StatusMethodNotAllowed)
		case !ok:
			http.Error(w, "The dashboard has no such file.", http.StatusNotFound)
		default:
			p.send(w, r)
		}
	})
}

// protect sets the headers of every reply, also of errors.
func protect(h http.Header, policy string) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()")
	h.Set("Cache-Control", "no-store")
}

func (p page) send(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", p.media)
	w.Header().Set("Cache-Control", p.cache)
	text := p.text
	if p.packed != nil {
		w.Header().Set("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			text = p.packed
		}
	}
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodGet {
		_, _ = w.Write(text) // the browser may be gone
	}
}

// load reads the files.
func load(compress bool) (map[string]page, error) {
	entries, err := dist.ReadDir("dist")
	if err != nil {
		return nil, err
	}
	pages := map[string]page{}
	for _, e := range entries {
		text, err := dist.ReadFile(path.Join("dist", e.Name()))
		if err != nil {
			return nil, err
		}
		// Every file but these has a hash of its content in its name.
		p := page{media: mediaOf(e.Name()), cache: "public, max-age=31536000, immutable", text: text}
		switch e.Name() {
		case "index.html":
			p.cache = "no-store" // else the way back shows the page as it was, also after its person has signed out
		case "reference.json":
			p.cache = "no-cache"
		}
		if compress {
			p.packed = pack(text)
		}
		pages[e.Name()] = p
	}
	return pages, nil
}

func mediaOf(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".html":
		return "text/html; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".json":
		return "application/json"
	default:
		return mime.TypeByExtension(path.Ext(name))
	}
}

// pack returns text compressed by gzip, or nil if that is not smaller.
func pack(text []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is a constant
	}
	_, _ = w.Write(text) // a buffer takes everything
	_ = w.Close()
	if out.Len() >= len(text) {
		return nil
	}
	return out.Bytes()
}
