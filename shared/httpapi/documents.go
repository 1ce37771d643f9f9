package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/apierr"
	"docent/shared/document"
	"docent/shared/memory"
	"docent/shared/team"
)

type documents struct{ Services }

func (h *documents) routes(api huma.API) {
	tags := []string{"Documents"}
	register(api, huma.Operation{OperationID: "listDocuments", Method: http.MethodGet, Path: "/documents",
		Summary: "List documents", Tags: tags, Errors: []int{400}}, h.list)
	register(api, huma.Operation{OperationID: "putDocument", Method: http.MethodPut, Path: "/documents",
		Summary: "Create, replace or move a document", Tags: tags, Errors: []int{404, 409, 412}}, h.put)
	register(api, huma.Operation{OperationID: "getDocument", Method: http.MethodGet, Path: "/documents/{documentId}",
		Summary: "Get a document", Tags: tags, Errors: []int{404, 412}}, h.get)
	h.originalRoute(api)
	register(api, huma.Operation{OperationID: "getDocumentAccess", Method: http.MethodGet, Path: "/documents/{documentId}/access",
		Summary: "Find out whether a person may read a document", Tags: tags, Errors: []int{400, 404}}, h.access)
	register(api, huma.Operation{OperationID: "updateDocument", Method: http.MethodPatch, Path: "/documents/{documentId}",
		Summary: "Change a document without its content", Tags: tags, Errors: []int{404, 412}}, h.update)
	register(api, huma.Operation{OperationID: "deleteDocument", Method: http.MethodDelete, Path: "/documents/{documentId}",
		Summary: "Delete a document", Tags: tags, DefaultStatus: http.StatusNoContent, Errors: []int{400, 412}}, h.delete)
}

// DocumentEntry is a document in a list; single documents embed it.
type DocumentEntry struct {
	ID string `json:"id"`
	document.Fields
	Size      int64       `json:"size,omitempty" doc:"Bytes of the original file. Absent: it was put as text."`
	SHA256    string      `json:"sha256,omitempty" doc:"The SHA-256 of the original file in hexadecimal digits, by which a client sees that it need not send it again."`
	Access    *AccessBody `json:"access,omitempty" doc:"Who may read it, as it was written. Absent: the default of its collection decides."`
	CreatedAt string      `json:"createdAt" format:"date-time"`
	UpdatedAt string      `json:"updatedAt" format:"date-time"`
}

func entryOf(e document.Entry) DocumentEntry {
	var size int64
	var sum string
	if e.Original != nil {
		size, sum = e.Original.Bytes, e.Original.SHA256()
	}
	return DocumentEntry{e.ID, e.Fields, size, sum, accessOf(e.Access), formatTime(e.CreatedAt), formatTime(e.UpdatedAt)}
}

type listDocumentsInput struct {
	PageParams
	CollectionID string `query:"collectionId" doc:"Only documents of this collection."`
}

type listDocumentsOutput struct {
	Link string `header:"Link" doc:"RFC 8288 links with rel prev and next, where there are such pages."`
	Body []DocumentEntry
}

func (h *documents) list(ctx context.Context, in *listDocumentsInput) (*listDocumentsOutput, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	w, err := in.window(p.TeamID, "documents")
	if err != nil {
		return nil, err
	}
	in.CollectionID = canonicalID(in.CollectionID)
	slice, err := h.Documents.List(ctx, p.TeamID,
		document.Filter{CollectionID: in.CollectionID, Who: whoOf(p)}, w)
	if err != nil {
		return nil, err
	}
	filter := url.Values{}
	if in.CollectionID != "" {
		filter.Set("collectionId", in.CollectionID)
	}
	out := &listDocumentsOutput{Link: linkHeader(h.BaseURL, p.TeamID, "documents", in.Limit, filter, slice),
		Body: make([]DocumentEntry, 0, len(slice.Entries))}
	for _, e := range slice.Entries {
		out.Body = append(out.Body, entryOf(e.Value))
	}
	return out, nil
}

