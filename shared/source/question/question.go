// Package question answers the context operations over a team's data sources:
// Search, Research, Query and Get. It reads what packages source and document
// store, and changes nothing.
package question

import (
	"context"
	"slices"
	"time"

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
}

func (c Caller) mayRead(id string) bool { return c.Sources == nil || slices.Contains(c.Sources, id) }
