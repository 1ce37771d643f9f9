// Package collection stores a team's collections: named groups of documents. A
// collection is also a data source: keys can be restricted to its id.
package collection

import (
	"context"
	"strings"
	"time"
	"unicode"

	"docent/shared/access"
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

// Fields are the fields of a collection that a caller chooses. Requests, replies,
// stored items and events all take them from this struct. Optional fields have
// omitempty.
type Fields struct {
	Name        string `json:"name" minLength:"1" maxLength:"32" doc:"A brief identifier."`
	Description string `json:"description" minLength:"1" maxLength:"4096" doc:"One sentence on the kind of document."`
	IconURL     string `json:"iconUrl,omitempty" minLength:"1" maxLength:"2048" doc:"Absolute http(s) URL of a square image."`
}

// check returns an *apierr.Error if a field breaks a rule that no schema can express. before is empty for a new
// collection. A name that is stored may have control characters, which earlier versions took.
func (f Fields) check(before Fields) error {
	if f.Name != before.Name && strings.ContainsFunc(f.Name, unicode.IsControl) {
		return apierr.BadField("/name", "must not contain control characters")
	}
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
	// DefaultAccess decides about documents that have no rule of their own; nil:
	// everyone reads them.
	DefaultAccess *access.Rule `json:"defaultAccess,omitempty"`
	CreatedAt     time.Time    `json:"-"`
	Version       int64        `json:"-"` // increases with every change
}

// Service holds the rules of collections.
type Service struct {
	Table  table.Store
	Events *audit.Log  // nil: nothing is recorded
	Work   queue.Queue // the document queue, for the removal of a collection's documents
	Now    func() time.Time
	NewID  func() string // time-ordered UUIDs, so that the order of ids is the order of creation
	// Contents returns the number of documents of a collection, for the event of its
	// deletion, and whether reader may read them all; nil: the event has no count.
	Contents func(ctx context.Context, teamID string, c Collection, reader access.Reader) (documents int64, readable bool, err error)
	// KeepRule returns what stores the default rule of a collection that is deleted, so that it still holds for answers
	// that were made from its documents; nil: it is forgotten.
	KeepRule func(teamID, id string, rule *access.Rule) []table.Op
	// Warn logs that a message could not be sent. The sweeper sends it again,
	// because the work is pending.
	Warn func(w pending.Work, err error)
}

func newEvent(kind audit.Type, c Collection) audit.Event {
	return audit.Event{Type: kind, Targets: []audit.Target{{Type: audit.TargetCollection, ID: c.ID, DisplayName: c.Name}}}
}

// Missing returns the error for an unknown collection id.
func Missing() *apierr.Error { return apierr.Missing("collection") }
