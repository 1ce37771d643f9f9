// Package question answers the context operations over a team's data sources:
// Search, Research, Query and Get. It reads what packages source and document
// store, and changes nothing.
package question

import (
	"context"
	"slices"
	"time"

	"docent/shared/access"
	"docent/shared/document"
	"docent/shared/search"
	"docent/shared/source"
)

// Service answers the context operations.
type Service struct {
	Sources   *source.Service
	Documents *document.Service
	Index     func(ctx context.Context, teamID string, q search.Query) (search.Result, error)
	Now       func() time.Time
	// WebFetch reports whether the team allows content to be fetched from the web;
	// Fetch fetches it. See Get.
	WebFetch func(ctx context.Context, teamID string) (bool, error)
	Fetch    func(ctx context.Context, url string) (Page, error)
	// Model writes the answers of Research; nil: answers quote passages.
	Model *Model
}

// Caller is the user or key that asks.
type Caller struct {
	UserName string   // whom "me" refers to; empty for a team key
	Sources  []string // ids of the data sources that the key is restricted to; nil: all
	Reader   access.Reader
}

// Within returns c restricted to those of the data sources that it may use; nil: c itself.
func (c Caller) Within(ids []string) Caller {
	if ids == nil {
		return c
	}
	some := []string{}
	for _, id := range ids {
		if c.mayUse(id) && !slices.Contains(some, id) {
			some = append(some, id)
		}
	}
	c.Sources = some
	return c
}

func (c Caller) who() document.Who { return document.Who{Reader: c.Reader, Sources: c.Sources} }

// mayUse reports whether the key of c may use a source.
func (c Caller) mayUse(id string) bool { return c.Sources == nil || slices.Contains(c.Sources, id) }

// mayRead reports whether c may read a record, which is on one of shelves.
func (c Caller) mayRead(e document.Entry, shelves map[string]source.Shelf) bool {
	return c.mayUse(e.CollectionID) && c.Reader.MayRead(e.Access, shelves[e.CollectionID].DefaultAccess)
}
