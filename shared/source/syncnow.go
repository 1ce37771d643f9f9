package source

import (
	"context"
	"errors"
	"fmt"

	"docent/shared/apierr"
	"docent/shared/table"
)

// SyncNow schedules a sync of a connected data source like SyncSoon, and returns the source with its settings and sync
// progress. It returns an error for a source that is paused, or that no connector reads.
func (s *Service) SyncNow(ctx context.Context, teamID, id string) (DataSource, error) {
	item, err := s.get(ctx, teamID, id)
	if err != nil {
		return DataSource{}, err
	}
	d := sourceFrom(item)
	_, err = s.Table.Get(ctx, syncKey(teamID, id))
	switch {
	case d.Paused:
		return DataSource{}, notSynced("The data source is paused. Resume it; a sync follows at once.")
	case errors.Is(err, table.ErrNotFound):
		return DataSource{}, notSynced("No connector reads this data source: its items are imported.")
	case err != nil:
		return DataSource{}, fmt.Errorf("read the state of the sync: %w", err)
	}
	if err := s.SyncSoon(ctx, teamID, id); err != nil {
		return DataSource{}, err
	}
	entries := []table.Entry[DataSource]{{Value: d}}
	err = s.addSettings(ctx, teamID, entries)
	return entries[0].Value, err
}

func notSynced(detail string) error {
	return apierr.New(apierr.Conflict, apierr.CodeNotSynced, "%s", detail)
}
