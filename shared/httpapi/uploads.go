package httpapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/apierr"
	"docent/shared/blob"
	"docent/shared/document"
)

// Uploads receives files that are too large for a request of the API.
type Uploads struct {
	// Link returns an address outside of this program to which one object can be sent by PUT with the headers; nil:
	// Receive is set.
	Link func(ctx context.Context, name, contentType string, size int64, digest []byte, valid time.Duration) (address string, headers map[string]string, err error)
	// Receive stores the object that it reads. It returns blob.ErrExists if there is one of that name, and the errors of
	// from, which store nothing.
	Receive func(ctx context.Context, name string, from io.Reader) error
}

const uploadPattern = "PUT /uploads/{uploadId}"

type uploads struct {
	Services
	receiving *sync.Map // by the id of an upload whose file is being received
}

func (s Services) uploadRoutes(api huma.API, m *mux) {
	h := &uploads{s, &sync.Map{}}
	register(api, huma.Operation{OperationID: "createUpload", Method: http.MethodPost, Path: "/uploads",
		Summary: "Ask for an address to send a large file to", Tags: []string{"Documents"}, DefaultStatus: http.StatusCreated, Errors: []int{409}}, h.create)
	if s.Uploads.Receive != nil { // the address is not an operation: its form is nobody's business but ours
		m.ServeMux.HandleFunc(uploadPattern, h.receive)
	}
}

type createUploadInput struct {
	Body struct {
		MediaType string `json:"mediaType" enum:"application/pdf,application/vnd.openxmlformats-officedocument.wordprocessingml.document,application/vnd.openxmlformats-officedocument.spreadsheetml.sheet,application/vnd.openxmlformats-officedocument.presentationml.presentation,text/x-rst" doc:"The kind of file: PDF, DOCX, XLSX, PPTX or reStructuredText."`
		Size      int64  `json:"size" minimum:"1" maximum:"104857600" doc:"Exact, in bytes; at most 100 MB, 96 MB of a PDF, and 4 MB of reStructuredText."`
		SHA256    string `json:"sha256,omitempty" minLength:"64" maxLength:"64" pattern:"^[0-9a-fA-F]{64}$" doc:"The SHA-256 of the file in hexadecimal digits. With it, a file that was damaged on the way is refused."`
	}
}

type createUploadOutput struct {
	Body struct {
		ID        string            `json:"id" doc:"For the member upload of PUT /documents."`
		UploadURL string            `json:"uploadUrl" format:"uri" doc:"Where the file is sent, once. Whoever has the address can send it: keep it secret."`
		Method    string            `json:"method" enum:"PUT"`
		Headers   map[string]string `json:"headers" doc:"To be sent with the file, and no key."`
		ExpiresAt string            `json:"expiresAt" format:"date-time" doc:"Until then sending the file must begin."`
	}
}

func (h *uploads) create(ctx context.Context, in *createUploadInput) (*createUploadOutput, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	var digest []byte
	if in.Body.SHA256 != "" {
		if digest, err = hex.DecodeString(in.Body.SHA256); err != nil {
			return nil, apierr.BadField("/sha256", "must be hexadecimal digits")
		}
	}
	u, secret, err := h.Documents.NewUpload(ctx, p.TeamID, in.Body.MediaType, in.Body.Size, digest)
	if err != nil {
		return nil, err
	}
	out := &createUploadOutput{}
	out.Body.ID, out.Body.Method, out.Body.ExpiresAt = u.ID, http.MethodPut, formatTime(u.ExpiresAt)
	if h.Uploads.Link == nil {
		out.Body.UploadURL = h.BaseURL + "/uploads/" + u.ID + "?" + url.Values{"team": {p.TeamID}, "secret": {secret}}.Encode()
		out.Body.Headers = map[string]string{"Content-Type": u.MediaType}
		return out, nil
	}
	name := document.UploadBlob(p.TeamID, u.ID)
	if out.Body.UploadURL, out.Body.Headers, err = h.Uploads.Link(ctx, name, u.MediaType, u.Size, u.SHA256, u.ExpiresAt.Sub(h.Now())); err != nil {
		return nil, fmt.Errorf("address of an upload: %w", err)
	}
	out.Body.Headers = maps.Clone(out.Body.Headers)
	return out, nil
}

