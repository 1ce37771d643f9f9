package question

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"docent/shared/filter"
	"docent/shared/search"
	"docent/shared/source"
)

// Bounds of the context operations.
const (
	MaxQuery       = 10000 // Unicode code points
	MaxSearchLimit = 50
	DefaultLimit   = 10 // of a search
)

// Source is a piece of content that an operation found.
type Source struct {
	Content    string `json:"content"`
	Title      string `json:"title"`
	URL        string `json:"url"`
	SourceType string `json:"sourceType"`
	Provider   string `json:"provider"`

	Explanation *search.Explanation `json:"explanation,omitempty" doc:"Why it is where it is, if the request asks to explain."`
}

// Question is a search request.
type Question struct {
	Text        string
	Instruction string         // affects ranking only, not what is searched
	Limit       int            // 0: DefaultLimit
	Explain     bool           // sets Source.Explanation
	Filter      *filter.Filter // nil: everything
	Listener    Listener
}

// Listener receives what is known of a Research before its end. Its functions may be nil; they are
// called one after the other.
type Listener struct {
	Found func([]Source)
	// Written receives the part of the answer that the model has written so far, and the URLs of
	// the documents that it cites.
	Written func(markdown string, urls []string)
}

// onePage is how many documents one search finds without reading more.
const onePage = 24

// Search returns the content in spaces that fits q best and that the caller may
// read, best first. No spaces means all. Further hits of the same issue or pull
// request with its comments follow after everything else.
func (s *Service) Search(ctx context.Context, teamID string, c Caller, q Question, spaces []search.Space) ([]Source, error) {
	limit := cmp.Or(q.Limit, DefaultLimit)
	result, shelves, err := s.find(ctx, teamID, search.Query{Text: q.Text, Instruction: q.Instruction, Limit: max(limit, onePage), Explain: q.Explain, Sources: c.Sources, Reader: c.Reader, Spaces: spaces, Filter: q.Filter})
	if err != nil {
		return nil, err
	}
	hits := threadsFirst(result.Hits)
	return sourcesOf(listed(hits[:min(limit, len(hits))], shelves), shelves), nil
}

// find searches and, in parallel, reads the team's data sources.
func (s *Service) find(ctx context.Context, teamID string, q search.Query) (search.Result, map[string]source.Shelf, error) {
	var shelves map[string]source.Shelf
	group, gctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		shelves, err = s.Sources.Shelves(gctx, teamID)
		return err
	})
	result, err := s.Index(gctx, teamID, q)
	if failed := group.Wait(); failed != nil {
		return result, nil, failed
	}
	return result, shelves, err
}

// listed returns the hits whose data source was not deleted between the two reads.
func listed(hits []search.Hit, shelves map[string]source.Shelf) []search.Hit {
	return slices.DeleteFunc(slices.Clone(hits), func(h search.Hit) bool { _, ok := shelves[h.Source]; return !ok })
}

// sourcesOf returns hits from shelves as sources.
func sourcesOf(hits []search.Hit, shelves map[string]source.Shelf) []Source {
	out := make([]Source, 0, len(hits))
	for _, h := range hits {
		out = append(out, Source{Content: h.Content(), Title: h.Title, URL: h.Address(), SourceType: source.TypeOf(h.Space),
			Provider: string(shelves[h.Source].Provider), Explanation: h.Explanation})
	}
	return out
}

// readable returns the sorted ids of the data sources that the caller may read.
func readable(c Caller, shelves map[string]source.Shelf) []string {
	var ids []string
	for id := range shelves {
		if c.mayUse(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
