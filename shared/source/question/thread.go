package question

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"docent/shared/document"
	"docent/shared/search"
	"docent/shared/source"
)

// A thread is an issue or pull request with the comments on it, which are documents
// of their own under its address with a fragment.

// commentShare is what the score of a comment counts beside that of an issue: its
// title is not its own.
const commentShare = 0.9

// maxThreads bounds those that a query reads because a comment was found.
const maxThreads = 100

func isComment(h search.Hit) bool {
	e, ok := h.Record.(document.Entry)
	return ok && e.Facts != nil && e.Facts.Comment
}

// threadOf is the address of what a hit is or is about.
func threadOf(h search.Hit) string {
	if !isComment(h) {
		return h.URI
	}
	about, _, _ := strings.Cut(h.URI, "#")
	return about
}

// ranked orders hits, best first, comments at their share.
func ranked(hits []search.Hit) []search.Hit {
	score := func(h search.Hit) float64 {
		if isComment(h) {
			return h.Normalised * commentShare
		}
		return h.Normalised
	}
	slices.SortStableFunc(hits, func(a, b search.Hit) int { return cmp.Compare(score(b), score(a)) })
	return hits
}

// threadsFirst orders hits, best first, and puts what is of a thread that has come
// before behind everything else.
func threadsFirst(hits []search.Hit) []search.Hit {
	first, more := make([]search.Hit, 0, len(hits)), []search.Hit(nil)
	seen := map[string]bool{}
	for _, h := range ranked(hits) {
		thread := threadOf(h)
		if seen[thread] {
			more = append(more, h)
			continue
		}
		seen[thread] = true
		first = append(first, h)
	}
	return append(first, more...)
}

// threads are the issues or pull requests that hits are or are about, each once. Those
// that only a comment on them led to are read.
func (s *Service) threads(ctx context.Context, teamID string, hits []search.Hit, providers map[string]source.ProviderName, refused map[string]bool, keep func(document.Entry) bool) ([]Record, error) {
	at := map[string]search.Hit{} // of a comment, by the address of what it is about
	itself := map[string]bool{}
	for _, h := range hits {
		if !isComment(h) {
			itself[h.URI] = true
		}
	}
	var missing []string
	for _, h := range ranked(hits) {
		thread := threadOf(h)
		if _, known := at[thread]; known || !isComment(h) || itself[thread] || refused[thread] || len(missing) == maxThreads {
			continue
		}
		id, err := document.ID(teamID, thread)
		if err != nil {
			return nil, fmt.Errorf("team id: %w", err)
		}
		at[thread], missing = h, append(missing, id)
	}
	var read map[string]document.Found
	if len(missing) > 0 {
		var err error
		if read, err = s.Documents.Find(ctx, teamID, missing, true); err != nil {
			return nil, err
		}
	}
	about := map[string]Record{}
	for _, d := range read {
		if h := at[d.URI]; h.Source == d.CollectionID && keep(d.Entry) {
			about[d.URI] = recordOf(d, h.Space, providers)
		}
	}
	var records []Record
	seen := map[string]bool{}
	for _, h := range hits {
		thread := threadOf(h)
		if seen[thread] {
			continue
		}
		if !isComment(h) {
			seen[thread] = true
			for _, source := range sourcesOf([]search.Hit{h}, providers) {
				records = append(records, Record{source, h.Record.(document.Entry)}) //nolint:forcetypeassert // chosen for it
			}
			continue
		}
		if itself[thread] {
			continue // it comes in its own place
		}
		seen[thread] = true
		if r, ok := about[thread]; ok && r.Provider != "" {
			records = append(records, r)
		}
	}
	return records, nil
}

func recordOf(d document.Found, space search.Space, providers map[string]source.ProviderName) Record {
	return Record{Source{Content: begin(d.Excerpt), Title: d.Title, URL: d.URI,
		SourceType: source.TypeOf(space), Provider: string(providers[d.CollectionID])}, d.Entry}
}
