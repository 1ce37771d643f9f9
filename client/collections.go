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
	var out Collection
	body, err := marshal(map[string]string{"name": name, "description": description})
	if err != nil {
		return out, err
	}
	r, err := c.do(ctx, call{
		method: http.MethodPost, path: "/collections", body: body,
		header: http.Header{"Idempotency-Key": {uuid.NewString()}},
	})
	if err != nil {
		return out, fmt.Errorf("create the collection %q: %w", name, err)
	}
	return out, decode(r, &out)
}
