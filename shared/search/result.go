package search

import "github.com/google/uuid"

// Query is a question to the index.
type Query struct {
	Text        string
	Instruction string   // affects the order only, not what is found
	Sources     []string // nil: every live source; otherwise these, if they are live
	Spaces      []Space  // nil: every space
	Limit       int      // documents; 0 means 10, at most 200
	Explain     bool     // sets Hit.Explanation
	// Choose decides about each document of the best passages, one after the other: those of
	// about 200 passages, fewer if their bodies are long. nil includes all.
	Choose func(Text) Choice
}

// Choice says what to do with a document that was found.
type Choice int

// The choices.
const (
	Exclude          Choice = iota // leave it out
	IncludeUncounted               // it does not count towards Limit
	Include
)

// Hit is a document by its best passage, or in Result.Best a passage.
type Hit struct {
	Document   uuid.UUID
	Version    int64
	Source     string
	Space      Space
	Title      string
	URI        string
	Heading    string  // heading path of the passage, "A > B"
	Passage    string  // its text in the body
	Content    string  // heading path and passage, then further matching passages in reading order, at most 4,000 characters
	Score      float64 // orders hits of one profile
	Normalised float64 // Score divided by the question's max score, joined with the cosine of vectors if there are any; may slightly exceed 1
	Record     any     // Text.Record
	Confidence float64 // that the passage answers the question; an answer needs at least Threshold

	Explanation *Explanation // with Query.Explain, in Result.Hits

	opening string  // Passage.Opening
	words   float64 // Normalised without the cosine
	ranking *ranking
}

// Result is the result of a Search.
type Result struct {
	Hits     []Hit // documents, best first
	Best     []Hit // passages, best first, without Content; several may be of one document
	Passages int   // number of passages that the caller may read
	HasTerms bool  // the question had terms
}

// Answer is a quoted answer, or a text that says that nothing was found.
type Answer struct {
	Markdown   string
	References []Reference // one per quoted document, in order of the first quotation
	Found      bool
}

// Reference is a document that an answer quotes.
type Reference struct{ URL, Title string }

// Report is the result of Check.
type Report struct {
	Segments  int      // that were read, of postings and of vectors
	Vectors   int      // passages in segments of vectors, including those of stale documents
	Passages  int      // in them
	Documents int      // in them
	Stale     int      // documents in them that are deleted or have another version
	Damaged   []string // ids of segments that cannot be read, with the reason

	Current  map[uuid.UUID]int64 `json:"-"` // the versions in segments of postings that are current
	Embedded map[uuid.UUID]int64 `json:"-"` // the versions in segments of vectors that are current
}
