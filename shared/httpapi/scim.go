package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/scim"
	"docent/shared/usage"
)

// isSCIM tells whether a path is of the SCIM area, whose requests, replies and
// errors are those of RFC 7644.
func isSCIM(path string) bool {
	return path == scim.Prefix || strings.HasPrefix(path, scim.Prefix+"/")
}

// scimFace is what the SCIM area asks of the edge.
func (s Services) scimFace() scim.Handler {
	return scim.Handler{Service: s.SCIM, Classify: func(ctx context.Context, err error) (int, string, http.Header) {
		p := toProblem(ctx, err)
		return p.Status, p.Detail, p.headers
	}}
}

// scimRoutes adds the SCIM area, which routes its own paths.
func (s Services) scimRoutes(api huma.API, m *mux) {
	m.scim = func(w http.ResponseWriter, r *http.Request) { s.serveSCIM(m, w, r) }
	m.ServeMux.HandleFunc(scim.Prefix+"/", m.scim)
	describeSCIM(api.OpenAPI())
}

// serveSCIM answers a request of the SCIM area.
func (s Services) serveSCIM(operations *mux, w http.ResponseWriter, r *http.Request) {
	body := &lease{from: operations.bodies}
	defer body.end()
	route := scim.Route(r.URL)
	if route != "" {
		requestFrom(r.Context()).route = r.Method + " " + route
		usage.Settled(r.Context())
	}
	if r.Body != nil {
		r.Body = readCloser{leased{r.Body, body}, r.Body}
	}
	s.scimFace().ServeHTTP(w, r)
}

type readCloser struct {
	leased
	body interface{ Close() error }
}

// Close closes the body of the request.
func (r readCloser) Close() error { return r.body.Close() }

// writeSCIMError answers in the area's terms where the edge itself refuses.
func writeSCIMError(w http.ResponseWriter, r *http.Request, err error) {
	var e *scim.Error
	if !errors.As(err, &e) {
		p := toProblem(r.Context(), err)
		for name, values := range p.headers {
			w.Header()[name] = values
		}
		e = &scim.Error{Status: p.Status, Detail: p.Detail}
	}
	scim.WriteError(w, r, e)
}
