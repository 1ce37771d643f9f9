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

// A thread is an issue or pull request with its comments. Each comment is a separate
// document, whose uri is that of the thread with a fragment.

// commentShare is the factor for the score of a comment, because its title is that
// of the thread.
const commentShare = 0.9

// maxThreads bounds the threads that a query reads because it found only comments.
const maxThreads = 100

func isComment(h search.Hit) bool {
	e, ok := h.Record.(document.Entry)
	return ok && e.Facts != nil && e.Facts.Comment
}

// threadOf returns the uri of a hit's thread.
func threadOf(h search.Hit) string {
	if !isComment(h) {
		return h.URI
	}
	about, _, _ := strings.Cut(h.URI, "#")
	return about
}

// ranked sorts hits, best first, with commentShare.
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

// threadsFirst sorts hits, best first, and moves every further hit of a thread to
// the end.
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

// threads returns the issues or pull requests of hits, each once, without those that
// are in rejected, that keep rejects, or that c may not read. It reads those of which only comments were
// found.
func (s *Service) threads(ctx context.Context, teamID string, c Caller, hits []search.Hit, shelves map[string]source.Shelf, rejected map[string]bool, keep func(document.Entry) bool) ([]Record, error) {
	at := map[string]search.Hit{} // the best comment, by the uri of its thread
	itself := map[string]bool{}
	for _, h := range hits {
		if !isComment(h) {
			itself[h.URI] = true
		}
	}
	var missing []string
	for _, h := range ranked(hits) {
		thread := threadOf(h)
		if _, known := at[thread]; known || !isComment(h) || itself[thread] || rejected[thread] || len(missing) == maxThreads {
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
		if h := at[d.URI]; h.Source == d.CollectionID && keep(d.Entry) && c.mayRead(d.Entry, shelves) {
			about[d.URI] = recordOf(d, h.Space, shelves)
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
			for _, source := range sourcesOf([]search.Hit{h}, shelves) {
				records = append(records, Record{source, h.Record.(document.Entry)}) //nolint:forcetypeassert // choose requires it
			}
			continue
		}
		if itself[thread] {
			continue // has a hit of its own
		}
		seen[thread] = true
		if r, ok := about[thread]; ok && r.Provider != "" {
			records = append(records, r)
		}
	}
	return records, nil
}

func recordOf(d document.Found, space search.Space, shelves map[string]source.Shelf) Record {
	return Record{Source{Content: clipContent(d.Excerpt), Title: d.Title, URL: d.URI,
		SourceType: source.TypeOf(space), Provider: string(shelves[d.CollectionID].Provider)}, d.Entry}
}
