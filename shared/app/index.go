package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"docent/shared/pause"
	"docent/shared/search"
)

// IndexReport is the result of CheckIndex.
type IndexReport struct {
	search.Report
	Missing          []string // ids of documents that should be found and are in no segment
	DamagedDocuments []string // ids of documents that are not as they were stored
}

// Clean reports whether every document can be found and read.
func (r IndexReport) Clean() bool { return len(r.Damaged)+len(r.Missing)+len(r.DamagedDocuments) == 0 }

// CheckIndex reads the whole search index of a team and compares it with the
// team's documents. Documents that are still to be indexed are not missing.
func (l *Local) CheckIndex(ctx context.Context, teamID string) (IndexReport, error) {
	found, err := l.Index.Check(ctx, teamID)
	if err != nil {
		return IndexReport{}, fmt.Errorf("check the index: %w", err)
	}
	missing, damaged, err := l.documents.Unindexed(ctx, teamID, found.Current)
	if err != nil {
		return IndexReport{}, fmt.Errorf("compare the index with the documents: %w", err)
	}
	ids := slices.Concat(slices.Collect(maps.Values(damaged))...)
	slices.Sort(ids)
	return IndexReport{found, missing, slices.Compact(ids)}, nil
}

// ReadDamagedAgain has the data sources of a team that have damaged items read again by the next syncs, which store these items
// again. It returns the number of these sources, and of those among them that are paused.
func (l *Local) ReadDamagedAgain(ctx context.Context, teamID string) (sources, paused int, err error) {
	_, damaged, err := l.documents.Unindexed(ctx, teamID, nil)
	if err != nil {
		return 0, 0, fmt.Errorf("look for damaged documents: %w", err)
	}
	for source := range damaged {
		synced, waits, err := l.sources.ReadAgain(ctx, teamID, source)
		if err != nil {
			return sources, paused, err
		}
		if synced {
			sources++
		}
		if waits {
			paused++
		}
	}
	return sources, paused, nil
}

// Rebuilds starts and watches the rebuilding of search indexes.
type Rebuilds struct{ services *services }

// Rebuilds returns the Rebuilds of this data.
func (l *Local) Rebuilds() Rebuilds { return Rebuilds{l.services} }

// RebuildsOnAWS is Rebuilds for the installation on AWS that c names. It sends no
// request.
func RebuildsOnAWS(c Config, log *slog.Logger) Rebuilds {
	return Rebuilds{joinOnAWS(c, Parts{}, log).services}
}

// Status describes the segments of a team and how far their rebuilds are.
func (r Rebuilds) Status(ctx context.Context, teamID string) ([]search.FamilyStatus, error) {
	families, err := r.services.index.Status(ctx, teamID)
	if err != nil {
		return nil, fmt.Errorf("describe the index of team %s: %w", teamID, err)
	}
	return families, nil
}

// Start plans the rebuild of all indexes of a team, which workers then do. It returns the
// number of spaces of sources to rebuild. Rebuilds in progress are not restarted.
func (r Rebuilds) Start(ctx context.Context, teamID string) (families int, err error) {
	sources, err := r.services.collections.Sources(ctx, teamID)
	if err != nil {
		return 0, err
	}
	for source := range sources {
		for _, space := range search.Spaces {
			asked, err := r.services.index.AskRebuild(ctx, teamID, source, space)
			if err != nil {
				return families, fmt.Errorf("plan the rebuild of source %s: %w", source, err)
			}
			if asked {
				families++
			}
		}
	}
	return families, nil
}

// DoRebuilds does the pending rebuilds of a team in this process and calls tell about once
// per second. An interrupted rebuild continues with the next call, or in a server that opens
// this data.
func (l *Local) DoRebuilds(ctx context.Context, teamID string, tell func([]search.FamilyStatus) error) error {
	rebuilder := l.rebuilder(time.Second, nil)
	works, err := l.index.PendingRebuilds(ctx, teamID)
	if err != nil {
		return err
	}
	for _, work := range works {
		for finished := false; !finished; {
			finished, err = rebuilder.Run(ctx, work)
			if errors.Is(err, search.ErrNoEmbedder) {
				break // a server with a model does it
			}
			if errors.Is(err, search.ErrLeaseHeld) { // by an earlier process
				err = pause.For(ctx, time.Second)
			}
			if err != nil {
				return fmt.Errorf("rebuild %s: %w", work.ID, err)
			}
			families, err := l.Rebuilds().Status(ctx, teamID)
			if err != nil {
				return err
			}
			if err := tell(families); err != nil {
				return err
			}
		}
	}
	return nil
}
