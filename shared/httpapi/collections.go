package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/apierr"
	"docent/shared/collection"
	"docent/shared/team"
)

type collections struct{ Services }

func (h *collections) routes(api huma.API) {
	tags := []string{"Collections"}
	register(api, huma.Operation{OperationID: "listCollections", Method: http.MethodGet, Path: "/collections",
		Summary: "List collections", Tags: tags, Errors: []int{400}}, h.list)
	register(api, huma.Operation{OperationID: "createCollection", Method: http.MethodPost, Path: "/collections",
		Summary: "Create a collection", Tags: tags, DefaultStatus: http.StatusCreated, Errors: []int{409}}, h.create)
	register(api, huma.Operation{OperationID: "getCollection", Method: http.MethodGet, Path: "/collections/{collectionId}",
		Summary: "Get a collection", Tags: tags, Errors: []int{404, 412}}, h.get)
	register(api, huma.Operation{OperationID: "updateCollection", Method: http.MethodPatch, Path: "/collections/{collectionId}",
		Summary: "Change a collection", Tags: tags, Errors: []int{404, 412}}, h.update)
	register(api, huma.Operation{OperationID: "deleteCollection", Method: http.MethodDelete, Path: "/collections/{collectionId}",
		Summary: "Delete a collection and all its documents", Tags: tags, DefaultStatus: http.StatusNoContent, Errors: []int{400, 412}}, h.delete)
}

type collectionOutput struct {
	ETag string `header:"ETag"`
	Body CollectionBody
}

type createdCollectionOutput struct {
	ETag     string `header:"ETag"`
	Location string `header:"Location"`
	Body     CollectionBody
}

// CollectionBody is a collection in replies.
type CollectionBody struct {
	ID string `json:"id"`
	collection.Fields
	DefaultAccess        *AccessBody `json:"defaultAccess,omitempty" doc:"Who may read those of its documents that have no access of their own. Absent: everyone in the team."`
	DefaultAccessUnknown *AccessBody `json:"defaultAccessUnknown,omitempty" doc:"The names in defaultAccess that nobody had when it was set. A person or group that gets such a name may then read."`
}

func collectionOf(c collection.Collection) CollectionBody {
	return CollectionBody{c.ID, c.Fields, accessOf(c.DefaultAccess), unknownOf(c.DefaultAccess)}
}

// NewCollection are the fields of a collection that a request sets; it is exported
// because huma reads embedded members only of exported types.
type NewCollection struct {
	collection.Fields
	DefaultAccess *AccessBody `json:"defaultAccess,omitempty" doc:"Who may read those of its documents that have no access of their own; up to 200 names. Absent: everyone in the team."`
}

type listCollectionsOutput struct {
	Link string `header:"Link" doc:"RFC 8288 links with rel prev and next, where there are such pages."`
	Body []CollectionBody
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
		Body: make([]CollectionBody, 0, len(slice.Entries))}
	for _, e := range slice.Entries {
		out.Body = append(out.Body, collectionOf(e.Value))
	}
	return out, nil
}

type createCollectionInput struct {
	IdempotencyKey string `header:"Idempotency-Key" minLength:"1" maxLength:"255" pattern:"^[ -~]*$" doc:"Makes the request safe to repeat for 24 hours."`
	Body           struct{ NewCollection }
}

func (h *collections) create(ctx context.Context, in *createCollectionInput) (*createdCollectionOutput, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	if err := team.RequireUnrestricted(p); err != nil {
		return nil, err
	}
	rule, err := h.rule(ctx, p.TeamID, "/defaultAccess", in.Body.DefaultAccess)
	if err != nil {
		return nil, err
	}
	c, err := h.Collections.Create(ctx, p.TeamID, in.Body.Fields, rule, collection.IdempotencyKey{APIKey: p.KeyID, Key: in.IdempotencyKey})
	if err != nil {
		return nil, err
	}
	return &createdCollectionOutput{ETag: etag(c.Version), Location: h.BaseURL + "/collections/" + c.ID, Body: collectionOf(c)}, nil
}

// CollectionPath is the path of one collection. This and the other paths are exported
// because huma reads embedded parameters only from exported types.
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
	return &collectionOutput{ETag: etag(c.Version), Body: collectionOf(c)}, nil
}

type updateCollectionInput struct {
	CollectionPath
	Conditions
	Body struct{ patch[NewCollection] }
}

func (h *collections) update(ctx context.Context, in *updateCollectionInput) (*collectionOutput, error) {
	p, err := h.callerOf(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	var given NewCollection
	in.Body.apply(&given)
	if in.Body.has("defaultAccess") {
		// Whoever changes it could open every document of the collection to themselves.
		if err := team.RequireTeamOrAdmin(p); err != nil {
			return nil, err
		}
	}
	rule, err := h.rule(ctx, p.TeamID, "/defaultAccess", given.DefaultAccess)
	if err != nil {
		return nil, err
	}
	c, err := h.Collections.Update(ctx, p.TeamID, in.ID, func(c *collection.Collection) {
		fields := NewCollection{Fields: c.Fields}
		in.Body.apply(&fields)
		c.Fields = fields.Fields
		if in.Body.has("defaultAccess") {
			c.DefaultAccess = rule.Repeating(c.DefaultAccess)
		}
	}, in.check())
	if err != nil {
		return nil, err
	}
	return &collectionOutput{ETag: etag(c.Version), Body: collectionOf(c)}, nil
}

func (h *collections) delete(ctx context.Context, in *struct {
	CollectionPath
	Conditions
}) (*struct{}, error) {
	p, err := h.callerOf(ctx, in.ID)
	if apierr.IsCode(err, apierr.CodeNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return nil, h.Collections.Delete(ctx, p.TeamID, in.ID, requestFrom(ctx).id, p.Reader, in.check())
}

// callerOf returns the caller if its key may use the collection. A key restricted to other
// data sources is refused only if the collection exists; otherwise the error is not found.
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
