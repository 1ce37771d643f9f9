package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/blob"
	"docent/shared/document"
	"docent/shared/extract"
)

// Originals reads the original files of documents.
type Originals struct {
	// Open opens a file, and returns its size in bytes; nil: there is a Link.
	Open func(ctx context.Context, name string) (io.ReadCloser, int64, error)
	// Link returns an address that is valid for a short time and replies the file with these headers to method, GET or HEAD;
	// nil: this program replies it itself.
	Link func(ctx context.Context, method, name, contentType, disposition string) (string, error)
}

func (h *documents) originalRoute(api huma.API) {
	file := map[string]*huma.MediaType{}
	for _, mediaType := range extract.MediaTypes() {
		file[mediaType] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	}
	register(api, huma.Operation{OperationID: "getDocumentOriginal", Method: http.MethodGet, Path: "/documents/{documentId}/original",
		Summary: "Download the original file of a document", Tags: []string{"Documents"}, Errors: []int{404},
		Responses: map[string]*huma.Response{
			"200": {Description: "The file, to be saved under the name in Content-Disposition.", Content: file},
			"302": {Description: "The file is at the address in Location for a minute; no key is needed there."},
		}}, h.original)
	responses := api.OpenAPI().Paths["/documents/{documentId}/original"].Get.Responses
	responses["302"].Headers = map[string]*huma.Param{"Location": {Schema: &huma.Schema{Type: huma.TypeString}}}
	delete(responses["200"].Headers, "Location")
}

type originalOutput struct {
	Status      int
	ContentType string `header:"Content-Type"`
	Disposition string `header:"Content-Disposition"`
	ETag        string `header:"ETag"`
	Location    string `header:"Location"`
	Length      int64  `header:"Content-Length"`
	Body        []byte
}

func (h *documents) original(ctx context.Context, in *DocumentPath) (*originalOutput, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	e, err := h.Documents.GetOriginal(ctx, p.TeamID, in.ID, whoOf(p))
	if err != nil {
		return nil, err
	}
	if h.Originals.Link == nil {
		return h.sendOriginal(ctx, e, func() (document.Entry, error) { return h.Documents.GetOriginal(ctx, p.TeamID, in.ID, whoOf(p)) })
	}
	address, err := h.Originals.Link(ctx, requestFrom(ctx).reply.r.Method, e.Original.Blob, e.MediaType, dispositionOf(e))
	if err != nil {
		return nil, fmt.Errorf("address of an original: %w", err)
	}
	return &originalOutput{Status: http.StatusFound, Location: address}, nil
}

// sendOriginal replies the file of e. If it is missing, it replies that of the document that read returns, which may have replaced e,
// and an error if that is the same.
func (h *documents) sendOriginal(ctx context.Context, e document.Entry, read func() (document.Entry, error)) (*originalOutput, error) {
	for {
		file, size, err := h.Originals.Open(ctx, e.Original.Blob)
		if errors.Is(err, blob.ErrNotFound) {
			missing := e.Original.Blob
			var failed error
			if e, failed = read(); failed != nil {
				return nil, failed
			}
			if e.Original.Blob == missing {
				return nil, document.Damaged(err)
			}
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read an original: %w", err)
		}
		if size != e.Original.Bytes {
			return nil, document.Damaged(errors.Join(fmt.Errorf("its file has %d of %d bytes", size, e.Original.Bytes), file.Close()))
		}
		if err := requestFrom(ctx).reply.sendFile(file); err != nil {
			return nil, err
		}
		return &originalOutput{Status: http.StatusOK, ContentType: e.MediaType, Disposition: dispositionOf(e), ETag: `"` + e.Original.Hash + `"`, Length: size}, nil
	}
}

func dispositionOf(e document.Entry) string {
	return mime.FormatMediaType("attachment", map[string]string{"filename": fileName(e)})
}

// maxFileName bounds the name of a downloaded file in characters, without its extension.
const maxFileName = 100

// fileName returns the name under which a browser saves the original of e: that in its URI, or its title, of letters,
// digits and a few signs.
func fileName(e document.Entry) string {
	name, extension := "", ""
	if u, err := url.Parse(e.URI); err == nil {
		name = path.Base(u.Path)
		extension = strings.ToLower(path.Ext(name))
	}
	all := extract.ExtensionsOf(e.MediaType)
	switch {
	case slices.Contains(all, extension):
		name = name[:len(name)-len(extension)]
	case len(all) > 0:
		name, extension = e.Title, all[0]
	default: // of a later version
		name, extension = e.Title, ""
	}
	safe := []rune(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || slices.Contains([]rune("-_() "), r) {
			return r
		}
		return '_'
	}, name))
	if name = strings.TrimSpace(string(safe[:min(len(safe), maxFileName)])); name == "" {
		name = "document"
	}
	return name + extension
}