type putDocumentInput struct {
	IfMatch     string `header:"If-Match" minLength:"1"`
	IfNoneMatch string `header:"If-None-Match" doc:"* creates only."`
	Body        struct {
		document.Fields
		Body   *string     `json:"body,omitempty" doc:"Plain text or Markdown, as it is or as base64 of its gzip form; 10 MB unpacked; a byte order mark at its start is left out. With a mediaType, the file in base64; 10 MB with everything else in the request. Required unless there is an upload."`
		Upload string      `json:"upload,omitempty" maxLength:"36" doc:"The id of an upload whose file has been sent, instead of body. The mediaType may be left out."`
		Access *AccessBody `json:"access,omitempty" doc:"Who may read it, besides team keys; up to 200 names. Absent: the defaultAccess of its collection decides, and without one everyone in the team reads it. Empty lists: no person. A name that its rule already has still means whom it meant when it was written first."`

		KeepAccess bool `json:"keepAccess,omitempty" doc:"Keeps the access that the document has, if it exists. Not together with access."`
	}
}

type putDocumentOutput struct {
	ETag string `header:"ETag"`
	Body struct {
		ID            string      `json:"id"`
		AccessUnknown *AccessBody `json:"accessUnknown,omitempty" doc:"The names in access that nobody has yet. A person or group that gets such a name may then read it."`
	}
}

func (h *documents) put(ctx context.Context, in *putDocumentInput) (*putDocumentOutput, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	in.Body.CollectionID, in.Body.Upload = canonicalID(in.Body.CollectionID), canonicalID(in.Body.Upload)
	if err := h.checkURI(ctx, p, in.Body.URI); err != nil {
		return nil, err
	}
	if _, err := (&collections{h.Services}).callerOf(ctx, in.Body.CollectionID); err != nil {
		return nil, err
	}
	sent, err := in.content()
	if err != nil {
		return nil, err
	}
	if in.Body.MediaType != "" || isPacked(sent) { // unpack only a body that may be stored
		if _, err := h.Collections.Get(ctx, p.TeamID, in.Body.CollectionID); err != nil {
			return nil, err
		}
	}
	var body string
	var file []byte
	switch {
	case in.Body.Upload != "":
	case in.Body.MediaType != "":
		file, err = decodeFile(ctx, sent)
	default:
		body, err = unpackBody(ctx, sent)
	}
	if err != nil {
		return nil, err
	}
	if len(body)+len(in.Body.Title)+len(in.Body.URI)+len(in.Body.CollectionID) > MaxBody {
		return nil, tooLarge()
	}
	if in.Body.KeepAccess && in.Body.Access != nil {
		return nil, apierr.BadField("/keepAccess", "must not be combined with access")
	}
	rule, err := h.rule(ctx, p.TeamID, "/access", in.Body.Access)
	if err != nil {
		return nil, err
	}
	id, version, err := h.Documents.Put(ctx, p.TeamID, document.Input{
		Fields: in.Body.Fields, Body: body, File: file, Upload: in.Body.Upload,
		Match: preconditions(in.IfMatch, in.IfNoneMatch), Who: whoOf(p), RequestID: requestFrom(ctx).id, Access: rule, KeepAccess: in.Body.KeepAccess,
	})
	if err != nil {
		return nil, err
	}
	out := &putDocumentOutput{ETag: etag(version)}
	out.Body.ID, out.Body.AccessUnknown = id, unknownOf(rule)
	return out, nil
}

// content returns the body, which is required unless there is an upload.
func (in *putDocumentInput) content() (string, error) {
	switch {
	case in.Body.Upload == "" && in.Body.Body == nil:
		return "", apierr.BadField("/body", "is required, or an upload")
	case in.Body.Upload != "" && in.Body.Body != nil:
		return "", apierr.BadField("/upload", "must not be combined with body")
	case in.Body.Body == nil:
		return "", nil
	}
	return *in.Body.Body, nil
}

// checkURI refuses an invalid address for a new document. A document stored before
// addresses were checked may have an invalid one, and can still be replaced.
func (h *documents) checkURI(ctx context.Context, p team.Principal, address string) error {
	refused := document.CheckURI(address)
	if refused == nil || utf8.RuneCountInString(address) > document.MaxURI {
		return refused
	}
	id, err := document.ID(p.TeamID, address)
	if err != nil {
		return err
	}
	_, err = h.Documents.Get(ctx, p.TeamID, id, whoOf(p))
	if apierr.IsCode(err, apierr.CodeNotFound) || apierr.IsCode(err, apierr.CodeSourceNotAllowed) {
		return refused
	}
	return err
}

// DocumentPath is the path of one document.
type DocumentPath struct {
	ID string `path:"documentId"`
}

