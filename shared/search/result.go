package search

import (
	"cmp"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/filter"
	"docent/shared/uri"
)

// Query is a question to the index.
type Query struct {
	Text        string
	Carried     Carried
	Reader      access.Reader // the person or key that asks; the zero Reader finds nothing
	Instruction string        // affects the order only, not what is found
	Sources     []string      // nil: every live source; otherwise these, if they are live
	Spaces      []Space       // nil: every space
	Limit       int           // documents; 0 means 10, at most 200
	Explain     bool          // sets Hit.Explanation
	// Filter leaves out documents before anything is ranked, as far as it is about metadata; nil includes all. If it
	// is about facts, which only records know, it widens the query.
	Filter *filter.Filter
	// Widen reads up to 5,000 of the best passages while fewer documents than Limit are chosen, instead of
	// about 200.
	Widen bool
	// Choose decides about each document of the best passages, one after the other: those of
	// about 200 passages, fewer if their bodies are long, or more with Widen. nil includes all.
	Choose func(Text) Choice
}

// meaning returns the text whose vector is compared.
func (q Query) meaning() string { return cmp.Or(q.Carried.Meaning, q.Text) }

// Carried is what a question takes over from those before it. The zero Carried is nothing.
type Carried struct {
	Words   string  // the end of Query.Text
	Weight  float64 // of a word there, up to 1, if some passage contains a word of the question itself; else they count in full
	Meaning string  // whose vector is compared instead of that of Query.Text; empty: none
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
	Page       int     // of the file at URI that the passage is on, if a fragment leads there; 0: none
	Heading    string  // heading path of the passage, "A > B"
	Passage    string  // its text in the body
	Score      float64 // orders hits of one profile
	Normalised float64 // Score divided by the question's max score, joined with the cosine of vectors if there are any; may slightly exceed 1
	Record     any     // Text.Record
	Restricted bool    // a rule decides who may read it
	Confidence float64 // that the passage answers the question; an answer needs at least Threshold

	Explanation *Explanation // with Query.Explain, in Result.Hits

	opening   string  // Passage.Opening
	before    string  // the text before the passage, as far as it was read with it
	fromStart bool    // before is all of it
	after     string  // the text after the passage, as far as it was read with it
	words     float64 // Normalised without the cosine
	meant     float64 // the part of Normalised that the cosine gives
	ranking   *ranking
	passages  []*verified // of the document, best first; in Result.Hits
}

// Address returns the URI of the document, or that of the page of the file that the passage is on.
func (h Hit) Address() string { return uri.AtPage(h.URI, h.Page) }

// Result is the result of a Search.
type Result struct {
	Hits     []Hit // documents, best first
	Best     []Hit // passages, best first, without content; several may be of one document
	Passages int   // number of passages that the caller may read
	HasTerms bool  // the question had terms
}

// Answer is a quoted answer, or a text that says that nothing was found.
type Answer struct {
	Markdown   string
	References []Reference // one per quoted document, in order of the first quotation
	Closest    []Hit       // documents that Markdown names where nothing was found
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
