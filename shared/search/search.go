// Package search finds passages in a team's documents and quotes them. It cuts
// bodies into passages, keeps them in immutable segments (one blob each, listed
// in the table), ranks them for a question and builds the quoted answer.
//
// The documents themselves belong to package document: every hit is checked
// against the current record when the question is asked, so a segment may contain
// deleted documents, and a stale one is never returned.
package search

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/blob"
	"docent/shared/embed"
	"docent/shared/filter"
	"docent/shared/pause"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/search/segment"
	"docent/shared/search/sieve"
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

// Ref names a chunk of a version of a document. Chunk 0 is a body stored in its record.
// The chunks of a longer body count from 1.
type Ref struct {
	Document uuid.UUID
	Version  int64
	Chunk    int
}

// Text is the current content of a Ref.
type Text struct {
	Document uuid.UUID
	Version  int64
	Source   string
	Title    string
	URI      string
	Body     string         // of the chunk, or the whole body if it is in its record
	Passages []text.Passage // offsets relative to Body
	First    int            // number, within the document, of the first of Passages
	Access   *access.Rule   // of the document; nil: the default rule of its source decides
	Paged    bool           // a fragment of URI leads to a page, as in a PDF

	Attributes filter.Attributes // of the document, which Query.Filter decides by
	Record     any               // the corpus's record of the document, for Query.Choose
}

// Document is a whole current document that is indexed.
type Document struct {
	ID      uuid.UUID
	Version int64
	Source  string
	Space   Space
	Title   string
	Body    string
	Chunks  []text.Chunk // of a body that is stored in chunks; nil: Cut(Body)
	Access  *access.Rule // nil: the default rule of its source decides

	Metadata filter.Metadata
}

// inChunks reports whether the body is stored in chunks and not in the document's record.
func (d Document) inChunks() bool { return d.Chunks != nil || len(d.Body) > text.InlineBytes }

// Corpus has the current documents. Every method is strongly consistent.
type Corpus interface {
	// Texts reads the current record and the chunk of each ref in one round trip. The result
	// lacks a ref if its document is missing or has another current version, or if its source
	// is not live.
	Texts(ctx context.Context, teamID string, refs []Ref) (map[Ref]Text, error)
	// Current returns the current version of each document that exists.
	Current(ctx context.Context, teamID string, documents []uuid.UUID) (map[uuid.UUID]int64, error)
	// Sources returns the team's live sources by id, each with the rule for documents
	// that have none of their own; nil: it has no such rule.
	Sources(ctx context.Context, teamID string) (map[string]*access.Rule, error)
	// List returns up to limit documents of a space of a source, in order of their
	// places, starting after a place. It returns none at the end.
	List(ctx context.Context, teamID, source string, space Space, after string, limit int) ([]Listed, error)
	// Read yields the documents that exist, whole and in the order of ids. It stops at
	// the first error, and keeps only a few megabytes in memory.
	Read(ctx context.Context, teamID string, ids []uuid.UUID) iter.Seq2[Document, error]
	// Waiting returns the documents among versions that are put but not yet indexed by their
	// words, or, if meaning, not yet by their words and vectors.
	Waiting(ctx context.Context, teamID string, versions map[uuid.UUID]int64, meaning bool) (map[uuid.UUID]bool, error)
}

// Listed is a document in the list of its source.
type Listed struct {
	Document uuid.UUID
	Place    string
}

// DefaultCacheBytes is the bound of an Index that names none.
const DefaultCacheBytes = 64 << 20

// Index is the search index of all teams. Its methods are safe for concurrent use.
type Index struct {
	Table  table.Store
	Blobs  blob.Store
	Corpus Corpus
	Now    func() time.Time
	NewID  func() string // unique, of letters, digits and '-', in order of time like UUID v7
	// CacheBytes bounds the memory for whole segments and for pages of large ones; 0 means
	// DefaultCacheBytes. Analysed passages may take a quarter of it in addition, at most
	// 64 MiB.
	CacheBytes int64
	// PartsBytes bounds the memory for what every query of a large segment needs, about 100 bytes a
	// passage with a vector; 0: CacheBytes bounds it too. A segment that needs more is opened by each query.
	PartsBytes int64
	// OnFault, if set, receives the error of each damaged or missing segment. Such a segment is
	// left out until it is rebuilt.
	OnFault func(ctx context.Context, err error)
	// Model names the vectors of this installation; without a name it has none.
	Model embed.Model
	// Embedder makes vectors by Model; nil: this program makes none, and searches by words alone.
	Embedder embed.Engine
	// Embeddings is the queue of rebuilds of vectors. If it is nil, the sweeper sends them.
	Embeddings queue.Queue
	// Rebuilds is the queue of the other rebuilds. If it is nil, the sweeper sends them.
	Rebuilds queue.Queue
	// Warn, if set, receives each message that could not be sent. The sweeper sends it
	// later.
	Warn func(w pending.Work, err error)
	// Parallel is how many clean-ups, and teams without a record of a blob, are handled at the same
	// time by Clean; 0: one.
	Parallel int

	rangedFrom int // size above which a query reads a segment by range; 0 means the constant

	embedder embedder
	repairs  pause.Seldom
	once     sync.Once
	cache    *segment.Cache
	analyses *sieve.Cache[analysisKey, analysed]
	admitted *sieve.Cache[admittedKey, *segment.Admitted]
}
