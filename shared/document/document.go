// Package document keeps a team's documents: titled texts, each identified by a
// URI that is unique in the team, in one collection. The record here is the
// truth about a document; what search finds is checked against it.
//
// An item of a connected source (an issue, a message, a page) is a document too:
// it is stored, indexed and removed the same way, and carries Facts. CollectionID
// is then the id of its source. The lists and single reads of documents leave
// items out; Read, Find and Items show them.
package document

import (
	"context"
	"time"

	"github.com/google/uuid"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/table"
)

// Bounds of a document. Lengths count Unicode code points.
const (
	MaxTitle = 1024
	MaxURI   = 2048
)

// Fields are the fields of a document, but its body, that a caller chooses. They are
// declared here only: requests, replies and events take them from this struct, and an
// entry stores each.
type Fields struct {
	CollectionID string `json:"collectionId" minLength:"1" doc:"The collection that the document is in."`
	Title        string `json:"title" minLength:"1" maxLength:"1024"`
	URI          string `json:"uri" minLength:"1" maxLength:"2048" doc:"Identifies the document in the team: an absolute URI, http, https, of another scheme that the README lists, or of a scheme with a dot in its name; without blanks, quotes, angle brackets, backslashes, control and bidirectional characters."`
}

// Entry is a document as lists show it.
type Entry struct {
	ID string
	Fields
	CreatedAt time.Time // milliseconds; of an item, what its provider says
	UpdatedAt time.Time // milliseconds; of an item, what its provider says
	Facts     *Facts    // of an item of a connected source; nil for a document of a collection
}

// Document is a document whole.
type Document struct {
	Entry
	Body     string
	Version  int64 // never used twice for one document
	Indexing Indexing
}

// Indexing tells whether the current version can be found.
type Indexing struct {
	State  State
	Code   string // of a failure, else empty
	Detail string // of a failure, else empty
}

// State is how far indexing is.
type State string

// The states of indexing.
const (
	Pending State = "pending"
	Indexed State = "indexed"
	Failed  State = "failed"
)

// ID is the id of the document that uri identifies in the team: a UUIDv5 (RFC
// 9562 section 5.5) whose namespace is the team's UUID and whose name is uri
// byte for byte.
func ID(teamID, uri string) (string, error) {
	namespace, err := uuid.Parse(teamID)
	if err != nil {
		return "", err
	}
	return uuid.NewSHA1(namespace, []byte(uri)).String(), nil
}

// Service holds the rules of documents.
type Service struct {
	Table  table.Store
	Events *audit.Log // nil: nothing is recorded
	Work   queue.Queue
	Now    func() time.Time
	Random func() uint16 // makes versions of one millisecond differ
	// SourceKey is where a source of the team lies, a collection or a connected one.
	SourceKey func(teamID, sourceID string) table.Key
	// Connected tells a connected source from a collection, by the item at SourceKey.
	Connected func(source table.Item) bool
	// Sources returns the ids of the team's sources of both kinds.
	Sources func(ctx context.Context, teamID string) ([]string, error)
	// Collections returns the ids of the team's collections.
	Collections func(ctx context.Context, teamID string) ([]string, error)
	// Warn is told of a message that could not be sent; the work is pending and
	// will be sent again.
	Warn func(w pending.Work, err error)
}

// Missing is the answer to an unknown document id.
func Missing() *apierr.Error { return apierr.Missing("document") }

func sourceNotAllowed() *apierr.Error {
	return apierr.New(apierr.Forbidden, apierr.CodeSourceNotAllowed,
		"This key may not use the collection of this document.")
}
