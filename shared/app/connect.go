package app

import (
	"context"
	"errors"
	"time"

	"docent/shared/collection"
	"docent/shared/queue"
	"docent/shared/source"
	"docent/shared/table"
)

// How long one data source is read.
const (
	syncTurn = 4 * time.Minute // before another has its turn
	// longestTurn is for one whose next page takes longer than a turn, such as the archive of a huge repository. It is less than the
	// visibility timeout of its message and, on AWS, than four fifths of the function's time, at which an alarm is raised.
	longestTurn = 7 * time.Minute
)

// turn syncs the data source of a batch, which has one, for a turn.
func (s *services) turn(ctx context.Context, batch []queue.Message) []string {
	ctx, cancel := context.WithTimeout(ctx, longestTurn)
	defer cancel()
	return s.syncing.Batch(ctx, batch)
}

// SyncSource syncs a data source now, however long it takes, and indexes the changes. It
// calls tell after every page.
func (l *Local) SyncSource(ctx context.Context, teamID, id string, tell func(source.Progress)) (source.Progress, error) {
	if err := l.sources.SyncSoon(ctx, teamID, id); err != nil {
		return source.Progress{}, err
	}
	progress, err := l.syncing.Sync(ctx, teamID, id, tell)
	return progress, errors.Join(err, l.Drain(ctx))
}

// SyncedSources returns the data sources of a team that connectors read.
func (l *Local) SyncedSources(ctx context.Context, teamID string) ([]source.DataSource, error) {
	list, err := l.sources.List(ctx, teamID, table.Window{Limit: source.MaxPerTeam + collection.MaxPerTeam}, func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	var synced []source.DataSource
	for _, e := range list.Entries {
		if e.Value.Sync != nil {
			synced = append(synced, e.Value)
		}
	}
	return synced, nil
}
