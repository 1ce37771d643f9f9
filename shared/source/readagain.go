package source

import (
	"context"
	"errors"
	"fmt"

	"docent/shared/pending"
	"docent/shared/table"
)

// ReadAgain makes the next sync of a source read all parts as if they were new, and schedules it for now, or as soon as its
// provider allows. So what is stored damaged, or not at all, is stored again, and the rest stays: also texts and files that other syncs
// keep without a look at them. ReadAgain reports whether a connector reads the source, and whether it
// is paused: then it is read again when it is resumed. A running sync stops with its next page.
func (s *Service) ReadAgain(ctx context.Context, teamID, id string) (synced, paused bool, err error) {
	for {
		ops, work, paused, err := s.readAgainOps(ctx, teamID, id)
		if err != nil || ops == nil {
			return false, false, err
		}
		err = s.Table.Write(ctx, ops...)
		if table.AsConditionFailed(err) != nil {
			continue // by a change, or by the sync
		}
		if err != nil {
			return false, false, fmt.Errorf("have a source read again: %w", err)
		}
		if work != nil {
			s.send(ctx, *work, 0)
		}
		return true, paused, nil
	}
}

// readAgainOps returns the operations of ReadAgain, nil for a source that no connector reads, the work to send, if any, and whether the
// source is paused.
func (s *Service) readAgainOps(ctx context.Context, teamID, id string) (ops []table.Op, work *pending.Work, paused bool, err error) {
	item, err := s.Table.Get(ctx, syncKey(teamID, id))
	if errors.Is(err, table.ErrNotFound) {
		return nil, nil, false, nil
	}
	if err != nil {
		return nil, nil, false, fmt.Errorf("read the state of the sync: %w", err)
	}
	st, err := syncStateFrom(item)
	if err != nil {
		return nil, nil, false, err
	}
	settings, err := s.Table.Get(ctx, settingsKey(teamID, id))
	if errors.Is(err, table.ErrNotFound) {
		return nil, nil, false, nil // deleted in the meantime
	}
	if err != nil {
		return nil, nil, false, fmt.Errorf("read settings: %w", err)
	}
	replaced := replacedSettings{Reread: true}
	if replaced.Settings, err = settingsFrom(settings); err != nil {
		return nil, nil, false, err
	}
	again, err := replaced.item(teamID, id, settings.Version)
	if err != nil {
		return nil, nil, false, err
	}
	again.Sort += "#again" // a change of the settings has its own
	before, version, now := st.work(teamID, id), st.version, s.now().UnixMilli()
	st.version, st.Changed = version+1, true
	ops = []table.Op{table.Put{Item: again}}
	if st.due > now && !st.limited(s.now()) && !st.Paused {
		st.due = now
		soon := st.work(teamID, id)
		work, ops = &soon, append(ops, table.Delete{Key: before.Key()}, soon.Promise())
	}
	if item, err = st.item(teamID, id); err != nil {
		return nil, nil, false, err
	}
	return append(ops, table.Put{Item: item, If: table.VersionIs(version)}), work, st.Paused, nil
}
