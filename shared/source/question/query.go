package question

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"docent/shared/apierr"
	"docent/shared/document"
	"docent/shared/filter"
	"docent/shared/search"
	"docent/shared/source"
)

// Bounds of a query.
const (
	MaxQueryLimit = 200
	MaxMany       = 50      // projects or labels of a request
	maxScanned    = 5000    // items of a source checked by a query without text, newest first
	maxScannedAll = 50_000  // the same, of all sources
	maxReadAll    = 100_000 // items of all sources read for that, with those that the caller may not read
	maxContent    = 4000    // characters of the content of a record
)

// RecordQuery is a query for issues or pull requests.
type RecordQuery struct {
	Text   string
	Filter Filter         // fields of the request; they override filters in Text
	Where  *filter.Filter // selects among them by metadata and facts
	Limit  int            // 1 to MaxQueryLimit
}

// Record is an issue or pull request that a query found.
type Record struct {
	Source
	Entry document.Entry // with its facts
}

// RecordResults is what a query found, and how it understood the question.
type RecordResults struct {
	Records []Record
	Filter  Filter
	Text    string // the text ranked by; empty: everything that the filter selects
}

// Query returns the issues or pull requests that fit a question, which may contain
// filters. If text is left to rank by, it checks the best 200 passages, comments
// included, or up to 5,000 for a filter on facts; otherwise the 5,000 newest items of each
// source, and fewer of each if more than ten sources have as many.
func (s *Service) Query(ctx context.Context, teamID string, c Caller, space search.Space, q RecordQuery) (RecordResults, error) {
	understood, text := Interpret(q.Text, space, s.Now())
	f := q.Filter.over(understood)
	out := RecordResults{Filter: f, Text: text}
	user := names(f.User)
	if f.User == Me {
		if c.UserName == "" {
			return out, apierr.New(apierr.Invalid, apierr.CodeInvalidRequest,
				"The query refers to the caller, but a team key has no user. Use a personal key or name the user.")
		}
		user = names(c.UserName)
	}
	keep := func(e document.Entry) bool {
		return e.Facts != nil && !e.Facts.Comment && e.Facts.Space == space && f.matches(e, user) && q.Where.Match(e.Attributes())
	}
	if text != "" {
		ranked, err := s.ranking(ctx, teamID, c, space, text, keep, q, f.Sort, &out)
		if err != nil || ranked {
			return out, err
		}
		out.Text = "" // it has no term to search for
	}
	var err error
	out.Records, err = s.scan(ctx, teamID, c, space, keep, q.Limit, f)
	return out, err
}

// ranking finds the threads that fit text best and that keep accepts. A comment
// represents its thread. It returns false if text has no term to search for.
func (s *Service) ranking(ctx context.Context, teamID string, c Caller, space search.Space, text string, keep func(document.Entry) bool, q RecordQuery, order Order, out *RecordResults) (bool, error) {
	sought := q.Limit
	if order != "" && order != ByRelevance {
		sought = MaxQueryLimit // they are sorted afterwards
	}
	rejected := map[string]bool{} // by uri
	choose := func(t search.Text) search.Choice {
		e, ok := t.Record.(document.Entry)
		switch {
		case !ok || e.Facts == nil || e.Facts.Space != space:
			return search.Exclude
		case e.Facts.Comment:
			return search.IncludeUncounted
		case keep(e):
			return search.Include
		}
		rejected[e.URI] = true
		return search.Exclude
	}
	result, shelves, err := s.find(ctx, teamID, search.Query{Text: text, Sources: c.Sources, Reader: c.Reader, Spaces: []search.Space{space}, Limit: sought,
		Filter: q.Where.WithoutFacts(), Choose: choose, Widen: q.Where.NamesFact()}) // its facts are those of the thread, which a comment lacks
	if err != nil || !result.HasTerms {
		return false, err
	}
	records, err := s.threads(ctx, teamID, c, result.Hits, shelves, rejected, keep)
	if err != nil {
		return false, err
	}
	sortRecords(records, order)
	out.Records = records[:min(q.Limit, len(records))]
	return true, nil
}