// receive stores the file that is sent to the address of an upload. It goes to the disk as it comes, at a minimum pace.
func (h *uploads) receive(w http.ResponseWriter, r *http.Request) {
	if err := h.take(w, r); err != nil {
		w.Header().Set("Connection", "close") // the rest of the body is not read
		writeError(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h *uploads) take(w http.ResponseWriter, r *http.Request) error {
	ctx, query := r.Context(), r.URL.Query()
	u, err := h.Documents.FindUpload(ctx, query.Get("team"), r.PathValue("uploadId"), query.Get("secret"))
	if err != nil {
		return err
	}
	switch coding := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))); {
	case coding != "" && coding != "identity":
		return apierr.New(apierr.Unsupported, apierr.CodeUnsupportedMedia, "Send the file as it is, without a Content-Encoding.")
	case len(r.Header.Values("Content-Range")) > 0: // RFC 9110 section 14.5
		return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "Send the whole file in one request, without a Content-Range. Nothing was stored.")
	case r.Header.Get("Content-Type") != u.MediaType:
		return apierr.New(apierr.Unsupported, apierr.CodeUnsupportedMedia, "Send the file with the Content-Type %s, as it was stated.", u.MediaType)
	case r.ContentLength > u.Size:
		return longer(u)
	case r.ContentLength >= 0 && r.ContentLength < u.Size:
		return shorter(u)
	}
	inUse := apierr.New(apierr.Conflict, apierr.CodeUploadUsed, "A file was sent to this address already. Ask for another upload.")
	if _, twice := h.receiving.LoadOrStore(u.ID, true); twice {
		return apierr.New(apierr.Conflict, apierr.CodeUploadUsed, "Another request is sending a file to this address.")
	}
	defer h.receiving.Delete(u.ID)
	in := newIntake(w, r, requestFrom(ctx).account)
	defer in.end()
	if err := in.first.Try(freePart); err != nil {
		return err
	}
	file := &uploadReader{from: in.from, upload: u, sum: sha256.New(), left: u.Size}
	err = h.Uploads.Receive(ctx, document.UploadBlob(query.Get("team"), u.ID), file)
	switch {
	case errors.Is(err, blob.ErrExists):
		return inUse
	case err != nil && file.err != nil:
		return in.refusal(file.err)
	case err != nil:
		return fmt.Errorf("receive an upload: %w", err)
	}
	_ = in.from.set(time.Time{}) // the deadline was for this body only
	return nil
}

func longer(u document.Upload) error {
	return apierr.New(apierr.TooLarge, apierr.CodeTooLarge, "The file is larger than the %d bytes that were stated. Nothing was stored.", u.Size)
}

func shorter(u document.Upload) error {
	return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The file is smaller than the %d bytes that were stated. Nothing was stored.", u.Size)
}

// uploadReader reads a file, and ends with an error unless it is the one of the upload.
type uploadReader struct {
	from   io.Reader
	upload document.Upload
	sum    hash.Hash
	left   int64
	err    error // the one of the last Read, except io.EOF
}

func (r *uploadReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.sum.Write(p[:n])
	r.left -= int64(n)
	ended := errors.Is(err, io.EOF)
	switch {
	case r.left < 0:
		err = longer(r.upload)
	case ended && r.left > 0:
		err = shorter(r.upload)
	case ended && r.upload.SHA256 != nil && subtle.ConstantTimeCompare(r.sum.Sum(nil), r.upload.SHA256) != 1:
		err = apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The file does not have the SHA-256 that was stated. Nothing was stored.")
	}
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}
