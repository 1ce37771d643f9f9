package httpapi

import (
	"net/http"
	"net/url"

	"docent/shared/apierr"
)

// toolsOrigin returns the origin of the page that calls the tools and may, such as an inspector of the protocol on the reader's
// machine; empty: there is none.
func toolsOrigin(base string, r *http.Request) string {
	if r.URL.Path != mcpPath || checkOrigin(base, r) != nil {
		return ""
	}
	return r.Header.Get("Origin")
}

// allowToolsOrigin lets a page that may call the tools read the reply to r, and where to ask for access. It sends a key, no cookie.
func (s Services) allowToolsOrigin(h http.Header, r *http.Request) {
	if origin := toolsOrigin(s.BaseURL, r); origin != "" {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", "WWW-Authenticate, Retry-After")
		h.Add("Vary", "Origin")
	}
}

// checkOrigin refuses a request that a web page of another origin made, as the Streamable HTTP
// transport of the Model Context Protocol demands: such a page can reach a server on its reader's
// machine by a name that leads there (DNS rebinding). Requests of programs have no Origin, and those
// of a browser's extensions have a scheme that no web page has. A server on the reader's machine takes
// requests of pages from there on every port: inspectors of the protocol run there.
func checkOrigin(base string, r *http.Request) error {
	given := r.Header.Values("Origin")
	if len(given) == 0 {
		return nil
	}
	own, err := url.Parse(base)
	origin, wrong := url.Parse(given[0])
	switch {
	case err != nil || wrong != nil || len(given) > 1:
	case origin.Scheme != "http" && origin.Scheme != "https" && origin.Scheme != "":
		return nil
	case origin.Scheme == own.Scheme && origin.Host == own.Host:
		return nil
	case isLoopback(own.Hostname()) && isLoopback(origin.Hostname()):
		return nil
	}
	return apierr.New(apierr.Forbidden, apierr.CodeCrossOrigin, "Web pages of other origins may not call tools. Call them from a program.")
}
