package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/apierr"
	"docent/shared/jsoninput"
)

// withReadableQuery returns r with a query that every reader reads in the same way, or an error if it cannot be read.
// url.URL.Query drops a parameter with a wrong percent-encoding or a semicolon, and so a filter; a semicolon is a
// character like others (RFC 3986 section 3.4). A name without "=" has an empty value; huma would read "true".
func withReadableQuery(r *http.Request) (*http.Request, error) {
	query := withValues(strings.ReplaceAll(r.URL.RawQuery, ";", "%3B"))
	if _, err := url.ParseQuery(query); err != nil {
		return r, apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The query of the address is not well-formed: percent-encode the values of its parameters.")
	}
	if query != r.URL.RawQuery {
		readable := *r.URL
		readable.RawQuery = query
		r = r.WithContext(r.Context())
		r.URL = &readable
	}
	return r, nil
}

// withValues returns the query with a "=" after every name that has none.
func withValues(query string) string {
	parameters := strings.Split(query, "&")
	for i, p := range parameters {
		if p != "" && !strings.Contains(p, "=") {
			parameters[i] += "="
		}
	}
	return strings.Join(parameters, "&")
}

// readParameters returns a middleware that prepares the query for huma: integers in every form that
// jsoninput accepts, and lists without their empty values. Huma itself drops a whole list, and so
// a filter, if its first value is empty. A parameter that is not a list is refused if it has several values: readers differ
// in which one they take, and one of them would filter by something else.
func readParameters(api huma.API) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		if repeated := repeatedParameters(ctx); len(repeated) > 0 {
			_ = huma.WriteErr(api, ctx, http.StatusBadRequest, "", repeated...) // the client may be gone
			return
		}
		next(queryContext{ctx})
	}
}

// repeatedParameters returns an error for each parameter of the query that has different values and takes one.
func repeatedParameters(ctx huma.Context) (faults []error) {
	u := ctx.URL()
	if !strings.Contains(u.RawQuery, "&") {
		return nil
	}
	query := u.Query()
	for _, p := range ctx.Operation().Parameters {
		if p.In == "query" && p.Schema.Type != huma.TypeArray && isRepeated(query, p.Name) {
			faults = append(faults, &huma.ErrorDetail{Location: "query." + p.Name, Message: oneValue})
		}
	}
	return faults
}

const oneValue = "must have one value"

// isRepeated reports whether the parameter has different values.
func isRepeated(query url.Values, name string) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(query[name])))) > 1
}

// firstRepeated returns the first of the names that has different values, empty if none has.
func firstRepeated(query url.Values, names []string) string {
	if i := slices.IndexFunc(names, func(name string) bool { return isRepeated(query, name) }); i >= 0 {
		return names[i]
	}
	return ""
}

type humaContext = huma.Context // so that the field name differs from its method's

type queryContext struct{ humaContext }

// is reports whether a parameter of the query is of the type.
func (c queryContext) is(name, kind string) bool {
	return slices.ContainsFunc(c.Operation().Parameters, func(p *huma.Param) bool {
		return p.In == "query" && p.Name == name && p.Schema.Type == kind
	})
}

// Query returns a parameter of the query; for a list, its first value that is not empty.
func (c queryContext) Query(name string) string {
	text := c.humaContext.Query(name)
	switch {
	case text == "" && c.is(name, huma.TypeArray):
		u := c.URL()
		return u.Query().Get(name)
	case text != "" && c.is(name, huma.TypeInteger):
		if n, err := jsoninput.ParseInt(text); err == nil {
			return strconv.FormatInt(n, 10)
		}
	}
	return text
}

// URL returns the URL of the request without the empty values of lists.
func (c queryContext) URL() url.URL {
	u := c.humaContext.URL()
	query := u.Query()
	for name, values := range query {
		if slices.Contains(values, "") && c.is(name, huma.TypeArray) {
			query[name] = slices.DeleteFunc(values, func(v string) bool { return v == "" })
			u.RawQuery = query.Encode()
		}
	}
	return u
}
