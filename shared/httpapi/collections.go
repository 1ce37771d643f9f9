package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/apierr"
	"docent/shared/collection"
	"docent/shared/team"
	"docent/shared/uri"
)

type collections struct{ Services }

func (h *collections) routes(api huma.API) {
	tags := []string{"Collections"}
	register(api, huma.Operation{OperationID: "listCollections", Method: http.MethodGet, Path: "/collections",
		Summary: "List collections", Tags: tags, Errors: []int{400}}, h.list)
	register(api, huma.Operation{OperationID: "createCollection", Method: http.MethodPost, Path: "/collections",
		Summary: "Create a collection", Tags: tags, DefaultStatus: http.StatusCreated, Errors: []int{409}}, h.create)
	register(api, huma.Operation{OperationID: "getCollection", Method: http.MethodGet, Path: "/collections/{collectionId}",
		Summary: "Get a collection", Tags: tags, Errors: []int{404}}, h.get)
	register(api, huma.Operation{OperationID: "updateCollection", Method: http.MethodPatch, Path: "/collections/{collectionId}",
		Summary: "Change a collection", Tags: tags, Errors: []int{404, 412}}, h.update)
	register(api, huma.Operation{OperationID: "deleteCollection", Method: http.MethodDelete, Path: "/collections/{collectionId}",
		Summary: "Delete a collection and all its documents", Tags: tags, DefaultStatus: http.StatusNoContent, Errors: []int{412}}, h.delete)
}

type collectionOutput struct {
	ETag     string `header:"ETag"`
	Location string `header:"Location"`
	Body     collection.Collection
}

type listCollectionsOutput struct {
	Link string `header:"Link" doc:"RFC 8288 links with rel prev and next, where there are such pages."`
	Body []collection.Collection
}

func (h *collections) list(ctx context.Context, in *struct{ PageParams }) (*listCollectionsOutput, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	w, err := in.window(p.TeamID, "collections")
	if err != nil {
		return nil, err
	}
	slice, err := h.Collections.List(ctx, p.TeamID, w, p.MayRead)
	if err != nil {
		return nil, err
	}
	out := &listCollectionsOutput{Link: linkHeader(h.BaseURL, p.TeamID, "collections", in.Limit, nil, slice),
		Body: make([]collection.Collection, 0, len(slice.Entries))}
	for _, e := range slice.Entries {
		out.Body = append(out.Body, e.Value)
	}
	return out, nil
}

type createCollectionInput struct {
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"255" pattern:"^[ -~]*$" doc:"Makes the request safe to repeat for 24 hours."`
	Body           struct {
		Name        string `json:"name" minLength:"1" maxLength:"32" doc:"A brief identifier."`
		Description string `json:"description" minLength:"1" maxLength:"4096" doc:"One sentence on the kind of document."`
		IconURL     string `json:"iconUrl,omitempty" minLength:"1" maxLength:"2048" doc:"Absolute http(s) URL of a square image."`
	}
}

func (h *collections) create(ctx context.Context, in *createCollectionInput) (*collectionOutput, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	if err := team.RequireUnrestricted(p); err != nil {
		return nil, err
	}
	if err := checkIconURL(in.Body.IconURL); err != nil {
		return nil, err
	}
	c, err := h.Collections.Create(ctx, p.TeamID,
		collection.Collection{Name: in.Body.Name, Description: in.Body.Description, IconURL: in.Body.IconURL},
		collection.IdempotencyKey{APIKey: p.KeyID, Key: in.IdempotencyKey})
	if err != nil {
		return nil, err
	}
	return &collectionOutput{ETag: etag(c.Version), Location: h.BaseURL + "/collections/" + c.ID, Body: c}, nil
}

// CollectionPath is the path of one collection. It is exported because huma reads
// embedded parameters only from exported types; so are its like.
type CollectionPath struct {
	ID string `path:"collectionId"`
}

func (h *collections) get(ctx context.Context, in *CollectionPath) (*collectionOutput, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	c, err := h.Collections.Get(ctx, p.TeamID, in.ID)
	if err != nil {
		return nil, err
	}
	if err := team.RequireSource(p, c.ID); err != nil {
		return nil, err
	}
	return &collectionOutput{ETag: etag(c.Version), Body: c}, nil
}

type updateCollectionInput struct {
	CollectionPath
	IfMatch string `header:"If-Match"`
	Body    struct {
		mergePatch
		Name        *string      `json:"name,omitempty" minLength:"1" maxLength:"32"`
		Description *string      `json:"description,omitempty" minLength:"1" maxLength:"4096"`
		IconURL     removableURL `json:"iconUrl,omitempty" doc:"null removes the icon."`
	}
}

// removableURL is a member of a merge patch (RFC 7396): absent, null or a URL.
type removableURL struct{ to *string }

// UnmarshalJSON is called for a member that is present only.
func (u *removableURL) UnmarshalJSON(text []byte) error {
	u.to = new(string)
	if bytes.Equal(text, []byte("null")) {
		return nil
	}
	return json.Unmarshal(text, u.to)
}

// Schema describes the member; huma calls it.
func (removableURL) Schema(huma.Registry) *huma.Schema {
	least, most := 1, collection.MaxIconURL
	return &huma.Schema{Type: huma.TypeString, Nullable: true, MinLength: &least, MaxLength: &most}
}

func (h *collections) update(ctx context.Context, in *updateCollectionInput) (*collectionOutput, error) {
	p, err := h.callerOf(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if in.Body.IconURL.to != nil {
		if err := checkIconURL(*in.Body.IconURL.to); err != nil {
			return nil, err
		}
	}
	change := collection.Change{Name: in.Body.Name, Description: in.Body.Description, IconURL: in.Body.IconURL.to}
	c, err := h.Collections.Update(ctx, p.TeamID, in.ID, change, preconditions(in.IfMatch, ""))
	if err != nil {
		return nil, err
	}
	return &collectionOutput{ETag: etag(c.Version), Body: c}, nil
}

func (h *collections) delete(ctx context.Context, in *struct {
	CollectionPath
	IfMatch string `header:"If-Match"`
}) (*struct{}, error) {
	p, err := h.callerOf(ctx, in.ID)
	if apierr.IsCode(err, apierr.CodeNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return nil, h.Collections.Delete(ctx, p.TeamID, in.ID, requestFrom(ctx).id, preconditions(in.IfMatch, ""))
}

// callerOf returns the caller if its key may use the collection. A restricted
// key learns that a collection outside its restriction is not for it only where
// that collection exists.
func (h *collections) callerOf(ctx context.Context, id string) (team.Principal, error) {
	p, err := caller(ctx)
	if err != nil || p.MayRead(id) {
		return p, err
	}
	if _, err := h.Collections.Get(ctx, p.TeamID, id); err != nil {
		return p, err
	}
	return p, team.RequireSource(p, id)
}

func checkIconURL(icon string) error {
	if icon == "" {
		return nil
	}
	if err := uri.CheckWeb(icon); err != nil {
		return apierr.BadField("/iconUrl", "%s", err)
	}
	return nil
}
