// Package document stores a team's documents: titled texts, each in one collection
// and identified by a URI that is unique in the team. The record here is
// authoritative; search checks its hits against it.
//
// An item of a connected source (an issue, a message, a page) is a document with
// Facts: it is stored, indexed and removed the same way. Its CollectionID is the id
// of its source. Get and List leave items out; Read, Find and Items return them.
package document

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/blob"
	"docent/shared/filter"
	"docent/shared/pause"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/table"
)

// Bounds of a document. Lengths count Unicode code points.
const (
	MaxTitle = 1024
	MaxURI   = 2048
)

// Fields are the fields of a document that a caller chooses, except the body.
// Requests, replies and events all take them from this struct, and an entry stores
// each.
type Fields struct {
	CollectionID string `json:"collectionId" minLength:"1" doc:"The collection that the document is in."`
	Title        string `json:"title" minLength:"1" maxLength:"1024"`
	URI          string `json:"uri" minLength:"1" maxLength:"2048" doc:"Identifies the document in the team: an absolute URI, http, https, of another scheme that the README lists, or of a scheme with a dot in its name; without blanks, quotes, angle brackets, backslashes, control and bidirectional characters."`
	// MediaType is the media type of the file that the document is made from; empty: it is text.
	MediaType string `json:"mediaType,omitempty" enum:"application/pdf,application/vnd.openxmlformats-officedocument.wordprocessingml.document,application/vnd.openxmlformats-officedocument.spreadsheetml.sheet,application/vnd.openxmlformats-officedocument.presentationml.presentation,text/x-rst" doc:"The kind of file that the document is made from: PDF, DOCX, XLSX, PPTX or reStructuredText. Absent: plain text or Markdown."`
	// Metadata are the values that filters select by.
	Metadata filter.Metadata `json:"metadata,omitempty"`
}

// equal reports whether f and g are the same.
func (f Fields) equal(g Fields) bool {
	return f.CollectionID == g.CollectionID && f.Title == g.Title && f.URI == g.URI && f.MediaType == g.MediaType && f.Metadata.Equal(g.Metadata)
}

// changes returns what differs between two versions, for an event. It does not repeat metadata, which may be long
// and of people. Of a hidden document it repeats only what says nothing about the text.
func (f Fields) changes(g Fields, hidden bool) []audit.Change {
	all := audit.Changes(f, g)
	for i, c := range all {
		plain := c.Field == "collectionId" || c.Field == "mediaType"
		if c.Field == "metadata" || hidden && !plain {
			all[i] = audit.RedactedChange(c.Field)
		}
	}
	return all
}

// Entry is a document as lists show it.
type Entry struct {
	ID string
	Fields
	CreatedAt time.Time // in milliseconds; for an item, the provider's time
	UpdatedAt time.Time // in milliseconds; for an item, the provider's time
	Facts     *Facts    // nil: a document of a collection
	// Access says who may read it; nil: the default rule of its source decides.
	Access   *access.Rule
	Original *Original // nil: it was put as text
}

// isRestricted reports whether only some people may read e, in a source with the default rule byDefault.
func (e Entry) isRestricted(byDefault *access.Rule) bool { return e.Access != nil || byDefault != nil }

// Document is a document with its body.
type Document struct {
	Entry
	Body     string // of a file, its text as Markdown, page after page; empty until it is read
	Version  int64  // unique among the versions of a document
	Indexing Indexing

	reserved int64 // bytes of memory for Body
}

// Indexing says whether search finds the current version.
type Indexing struct {
	State   State
	Meaning MeaningState // empty: search is by words alone, or indexing has failed
	Code    string       // of a failure; otherwise empty
	Detail  string       // of a failure; otherwise empty
	Notes   []string     // what was left out of the text of a file, such as a page that is a picture
}

// MeaningState says whether search finds the current version by its meaning.
type MeaningState string

// The states of indexing by meaning. It follows indexing by words.
const (
	MeaningPending MeaningState = "pending"
	MeaningDone    MeaningState = "done"
)

// State is the state of indexing.
type State string

// The states of indexing.
const (
	Extracting State = "extracting" // the text of a file is being read
	Pending    State = "pending"
	Indexed    State = "indexed"
	Failed     State = "failed"
)

// ID returns the id of the document with this uri: a UUIDv5 (RFC 9562 section 5.5)
// with the team's UUID as its namespace and the bytes of uri as its name.
func ID(teamID, uri string) (string, error) {
	namespace, err := uuid.Parse(teamID)
	if err != nil {
		return "", err
	}
	return uuid.NewSHA1(namespace, []byte(uri)).String(), nil
}

// Service holds the rules of documents. It must not be copied.
type Service struct {
	Table  table.Store
	Events *audit.Log // nil: nothing is recorded
	Blobs  blob.Store // keeps original files
	Work   queue.Queue
	// Extractions is the queue of files whose text is to be read. If it is nil, the sweeper sends them.
	Extractions queue.Queue
	Now         func() time.Time
	Random      func() uint16 // makes versions of one millisecond differ
	NewID       func() string // makes the ids of uploads: UUIDs
	// Meaning says that documents get vectors after they were indexed by their words.
	Meaning bool
	// SourceKey returns the key of a source of the team, a collection or a connected one.
	SourceKey func(teamID, sourceID string) table.Key
	// Connected reports whether the item at a SourceKey is a connected source.
	Connected func(source table.Item) bool
	// DefaultAccess returns the rule for documents of the source at a SourceKey that have
	// none of their own.
	DefaultAccess func(source table.Item) *access.Rule
	// Sources returns the team's sources of both kinds with their DefaultAccess.
	Sources func(ctx context.Context, teamID string) (map[string]*access.Rule, error)
	// Collections returns the team's collections with their DefaultAccess.
	Collections func(ctx context.Context, teamID string) (map[string]*access.Rule, error)
	// Warn logs that a message could not be sent. The sweeper sends it again,
	// because the work is pending.
	Warn func(w pending.Work, err error)
	// Fallible says that the table may have damaged items. A put of the same content then reads the stored one, and stores it
	// again if it is damaged.
	Fallible bool
	// OnDamage, if set, receives what is damaged where documents are searched and listed, once an hour for each document. It is
	// left out.
	OnDamage func(ctx context.Context, d *table.DamagedError)

	chunks    chunkCache
	reported  pause.Seldom // see OnDamage
	dropsMark sync.Mutex   // held while a damaged mark of a removal is dropped
}

// Missing returns the error for an unknown document id.
func Missing() *apierr.Error { return apierr.Missing("document") }

// notWritable is the error for replacing what the caller may not read, and for a person who
// replaces an item of a connected source. It says no more than that: neither what it is nor where.
func notWritable() *apierr.Error {
	return apierr.New(apierr.Forbidden, apierr.CodeAccessDenied,
		"You may not write to this URI. A team key that acts for nobody may: ask an administrator of your team for it.")
}

func sourceNotAllowed() *apierr.Error {
	return apierr.New(apierr.Forbidden, apierr.CodeSourceNotAllowed,
		"This key may not use the collection of this document. Use a key that may.")
}
