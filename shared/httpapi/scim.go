package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/memory"
	"docent/shared/scim"
	"docent/shared/scim/protocol"
	"docent/shared/team"
	"docent/shared/usage"
)

// isSCIM reports whether a path is in the SCIM area, which follows RFC 7644.
func isSCIM(path string) bool {
	return path == scim.Prefix || strings.HasPrefix(path, scim.Prefix+"/")
}

// scimFace returns the SCIM handler with the functions of the edge that it needs.
func (s Services) scimFace() scim.Handler {
	return scim.Handler{Service: s.SCIM, Classify: func(ctx context.Context, err error) (int, string, http.Header) {
		p := toProblem(ctx, err)
		return p.Status, p.Detail, p.headers
	}, Failed: func(ctx context.Context, scimType string) { requestFrom(ctx).code = scimType },
		OperationFailed: func(ctx context.Context, e *protocol.Error) {
			if r := requestFrom(ctx); r.operation == nil && isWrong(e.Status) {
				r.operation = e
			}
		}}
}

// scimRoutes adds the SCIM area, which routes its own paths.
func (s Services) scimRoutes(api huma.API, m *mux) {
	m.scim = func(w http.ResponseWriter, r *http.Request) { s.serveSCIM(w, r) }
	m.ServeMux.HandleFunc(scim.Prefix+"/", m.scim)
	describeSCIM(api.OpenAPI())
}

// serveSCIM answers a request of the SCIM area once there is room for it. The area reads
// the body itself.
func (s Services) serveSCIM(w http.ResponseWriter, r *http.Request) {
	if route := scim.Route(r.URL); route != "" {
		requestFrom(r.Context()).route = r.Method + " " + route
		usage.OutcomeKnown(r.Context())
	}
	account := requestFrom(r.Context()).account
	in := newIntake(w, r, account)
	defer in.end()
	work := account.work()
	defer work.End()
	begin := func(ctx context.Context) error {
		if err := work.Begin(ctx); err != nil {
			return err
		}
		now, err := withCallerNow(ctx)
		if p, _ := team.PrincipalFrom(now); err == nil {
			err = team.RequireSCIM(p)
		}
		return err
	}
	face := s.scimFace()
	if hasBody(r.Method) {
		face.ReadBody = func(ctx context.Context, limit int64) ([]byte, error) {
			body, err := in.whole(ctx, limit)
			if err != nil {
				in.discard()
				return nil, err
			}
			return body, begin(ctx)
		}
	} else if err := begin(r.Context()); err != nil {
		writeSCIMError(w, r, err)
		return
	}
	face.ServeHTTP(w, r.WithContext(memory.WithReads(memory.WithWork(r.Context(), work), treeCost)))
}

// writeSCIMError writes an error of the edge in SCIM's form.
func writeSCIMError(w http.ResponseWriter, r *http.Request, err error) {
	var e *protocol.Error
	if !errors.As(err, &e) {
		p := toProblem(r.Context(), err)
		for name, values := range p.headers {
			w.Header()[name] = values
		}
		e = &protocol.Error{Status: p.Status, Detail: p.Detail}
	}
	scim.WriteError(w, r, e)
}
