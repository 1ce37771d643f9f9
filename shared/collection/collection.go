// Package collection keeps a team's collections: named groups of documents. A
// collection is also a data source, so its id is what keys are restricted to.
package collection

import (
	"context"
	"time"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/table"
	"docent/shared/uri"
)

// Bounds of a collection. Lengths count Unicode code points.
const (
	MaxPerTeam     = 25
	MaxName        = 32
	MaxDescription = 4096
	MaxIconURL     = 2048
)

// Fields are the fields of a collection that a caller chooses. They are declared here
// only: requests, replies, stored items and events take them from this struct. A field
// that may be left out has omitempty.
type Fields struct {
	Name        string `json:"name" minLength:"1" maxLength:"32" doc:"A brief identifier."`
	Description string `json:"description" minLength:"1" maxLength:"4096" doc:"One sentence on the kind of document."`
	IconURL     string `json:"iconUrl,omitempty" minLength:"1" maxLength:"2048" doc:"Absolute http(s) URL of a square image."`
}

// check refuses fields that no schema can describe, with an *apierr.Error.
func (f Fields) check() error {
	if f.IconURL == "" {
		return nil
	}
	if err := uri.CheckWeb(f.IconURL); err != nil {
		return apierr.BadField("/iconUrl", "%s", err)
	}
	return nil
}

// Collection is a group of documents.
type Collection struct {
	ID string `json:"id"`
	Fields
	CreatedAt time.Time `json:"-"`
	Version   int64     `json:"-"` // steps with every change
}

// Service holds the rules of collections.
type Service struct {
	Table  table.Store
	Events *audit.Log  // nil: nothing is recorded
	Work   queue.Queue // of documents: takes the removal of a collection's documents
	Now    func() time.Time
	NewID  func() string // time-ordered UUIDs, so that the order of ids is the order of creation
	// Count tells how many documents a collection has, for the event of its removal;
	// nil: the event does not tell.
	Count func(ctx context.Context, teamID, id string) (int64, error)
	// Warn is told of a message that could not be sent; the work is pending and
	// will be sent again.
	Warn func(w pending.Work, err error)
}

// newEvent is an event whose target is c.
func newEvent(kind audit.Type, c Collection) audit.Event {
	return audit.Event{Type: kind, Targets: []audit.Target{{Type: audit.TargetCollection, ID: c.ID, DisplayName: c.Name}}}
}

// Missing is the answer to an unknown collection id.
func Missing() *apierr.Error { return apierr.Missing("collection") }
