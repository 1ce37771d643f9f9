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
)

// Bounds of a collection. Lengths count Unicode code points.
const (
	MaxPerTeam     = 25
	MaxName        = 32
	MaxDescription = 4096
	MaxIconURL     = 2048
)

// Collection is a group of documents.
type Collection struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	IconURL     string    `json:"iconUrl,omitempty"`
	CreatedAt   time.Time `json:"-"`
	Version     int64     `json:"-"` // steps with every change
}

// Change is a partial update; nil keeps what is there, and an empty IconURL
// removes the icon.
type Change struct{ Name, Description, IconURL *string }

func (c Change) apply(to Collection) Collection {
	if c.Name != nil {
		to.Name = *c.Name
	}
	if c.Description != nil {
		to.Description = *c.Description
	}
	if c.IconURL != nil {
		to.IconURL = *c.IconURL
	}
	return to
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

// changes are what differs between before and after.
func changes(before, after Collection) []audit.Change {
	var all []audit.Change
	for _, field := range []struct{ name, from, to string }{
		{"name", before.Name, after.Name}, {"description", before.Description, after.Description}, {"iconUrl", before.IconURL, after.IconURL},
	} {
		if field.from != field.to {
			all = append(all, audit.Change{Field: field.name, From: field.from, To: field.to})
		}
	}
	return all
}

// Missing is the answer to an unknown collection id.
func Missing() *apierr.Error { return apierr.Missing("collection") }
