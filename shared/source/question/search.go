package question

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"docent/shared/search"
	"docent/shared/source"
)

// Bounds of the context operations, in Unicode code points and results.
const (
	MaxQuery       = 10000
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
}

// Question is what is searched for.
type Question struct {
	Text        string
	Instruction string // changes the order of what is found, never what is searched
	Limit       int    // 0: DefaultLimit
}

// onePage is how many documents come of what one search reads in any case.
const onePage = 24

// Search returns what fits q best in the spaces, all of them for nil, best first,
// among what the caller may read. Of an issue or pull request and its comments the
// best comes in its place, and more of them only where nothing else is left.
func (s *Service) Search(ctx context.Context, teamID string, c Caller, q Question, spaces []search.Space) ([]Source, error) {
	limit := cmp.Or(q.Limit, DefaultLimit)
	result, providers, err := s.find(ctx, teamID, search.Query{Text: q.Text, Instruction: q.Instruction, Limit: max(limit, onePage), Sources: c.Sources, Spaces: spaces})
	if err != nil {
		return nil, err
	}
	hits := threadsFirst(result.Hits)
	return sourcesOf(hits[:min(limit, len(hits))], providers), nil
}

// find searches and reads beside it which provider each data source has.
func (s *Service) find(ctx context.Context, teamID string, q search.Query) (search.Result, map[string]source.ProviderName, error) {
	var result search.Result
	var providers map[string]source.ProviderName
	group, gctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		result, err = s.Index(gctx, teamID, q)
		return err
	})
	group.Go(func() (err error) {
		providers, err = s.Sources.ProvidersByID(gctx, teamID)
		return err
	})
	return result, providers, group.Wait()
}

func sourcesOf(hits []search.Hit, providers map[string]source.ProviderName) []Source {
	out := make([]Source, 0, len(hits))
	for _, h := range hits {
		provider, ok := providers[h.Source]
		if !ok {
			continue // deleted between the two reads
		}
		out = append(out, Source{Content: h.Content, Title: h.Title, URL: h.URI, SourceType: source.TypeOf(h.Space), Provider: string(provider)})
	}
	return out
}

// readable are the ids of the data sources that the caller may read.
func readable(c Caller, providers map[string]source.ProviderName) []string {
	var ids []string
	for id := range providers {
		if c.mayRead(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
