package httpapi

import (
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/apierr"
	"docent/shared/memory"
	"docent/shared/team"
)

const (
	samlPattern = "PUT /team/saml-metadata"
	samlType    = "application/samlmetadata+xml"
)

// xmlTypes are the media types of SAML metadata.
var xmlTypes = []string{samlType, "application/xml", "text/xml"}

// SamlMetadata describes the identity provider, from its own metadata.
type SamlMetadata struct {
	EntityID        string            `json:"entityId"`
	SingleSignOnURL string            `json:"singleSignOnUrl"`
	Certificates    []SamlCertificate `json:"certificates"`
	MetadataURL     string            `json:"metadataUrl,omitempty" doc:"Where the metadata was read; left out if it was sent."`
	UpdatedAt       string            `json:"updatedAt" format:"date-time"`
}

// SamlCertificate is a signing certificate of the provider.
type SamlCertificate struct {
	Subject  string `json:"subject"`
	SHA256   string `json:"sha256" doc:"Of its DER form, in hexadecimal."`
	NotAfter string `json:"notAfter" format:"date-time"`
}

func samlOf(m team.SAMLMetadata) SamlMetadata {
	body := SamlMetadata{EntityID: m.EntityID, SingleSignOnURL: m.SingleSignOnURL, MetadataURL: m.MetadataURL, UpdatedAt: formatTime(m.UpdatedAt)}
	for _, c := range m.Certificates {
		body.Certificates = append(body.Certificates, SamlCertificate{c.Subject, c.SHA256, formatTime(c.NotAfter)})
	}
	return body
}

// samlOutput is the metadata in one of two types.
type samlOutput struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

func (h *administration) getSAML(ctx context.Context, in *struct {
	Accept string `header:"Accept"`
}) (*samlOutput, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	var text []byte
	media := "application/json"
	if names(in.Accept, samlType) {
		media = samlType
		text, err = h.Teams.SAMLText(ctx, p.TeamID)
	} else {
		var m team.SAMLMetadata
		if m, err = h.Teams.SAML(ctx, p.TeamID); err == nil {
			text, err = json.Marshal(samlOf(m))
		}
	}
	if err != nil {
		return nil, err
	}
	return &samlOutput{media, text}, nil
}

// setSAML takes XML, so it reads its body itself.
func (h *administration) setSAML(w http.ResponseWriter, r *http.Request) {
	m, err := h.storeSAML(w, r)
	if err != nil {
		writeError(w, r, err)
		return
	}
	text, err := json.Marshal(samlOf(m))
	if err != nil {
		writeError(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // the client may be gone
}

func (h *administration) storeSAML(w http.ResponseWriter, r *http.Request) (team.SAMLMetadata, error) {
	p, err := administrator(r.Context())
	if err != nil {
		return team.SAMLMetadata{}, err
	}
	in := newIntake(w, r, requestFrom(r.Context()).account)
	defer in.end()
	text, err := readXML(r, in)
	if err != nil {
		return team.SAMLMetadata{}, err
	}
	now, err := withCallerNow(r.Context())
	if err == nil {
		_, err = administrator(now)
	}
	if err != nil {
		return team.SAMLMetadata{}, err
	}
	provider, err := h.ParseSAML(text)
	if err != nil {
		return team.SAMLMetadata{}, err
	}
	return h.Teams.SetSAML(r.Context(), p.TeamID, provider, text)
}

type setSAMLURLInput struct {
	Body struct {
		URL string `json:"url" minLength:"1" maxLength:"2048" doc:"An https address on the public internet."`
	}
}

// setSAMLURL reads the metadata at an address.
func (h *administration) setSAMLURL(ctx context.Context, in *setSAMLURLInput) (*samlBody, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	memory.Yield(ctx) // the other machine may be slow
	provider, text, err := h.FetchSAML(ctx, in.Body.URL)
	if err != nil {
		return nil, err
	}
	m, err := h.Teams.SetSAML(ctx, p.TeamID, provider, text)
	if err != nil {
		return nil, err
	}
	return &samlBody{samlOf(m)}, nil
}

type samlBody struct{ Body SamlMetadata }

// readXML reads the body of a request with SAML metadata, at most its maximum size, into memory of in.
func readXML(r *http.Request, in *intake) ([]byte, error) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	coding := r.Header.Get("Content-Encoding")
	if err != nil || !slices.Contains(xmlTypes, media) || coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, apierr.New(apierr.Unsupported, apierr.CodeUnsupportedMedia,
			"Send application/samlmetadata+xml, application/xml or text/xml, without Content-Encoding.")
	}
	text, err := in.whole(r.Context(), team.MaxSAMLBytes)
	if err != nil {
		in.discard()
	}
	if apierr.IsCode(err, apierr.CodeTooLarge) {
		err = apierr.New(apierr.TooLarge, apierr.CodeTooLarge, "SAML metadata may have at most %d bytes.", team.MaxSAMLBytes)
	}
	return text, err
}

func (h *administration) removeSAML(ctx context.Context, _ *struct{}) (*struct{}, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	if err := h.SignOn.CheckRemovableSAML(ctx, p.TeamID); err != nil {
		return nil, err
	}
	return nil, h.Teams.RemoveSAML(ctx, p.TeamID)
}

// describeSAML adds to the document what huma cannot describe: the two media types of
// GET, and all of PUT.
func describeSAML(api huma.API, tags []string) {
	doc := api.OpenAPI()
	method, path, _ := strings.Cut(samlPattern, " ")
	metadata := doc.Components.Schemas.Schema(reflect.TypeFor[SamlMetadata](), true, "")
	text := &huma.Schema{Type: huma.TypeString}
	get := doc.Paths[path].Get
	get.Responses["200"] = &huma.Response{Description: "OK", Content: map[string]*huma.MediaType{
		"application/json": {Schema: metadata}, samlType: {Schema: text}}}
	put := &huma.Operation{OperationID: "setSamlMetadata", Method: method, Path: path, Summary: "Set the SAML identity provider by its metadata",
		Tags: tags, RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{}}, Responses: map[string]*huma.Response{}}
	for _, t := range xmlTypes { // bytes: XML says itself how it is encoded
		put.RequestBody.Content[t] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	}
	for status, response := range get.Responses {
		put.Responses[status] = response
	}
	put.Responses["200"] = &huma.Response{Description: "OK", Content: map[string]*huma.MediaType{"application/json": {Schema: metadata}}}
	delete(put.Responses, "404")
	for _, status := range []string{"400", "413", "415"} {
		put.Responses[status] = &huma.Response{Description: get.Responses["401"].Description, Content: get.Responses["401"].Content}
	}
	doc.AddOperation(put)
}