// scan returns the items of a space that keep accepts, without ranking them.
func (s *Service) scan(ctx context.Context, teamID string, c Caller, space search.Space, keep func(document.Entry) bool, limit int, f Filter) ([]Record, error) {
	shelves, err := s.Sources.Shelves(ctx, teamID)
	if err != nil {
		return nil, err
	}
	connected := slices.DeleteFunc(readable(c, shelves), func(id string) bool {
		return shelves[id].Provider == source.Custom // documents are neither issues nor pull requests
	})
	found := newest{limit: limit, order: cmp.Or(f.Sort, ByCreated)}
	if found.order == ByRelevance {
		found.order = ByCreated
	}
	toScan, toRead := maxScannedAll, maxReadAll
	for i, id := range connected {
		left := len(connected) - i // sources that share what is left
		kept, scanned, read := 0, 0, 0
		for e, err := range s.Documents.Items(ctx, teamID, id, space, false) {
			if err != nil {
				return nil, err
			}
			if read == toRead/left {
				break
			}
			read++
			if !c.mayRead(e, shelves) {
				continue // and does not count: nobody learns how much others may read
			}
			if scanned == min(maxScanned, toScan/left) || found.order == ByCreated && kept == limit || e.CreatedAt.Before(f.Created.After) {
				break // those that follow were created earlier
			}
			scanned++
			if keep(e) {
				found.add(e)
				kept++
			}
		}
		toScan, toRead = toScan-scanned, toRead-read
	}
	return s.recordsOf(ctx, teamID, c, space, keep, shelves, found.all())
}

// recordsOf returns the records of entries as they are now.
func (s *Service) recordsOf(ctx context.Context, teamID string, c Caller, space search.Space, keep func(document.Entry) bool, shelves map[string]source.Shelf, entries []document.Entry) ([]Record, error) {
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	found, err := s.Documents.Find(ctx, teamID, ids, true)
	if err != nil {
		return nil, err
	}
	records := make([]Record, 0, len(entries))
	for _, e := range entries {
		d, ok := found[e.ID]
		if !ok || d.CollectionID != e.CollectionID || !keep(d.Entry) || !c.mayRead(d.Entry, shelves) {
			continue // removed or changed since it was listed
		}
		records = append(records, recordOf(d, space, shelves))
	}
	return records, nil
}

// newest keeps the first entries of an order, and at most twice as many as are wanted: many sources have a lot more.
type newest struct {
	limit   int
	order   Order
	entries []document.Entry
}

func (n *newest) add(e document.Entry) {
	if n.entries = append(n.entries, e); len(n.entries) == 2*n.limit {
		n.entries = n.all()
	}
}

// all returns the entries in their order.
func (n *newest) all() []document.Entry {
	sortEntries(n.entries, n.order)
	return slices.Delete(n.entries, min(n.limit, len(n.entries)), len(n.entries)) // and forgets the others
}

func sortRecords(records []Record, order Order) {
	if order == "" || order == ByRelevance {
		return
	}
	slices.SortStableFunc(records, func(a, b Record) int { return compareEntries(a.Entry, b.Entry, order) })
}

func sortEntries(entries []document.Entry, order Order) {
	slices.SortStableFunc(entries, func(a, b document.Entry) int { return compareEntries(a, b, order) })
}

// compareEntries sorts the newest first.
func compareEntries(a, b document.Entry, order Order) int {
	at := func(e document.Entry) time.Time {
		if order == ByUpdated {
			return e.UpdatedAt
		}
		return e.CreatedAt
	}
	return cmp.Or(at(b).Compare(at(a)), strings.Compare(a.ID, b.ID))
}

// clipContent returns the first maxContent characters of a text.
func clipContent(text string) string {
	if utf8.RuneCountInString(text) <= maxContent {
		return strings.TrimSpace(text)
	}
	var b bytes.Buffer
	n := 0
	for _, r := range text {
		if n++; n > maxContent {
			break
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}
