package search

import "github.com/google/uuid"

// Query is what is asked.
type Query struct {
	Text        string
	Instruction string   // re-orders what was found; never adds to it
	Sources     []string // nil: every live source; else only these, as far as they are live
	Spaces      []Space  // nil: every space
	Limit       int      // documents; 0 means 10, at most 200
	// Choose tells which of the best passages come, by their documents: of 200 that
	// lie in their records, of fewer long ones; nil: all do. It is called for one after the other.
	Choose func(Text) Choice
}

// Choice is what becomes of a document that was found.
type Choice int

// The choices.
const (
	Exclude          Choice = iota // it does not come
	IncludeUncounted               // it comes, and does not count towards Limit
	Include
)

// Hit is one document by its best passage, or in Result.Best one passage.
type Hit struct {
	Document   uuid.UUID
	Version    int64
	Source     string
	Space      Space
	Title      string
	URI        string
	Heading    string  // heading path of the passage, "A > B"
	Passage    string  // its text as it stands in the body
	Content    string  // heading path and passage, then further matching passages in reading order, at most 4,000 characters
	Score      float64 // what orders hits of one profile
	Normalised float64 // Score by the highest that the question could reach; may pass 1 by a little
	Record     any     // Text.Record
	Confidence float64 // how surely the passage answers: from Threshold on it counts as an answer

	opening string // Passage.Opening
	ranking *ranking
}

// Result is what a Search found.
type Result struct {
	Hits     []Hit // documents, best first
	Best     []Hit // passages, best first, without Content; several may be of one document
	Passages int   // how many passages the caller may read
	HasTerms bool  // the question had terms
}

// Answer is a quoted answer, or the sentence that says that nothing was found.
type Answer struct {
	Markdown   string
	References []Reference // one a quoted document, in order of first quote
	Found      bool
}

// Reference is a document that an answer quotes.
type Reference struct{ URL, Title string }

// Report is what Check found.
type Report struct {
	Segments  int      // that were read
	Passages  int      // in them
	Documents int      // in them
	Stale     int      // documents in them that are gone or have another version
	Damaged   []string // ids of segments that can not be read, with the reason

	Current map[uuid.UUID]int64 `json:"-"` // the versions in them that are current
}