type documentOutput struct {
	ETag string `header:"ETag"`
	Body struct {
		DocumentEntry
		Body         string `json:"body" doc:"The text; above 1 MiB as base64 of its gzip form. Of a file, its text as Markdown, empty until it is read."`
		BodyEncoding string `json:"bodyEncoding,omitempty" enum:"gzip"`
		Indexing     struct {
			State   document.State        `json:"state" enum:"extracting,pending,indexed,failed" doc:"Whether questions find this version by its words. While the text of a file is read it is extracting; then the document gets its body and a new ETag, and is pending."`
			Meaning document.MeaningState `json:"meaning,omitempty" enum:"pending,done" doc:"Whether questions find it also by its meaning, which takes longer. Absent if this installation searches by words alone, or if indexing has failed."`
			Error   *indexingError        `json:"error,omitempty"`
			Notes   []string              `json:"notes,omitempty" doc:"What the text of a file lacks, such as a page that is a picture."`
		} `json:"indexing" doc:"Whether questions find this version."`
	}
}

type indexingError struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// plainBody is the maximum size of a body that is sent as plain text.
const plainBody = 1 << 20

func (h *documents) get(ctx context.Context, in *DocumentPath) (*documentOutput, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	reply := requestFrom(ctx).reply
	d, err := h.Documents.GetBodyIf(ctx, p.TeamID, in.ID, whoOf(p), func(version int64) bool { return reply.sendsBody(etag(version)) })
	if err != nil {
		return nil, err
	}
	out := &documentOutput{ETag: etag(d.Version)}
	out.Body.DocumentEntry, out.Body.Body = entryOf(d.Entry), d.Body
	if len(d.Body) > plainBody {
		if out.Body.Body, err = packBody(d.Body); err != nil {
			return nil, err
		}
		out.Body.BodyEncoding = "gzip"
	}
	out.Body.Indexing.State, out.Body.Indexing.Meaning, out.Body.Indexing.Notes = d.Indexing.State, d.Indexing.Meaning, d.Indexing.Notes
	if d.Indexing.State == document.Failed {
		out.Body.Indexing.Error = &indexingError{d.Indexing.Code, d.Indexing.Detail}
	}
	return out, nil
}

func (h *documents) delete(ctx context.Context, in *struct {
	DocumentPath
	Conditions
}) (*struct{}, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	return nil, h.Documents.Delete(ctx, p.TeamID, in.ID, requestFrom(ctx).id, whoOf(p), in.check())
}

// isPacked reports whether body may be base64 of a gzip stream: it starts like one.
func isPacked(body string) bool { return strings.HasPrefix(body, "H4sI") }

// unpackBody returns the text of a document's body. If all of it is base64 of one
// complete gzip stream, it is decompressed; otherwise it is plain text.
func unpackBody(ctx context.Context, body string) (string, error) {
	if !isPacked(body) {
		return body, nil
	}
	packed, err := base64.StdEncoding.Strict().DecodeString(body)
	if err != nil {
		return body, nil
	}
	reader := bytes.NewReader(packed)
	stream, err := gzip.NewReader(reader)
	if err != nil {
		return body, nil
	}
	stream.Multistream(false)
	text, err := inflateFrom(ctx, stream, packed, nil)
	switch {
	case apierr.IsCode(err, apierr.CodeTooLarge), errors.Is(err, memory.ErrBusy):
		return "", err
	case err != nil || reader.Len() > 0:
		return body, nil
	}
	if !utf8.Valid(text) {
		return "", apierr.BadField("/body", "must decompress to UTF-8 text")
	}
	if err := memory.Reserve(ctx, int64(len(text))*(costPerByte-1)); err != nil { // to be stored, as text that came unpacked
		return "", err
	}
	return unsafe.String(unsafe.SliceData(text), len(text)), nil //nolint:gosec // nothing changes text any more, and a copy could take 10 MB
}

// decodeFile returns the file in body, which is base64.
func decodeFile(ctx context.Context, body string) ([]byte, error) {
	if err := memory.Reserve(ctx, int64(base64.StdEncoding.DecodedLen(len(body)))); err != nil {
		return nil, err
	}
	file, err := base64.StdEncoding.Strict().DecodeString(body)
	if err != nil {
		return nil, apierr.BadField("/body", "must be the file, in base64")
	}
	return file, nil
}

// packBody returns body as base64 of a gzip stream.
func packBody(body string) (string, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(unsafe.Slice(unsafe.StringData(body), len(body))); err != nil { //nolint:gosec // a Writer changes nothing, and a copy could take 10 MB
		return "", fmt.Errorf("pack body: %w", err)
	}
	if err := w.Close(); err != nil {
		return "", fmt.Errorf("pack body: %w", err)
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes()), nil
}
