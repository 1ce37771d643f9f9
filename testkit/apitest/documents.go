package apitest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// maxBody is the limit of a request and of the text in it: 10 MB.
const maxBody = 10 << 20

// Document is a stored document.
type Document struct {
	ID           string    `json:"id"`
	CollectionID string    `json:"collectionId"`
	CreatedAt    time.Time `json:"createdAt"`
	UpdatedAt    time.Time `json:"updatedAt"`
	Title        string    `json:"title"`
	URI          string    `json:"uri"`
	Body         string    `json:"-"`
	Metadata     string    `json:"-"` // its JSON; empty: none
	Access       string    `json:"-"` // its JSON; empty: none
	Upload       string    `json:"-"` // the id of an upload in place of Body
	Encoding     string    `json:"-"` // the Content-Encoding of the request, or "body" for gzip inside the JSON
}

// Documents returns the stored documents by URI.
func (s *Server) Documents() map[string]Document {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]Document{}
	for _, d := range s.documents {
		out[d.URI] = *d
	}
	return out
}

// Change replaces the body under uri, as another client would.
func (s *Server) Change(uri, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.documents {
		if d.URI == uri {
			s.now = s.now.Add(time.Minute)
			d.Body, d.UpdatedAt = body, s.now
		}
	}
}

// Lose removes the document under uri.
func (s *Server) Lose(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.documents = slices.DeleteFunc(s.documents, func(d *Document) bool { return d.URI == uri })
}

func (s *Server) listDocuments(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("collectionId")
	var in []*Document
	for _, d := range s.documents {
		if id == "" || d.CollectionID == id {
			in = append(in, d)
		}
	}
	page(w, r, s, in)
}

func (s *Server) putDocument(w http.ResponseWriter, r *http.Request) {
	var in struct {
		CollectionID, Title, Body, URI, Upload string
		Metadata, Access                       json.RawMessage
		KeepAccess                             bool
	}
	if !decode(w, r, &in) {
		return
	}
	encoding := r.Header.Get("Content-Encoding")
	if strings.HasPrefix(in.Body, "H4sI") {
		packed, err := base64.StdEncoding.DecodeString(in.Body)
		if err != nil {
			Problem(w, 400, "invalid-request", "The body is not valid.")
			return
		}
		text, err := inflate(bytes.NewReader(packed))
		if err != nil {
			Problem(w, 400, "invalid-request", "The body is not valid.")
			return
		}
		in.Body, encoding = string(text), "body"
	}
	switch n := len([]rune(in.Title)); {
	case len(in.Title)+len(in.Body)+len(in.URI)+len(in.CollectionID) > maxBody:
		Problem(w, 413, "request-too-large", "The request is over 10 MB.")
		return
	case n < 1, n > 1024, !strings.Contains(in.URI, ":"):
		Problem(w, 400, "invalid-request", "The request is not valid.")
		return
	case s.find(in.CollectionID) < 0:
		Problem(w, 404, "not-found", "There is no such collection.")
		return
	}
	s.now = s.now.Add(time.Second)
	w.Header().Set("Date", s.now.Format(http.TimeFormat))
	i := slices.IndexFunc(s.documents, func(d *Document) bool { return d.URI == in.URI })
	if i < 0 {
		s.documents = append([]*Document{{
			ID: uuid.NewSHA1(uuid.NameSpaceURL, []byte(in.URI)).String(), URI: in.URI, CreatedAt: s.now,
		}}, s.documents...)
		i = 0
	}
	d := s.documents[i]
	if in.KeepAccess {
		in.Access = json.RawMessage(d.Access)
	}
	if d.CollectionID != in.CollectionID || d.Title != in.Title || d.Body != in.Body || d.Metadata != string(in.Metadata) || d.Access != string(in.Access) {
		d.CollectionID, d.Title, d.Body, d.Metadata, d.Access = in.CollectionID, in.Title, in.Body, string(in.Metadata), string(in.Access)
		// Later than the Date header by a fraction of a second, which the header cannot express.
		d.UpdatedAt = s.now.Add(900 * time.Millisecond)
	}
	d.Encoding, d.Upload = encoding, in.Upload
	reply(w, 200, map[string]string{"id": d.ID})
}

// getDocument replies with a document that is indexed.
func (s *Server) getDocument(w http.ResponseWriter, r *http.Request) {
	for _, d := range s.documents {
		if d.ID == r.PathValue("id") {
			reply(w, 200, struct {
				Document
				Indexing map[string]string `json:"indexing"`
			}{*d, map[string]string{"state": "indexed"}})
			return
		}
	}
	Problem(w, 404, "not-found", "There is no such document.")
}

func (s *Server) deleteDocument(w http.ResponseWriter, r *http.Request) {
	s.documents = slices.DeleteFunc(s.documents, func(d *Document) bool { return d.ID == r.PathValue("id") })
	w.WriteHeader(204)
}

func decode(w http.ResponseWriter, r *http.Request, into any) bool {
	data, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err == nil && r.Header.Get("Content-Encoding") == "gzip" {
		data, err = inflate(bytes.NewReader(data))
	}
	if err != nil {
		Problem(w, 400, "invalid-request", "The request cannot be read.")
		return false
	}
	if len(data) > maxBody {
		Problem(w, 413, "request-too-large", "The request is over 10 MB.")
		return false
	}
	if json.Unmarshal(data, into) != nil {
		Problem(w, 400, "invalid-request", "The request is not JSON.")
		return false
	}
	return true
}

func inflate(r io.Reader) ([]byte, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, maxBody+1))
}
