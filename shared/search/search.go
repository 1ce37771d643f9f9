// Package search finds passages in a team's documents and quotes them. It cuts
// bodies into passages, keeps them in immutable segments (one blob each, listed
// in the table), ranks them for a question and builds the quoted answer.
//
// The documents themselves belong to package document: every hit is checked
// against the current record when the question is asked, so a segment may speak
// of documents that are gone, and nothing stale is ever returned.
package search

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/google/uuid"

	"docent/shared/blob"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/search/lru"
	"docent/shared/search/segment"
	"docent/shared/search/text"
	"docent/shared/table"
)

// Space is the kind of content that a document holds. It fixes the profile by
// which the document is analysed and ranked.
type Space string

// The spaces.
const (
	Documentation Space = "documentation"
	Messages      Space = "messages"
	Code          Space = "code"
	PRs           Space = "prs"
	Issues        Space = "issues"
)

// Spaces lists every space.
var Spaces = []Space{Documentation, Messages, Code, PRs, Issues}

// Ref names one chunk of one version of a document. Chunk 0 is a body that lies in
// its record (neither bit of STARTS); the chunks of a longer body count from 1.
type Ref struct {
	Document uuid.UUID
	Version  int64
	Chunk    int
}

// Text is what a Ref stands for now.
type Text struct {
	Document uuid.UUID
	Version  int64
	Source   string
	Title    string
	URI      string
	Body     string         // of the chunk, or the whole of a body that lies in its record
	Passages []text.Passage // offsets relative to Body
	First    int            // number, within the document, of the first of Passages
	Record   any            // what else the corpus knows of the document, for Query.Choose
}

// Document is one current document, whole, to be indexed.
type Document struct {
	ID      uuid.UUID
	Version int64
	Source  string
	Space   Space
	Title   string
	Body    string
	Chunks  []text.Chunk // nil: Cut(Body)
}

// Corpus is the truth about documents. Every method is strongly consistent.
type Corpus interface {
	// Texts reads the current record and the chunk of each ref in one round trip.
	// A ref is absent from the result when its document is missing, is current in
	// another version, or its source is not live.
	Texts(ctx context.Context, teamID string, refs []Ref) (map[Ref]Text, error)
	// Current returns the current version of each document; a missing one is absent.
	Current(ctx context.Context, teamID string, documents []uuid.UUID) (map[uuid.UUID]int64, error)
	// Sources returns the ids of the team's live sources.
	Sources(ctx context.Context, teamID string) ([]string, error)
	// List returns up to limit documents of a space of a source, in the order of their
	// places, from the first one after a place; none at the end.
	List(ctx context.Context, teamID, source string, space Space, after string, limit int) ([]Listed, error)
	// Read yields, in the order of ids, the documents that exist, each whole. It stops at
	// the first error, and holds a few megabytes at a time however long they are.
	Read(ctx context.Context, teamID string, ids []uuid.UUID) iter.Seq2[Document, error]
	// Waiting returns those of versions that are still to be indexed by whoever put them.
	Waiting(ctx context.Context, teamID string, versions map[uuid.UUID]int64) (map[uuid.UUID]bool, error)
}

// Listed is a document in the list of its source.
type Listed struct {
	Document uuid.UUID
	Place    string
}

// Index is the search index of all teams. Its methods are safe for concurrent use.
type Index struct {
	Table  table.Store
	Blobs  blob.Store
	Corpus Corpus
	Now    func() time.Time
	NewID  func() string // unique, of letters, digits and '-'; in order of time, as UUID v7 is
	// CacheBytes bounds what is kept in memory of segments, whole ones and parts of
	// those that are read by range; 0 means 64 MiB. A quarter more goes to passages
	// that have been analysed.
	CacheBytes int64
	// Fault, when set, is told of what a call left out because it is damaged or
	// missing. Such a segment stays out until it has been rebuilt.
	OnFault func(ctx context.Context, err error)
	// Rebuilds takes the work of rebuilding; nil: it stays pending for the sweeper to send.
	Rebuilds queue.Queue
	// Warn, when set, is told of a message that could not be sent; the sweeper sends it.
	Warn func(w pending.Work, err error)

	rangedFrom int // over so many bytes a query reads a segment by range; 0 means the constant

	once     sync.Once
	cache    *segment.Cache
	analyses *lru.Cache[analysisKey, analysed]
}
