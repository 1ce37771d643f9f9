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
	maxRead       = 100_000 // items read for that, with those that the caller may not read
	maxScanned    = 5000    // items checked by a query without text, newest first
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
// included, or up to 5,000 for a filter on facts; otherwise the 5,000 newest items.
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
	order := cmp.Or(f.Sort, ByCreated)
	if order == ByRelevance {
		order = ByCreated
	}
	var all []document.Entry
	for _, id := range readable(c, shelves) {
		if shelves[id].Provider == source.Custom {
			continue // documents are neither issues nor pull requests
		}
		kept, scanned, read := 0, 0, 0
		for e, err := range s.Documents.Items(ctx, teamID, id, space, false) {
			if err != nil {
				return nil, err
			}
			if read++; read > maxRead {
				break
			}
			if !c.mayRead(e, shelves) {
				continue // and does not count: nobody learns how much others may read
			}
			scanned++
			if scanned > maxScanned || order == ByCreated && kept == limit || e.CreatedAt.Before(f.Created.After) {
				break // those that follow were created earlier
			}
			if keep(e) {
				all, kept = append(all, e), kept+1
			}
		}
	}
	sortEntries(all, order)
	all = all[:min(limit, len(all))]
	ids := make([]string, len(all))
	for i, e := range all {
		ids[i] = e.ID
	}
	found, err := s.Documents.Find(ctx, teamID, ids, true)
	if err != nil {
		return nil, err
	}
	records := make([]Record, 0, len(all))
	for _, e := range all {
		d, ok := found[e.ID]
		if !ok || d.CollectionID != e.CollectionID || !keep(d.Entry) || !c.mayRead(d.Entry, shelves) {
			continue // removed or changed since it was listed
		}
		records = append(records, recordOf(d, space, shelves))
	}
	return records, nil
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
