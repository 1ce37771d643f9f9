package httpapi

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// isSignOn reports whether the operation at pattern is for browsers that sign in.
func isSignOn(pattern string) bool {
	_, path, _ := strings.Cut(pattern, " ")
	return (path == signOnPrefix || strings.HasPrefix(path, signOnPrefix+"/"))
}

// describeSignOn adds the operations of browsers to the document, which huma does not serve.
func describeSignOn(api huma.API) {
	doc := api.OpenAPI()
	text := &huma.Schema{Type: huma.TypeString}
	for _, o := range []struct {
		pattern, id, summary string
		query                []string
	}{
		{signOnFirst, "beginOnlySingleSignOn", "Sign in at the identity provider of the only team", nil},
		{signOnBegin, "beginSingleSignOn", "Sign in at the team's identity provider", []string{"test"}},
		{signOnMetadata, "getServiceMetadata", "Get the SAML metadata of this service for the team's identity provider", nil},
		{signOnACS, "assertSingleSignOn", "Take the response of the team's SAML identity provider", nil},
		{signOnCallback, "answerSingleSignOn", "Take the answer of the team's OpenID Connect provider", []string{"code", "state", "error", "iss"}},
		{signOnFinish, "finishSingleSignOn", "Open the session in the browser that began the sign-in", []string{"ticket"}},
	} {
		method, path, _ := strings.Cut(o.pattern, " ")
		op := &huma.Operation{OperationID: o.id, Method: method, Path: path, Summary: o.summary, Tags: []string{"Sessions"},
			Security: []map[string][]string{{}}, Responses: map[string]*huma.Response{
				"303": {Description: "To the provider, or to the dashboard, which explains failures",
					Headers: map[string]*huma.Param{"Location": {Schema: text}}}}}
		if strings.Contains(path, "{teamId}") {
			op.Parameters = append(op.Parameters, &huma.Param{Name: "teamId", In: "path", Required: true, Schema: text})
		}
		for _, name := range o.query {
			op.Parameters = append(op.Parameters, &huma.Param{Name: name, In: "query", Schema: text})
		}
		switch o.pattern {
		case signOnBegin:
			op.Responses["200"] = &huma.Response{Description: "A page that posts to a provider without the binding by redirect",
				Content: map[string]*huma.MediaType{"text/html": {Schema: text}}}
		case signOnMetadata:
			op.Responses = map[string]*huma.Response{"200": {Description: "OK", Content: map[string]*huma.MediaType{samlType: {Schema: text}}}}
			problem := doc.Paths["/sessions/{sessionId}"].Delete.Responses["404"]
			op.Responses["404"] = &huma.Response{Description: http.StatusText(http.StatusNotFound), Content: problem.Content}
		case signOnACS:
			form := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{"SAMLResponse": text, "RelayState": text}}
			op.RequestBody = &huma.RequestBody{Content: map[string]*huma.MediaType{"application/x-www-form-urlencoded": {Schema: form}}}
		}
		doc.AddOperation(op)
	}
}
