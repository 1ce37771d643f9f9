package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/google/uuid"
)

// Collection is a group of documents.
type Collection struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Collection returns one collection. For an unknown id it returns an *Error of status 404.
func (c *Client) Collection(ctx context.Context, id string) (Collection, error) {
	var out Collection
	r, err := c.do(ctx, call{method: http.MethodGet, path: "/collections/" + url.PathEscape(id)})
	if err != nil {
		return out, err
	}
	return out, decode(r, &out)
}

// CollectionsNamed returns the collections with exactly that name, newest first. Names need not be unique.
func (c *Client) CollectionsNamed(ctx context.Context, name string) ([]Collection, error) {
	var found []Collection
	err := pages(ctx, c, "/collections", url.Values{"limit": {"200"}}, func(page []Collection) {
		for _, one := range page {
			if one.Name == name {
				found = append(found, one)
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("list the collections: %w", err)
	}
	return found, nil
}

// CreateCollection creates a collection. The call has an idempotency key, so a repeat after a lost reply creates no
// second one.
func (c *Client) CreateCollection(ctx context.Context, name, description string) (Collection, error) {
	return c.createCollection(ctx, name, description, uuid.NewString())
}

// maxReused bounds the keys that CreateCollectionOnce tries: one for each collection of that name that was made and removed
// within a day.
const maxReused = 25

// CreateCollectionOnce creates a collection, or returns the one that another call with the same key, name and description
// has just created. It is for programs that run in parallel and found no collection of that name.
func (c *Client) CreateCollectionOnce(ctx context.Context, name, description string) (Collection, error) {
	for n := range maxReused {
		id := uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "docent collection\x00%s\x00%s\x00%d", name, description, n))
		made, err := c.createCollection(ctx, name, description, id.String())
		if err != nil {
			return made, err
		}
		// The reply is the reply to the first call, so the collection may have been removed or renamed since.
		now, err := c.Collection(ctx, made.ID)
		if err == nil && now.Name == name || err != nil && !IsStatus(err, http.StatusNotFound) {
			return now, err
		}
	}
	return c.CreateCollection(ctx, name, description)
}

func (c *Client) createCollection(ctx context.Context, name, description, idempotencyKey string) (Collection, error) {
	var out Collection
	body, err := marshal(map[string]string{"name": name, "description": description})
	if err != nil {
		return out, err
	}
	r, err := c.do(ctx, call{
		method: http.MethodPost, path: "/collections", body: body,
		header: http.Header{"Idempotency-Key": {idempotencyKey}},
	})
	if err != nil {
		return out, fmt.Errorf("create the collection %q: %w", name, err)
	}
	return out, decode(r, &out)
}
