package app

import (
	"context"
	"fmt"

	"docent/shared/search"
)

// IndexReport is what CheckIndex found.
type IndexReport struct {
	search.Report
	Missing []string // ids of documents that should be found and are in no segment
}

// Clean tells whether every document can be found.
func (r IndexReport) Clean() bool { return len(r.Damaged)+len(r.Missing) == 0 }

// CheckIndex reads the whole search index of a team and compares it with the
// team's documents. Documents that are still to be indexed are not missing.
func (l *Local) CheckIndex(ctx context.Context, teamID string) (IndexReport, error) {
	found, err := l.Index.Check(ctx, teamID)
	if err != nil {
		return IndexReport{}, fmt.Errorf("check the index: %w", err)
	}
	missing, err := l.documents.Unindexed(ctx, teamID, found.Current)
	if err != nil {
		return IndexReport{}, fmt.Errorf("compare the index with the documents: %w", err)
	}
	return IndexReport{found, missing}, nil
}

// RebuildIndex makes the search index of a team anew from its documents and
// returns how many data sources it has rebuilt.
func (l *Local) RebuildIndex(ctx context.Context, teamID string) (int, error) {
	sources, err := l.collections.Sources(ctx, teamID)
	if err != nil {
		return 0, err
	}
	for i, source := range sources {
		for _, space := range search.Spaces {
			if err := l.Index.Rebuild(ctx, teamID, source, space); err != nil {
				return i, fmt.Errorf("rebuild the index of source %s: %w", source, err)
			}
		}
	}
	return len(sources), nil
}
