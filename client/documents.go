package client

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"docent/shared/filter"
)

// MaxDocument is the maximum size in bytes of all fields of a document, as text (10 MB).
const MaxDocument = 10 << 20

// packFrom is the size in bytes from which a request's body is sent as base64 of gzip inside the JSON. Gateways in
// front of a server may refuse larger requests whatever their Content-Encoding, and this way the escapes of JSON do
// not count against the 10 MB.
const packFrom = 4 << 20

// Document is a document as PutDocument sends it.
type Document struct {
	CollectionID string `json:"collectionId"`
	Title        string `json:"title"`
	Body         string `json:"body"`
	URI          string `json:"uri"`
	// MediaType is the media type of a PDF, Office or reStructuredText file, whose Body is the file in base64; empty: Body is text.
	MediaType string `json:"mediaType,omitempty"`
	// Upload is the id of an upload, in place of Body.
	Upload string `json:"upload,omitempty"`

	Metadata filter.Metadata `json:"metadata,omitempty"`
	Access   *Access         `json:"access,omitempty"` // nil: as its collection says
	// KeepAccess keeps the access that the document has; only without Access.
	KeepAccess bool `json:"keepAccess,omitempty"`
}

// Access is who may read a document, besides team keys: users by userName or id, groups by displayName, externalId
// or id. Without any, no person may.
type Access struct {
	Users  []string `json:"users"`
	Groups []string `json:"groups"`
}

// Listed is a document in the server's list.
type Listed struct {
	ID        string    `json:"id"`
	URI       string    `json:"uri"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// Put is the result of a PUT.
type Put struct {
	ID string
	// At is the time of the server's reply, in whole seconds; zero if the reply has none.
	At time.Time
	// Unknown are the users and groups of the document's access that nobody has yet.
	Unknown []string
}

// PutDocument creates or replaces the document that d's URI names.
func (c *Client) PutDocument(ctx context.Context, d Document) (Put, error) {
	var sent any = d
	if d.Upload != "" {
		sent = struct {
			Document
			Body *string `json:"body,omitempty"` // hides that of Document
		}{Document: d}
	}
	body, err := marshal(sent)
	if err != nil {
		return Put{}, err
	}
	if len(body) > packFrom && d.MediaType == "" && d.Upload == "" {
		packed := d
		if packed.Body, err = pack(d.Body); err != nil {
			return Put{}, err
		}
		// Text that gzip does not shrink is smaller uncompressed.
		if len(packed.Body) < len(d.Body) {
			if body, err = marshal(packed); err != nil {
				return Put{}, err
			}
		}
	}
	r, err := c.do(ctx, call{method: http.MethodPut, path: "/documents", body: body, limit: 2 * time.Minute})
	if err != nil {
		return Put{}, err
	}
	var out struct {
		ID      string `json:"id"`
		Unknown Access `json:"accessUnknown"`
	}
	if err := decode(r, &out); err != nil {
		return Put{}, err
	}
	at, err := http.ParseTime(r.header.Get("Date"))
	if err != nil {
		at = time.Time{}
	}
	return Put{ID: out.ID, At: at, Unknown: append(out.Unknown.Users, out.Unknown.Groups...)}, nil
}

// Documents returns the documents of a collection, by URI.
func (c *Client) Documents(ctx context.Context, collectionID string) (map[string]Listed, error) {
	all := map[string]Listed{}
	query := url.Values{"limit": {"200"}, "collectionId": {collectionID}}
	err := pages(ctx, c, "/documents", query, func(page []Listed) {
		for _, d := range page {
			all[d.URI] = d
		}
	})
	if err != nil {
		return nil, fmt.Errorf("list the documents: %w", err)
	}
	return all, nil
}

// StateExtracting is the state of a document's indexing while the text of its file is read. Others are pending, indexed
// and StateFailed.
const StateExtracting = "extracting"

// Indexing says whether questions find a document.
type Indexing struct {
	State  string
	Detail string   // why it failed
	Notes  []string // what the text of a file lacks
}

// Indexing returns the state of a document's indexing.
func (c *Client) Indexing(ctx context.Context, id string) (Indexing, error) {
	r, err := c.do(ctx, call{method: http.MethodGet, path: "/documents/" + url.PathEscape(id)})
	if err != nil {
		return Indexing{}, err
	}
	var out struct {
		Indexing struct {
			State string                  `json:"state"`
			Error struct{ Detail string } `json:"error"`
			Notes []string                `json:"notes"`
		} `json:"indexing"`
	}
	if err := decode(r, &out); err != nil {
		return Indexing{}, err
	}
	return Indexing{State: out.Indexing.State, Detail: out.Indexing.Error.Detail, Notes: out.Indexing.Notes}, nil
}

// DeleteDocument removes a document. If it is already gone, that is not an error.
func (c *Client) DeleteDocument(ctx context.Context, id string) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, path: "/documents/" + url.PathEscape(id)})
	return err
}

func pack(text string) (string, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		return "", fmt.Errorf("compress the body: %w", err)
	}
	if err := z.Close(); err != nil {
		return "", fmt.Errorf("compress the body: %w", err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}
