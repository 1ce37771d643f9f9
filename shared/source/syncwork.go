package source

import (
	"context"
	"errors"
	"fmt"
	"time"

	"docent/shared/apierr"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/table"
)

// Batch runs the syncs of a batch of messages and returns the ids of the messages
// that failed. It acts on the current state: a message that is delivered twice,
// late or too early changes nothing.
func (s *Syncer) Batch(ctx context.Context, batch []queue.Message) (failed []string) {
	return pending.Worker{Kind: pending.SyncSource, Do: s.do, GiveUp: s.giveUp, Log: s.Log}.Batch(ctx, batch)
}

// giveUp records on the source that its sync failed.
func (s *Syncer) giveUp(ctx context.Context, work pending.Work, _ error) error {
	return s.Fail(ctx, work.TeamID, work.ID, SyncFailure{Code: apierr.CodeInternal,
		Detail: "The source could not be read because of an internal error. It will be retried."})
}

func (s *Syncer) do(ctx context.Context, work pending.Work) error {
	current, err := s.due(ctx, work)
	if err != nil || !current {
		return err
	}
	_, err = s.sync(ctx, work.TeamID, work.ID, nil, s.Turn)
	var held *LeaseHeldError
	switch {
	case errors.As(err, &held):
		// The lease holder may have crashed: try again when its lease ends.
		s.send(ctx, work, min(held.Until.Sub(s.Now())+time.Second, 15*time.Minute))
		return nil
	case errors.Is(err, ErrUnfinished):
		s.send(ctx, work, 0)
		return nil
	case errors.Is(err, errLeaseLost), errors.Is(err, errPaused):
		return nil
	case apierr.IsCode(err, apierr.CodeNotFound):
		return s.Forget(ctx, work)
	default:
		return err
	}
}

// due reports whether work is the source's next sync and its time has come.
func (s *Syncer) due(ctx context.Context, work pending.Work) (bool, error) {
	item, err := s.Table.Get(ctx, syncKey(work.TeamID, work.ID))
	if errors.Is(err, table.ErrNotFound) {
		return true, nil // Sync then starts from scratch or finds the source deleted
	}
	if err != nil {
		return false, fmt.Errorf("read the state of the sync: %w", err)
	}
	if item.Numbers[dueField] != work.At {
		return false, nil
	}
	return work.At <= s.Now().Add(time.Second).UnixMilli(), nil
}

// Forget removes the sync state of a deleted source. It does nothing while the
// source exists.
func (s *Syncer) Forget(ctx context.Context, work pending.Work) error {
	_, err := s.get(ctx, work.TeamID, work.ID)
	if err == nil {
		return nil
	}
	if !apierr.IsCode(err, apierr.CodeNotFound) {
		return err
	}
	if err := s.deleteAll(ctx, work.TeamID, work.ID, ""); err != nil {
		return err
	}
	return s.Table.Write(ctx, table.Delete{Key: work.Key()})
}

// send sends the message of pending work. If that fails, the sweeper sends it later.
func (s *Service) send(ctx context.Context, work pending.Work, delay time.Duration) {
	if s.Syncs == nil {
		return
	}
	if err := s.Syncs.Send(context.WithoutCancel(ctx), work.Outgoing(delay)); err != nil {
		s.Warn(work, err)
	}
}

// SyncSoon schedules a sync of a source for now, or as soon as its provider allows.
// It does nothing to a source without a connector.
func (s *Service) SyncSoon(ctx context.Context, teamID, id string) error {
	for requested := false; ; {
		item, err := s.Table.Get(ctx, syncKey(teamID, id))
		if errors.Is(err, table.ErrNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the state of the sync: %w", err)
		}
		st, err := syncStateFrom(item)
		if err != nil {
			return err
		}
		now := s.now().UnixMilli()
		switch running := st.leased(s.now()); {
		case running && requested:
			return nil // the running sync finds the request when it ends
		case running:
			// The running sync may have passed what has changed.
			err := s.Table.Write(ctx, table.Put{Item: table.Item{Key: anotherSyncKey(teamID, id), Version: 1, Expires: s.Now().Add(longestWait)}})
			if err != nil {
				return fmt.Errorf("request another sync: %w", err)
			}
			requested = true
			continue
		case st.due <= now || st.limited(s.now()) || st.Paused:
			return nil // already due, or must wait for the provider
		}
		before := st.work(teamID, id)
		version := st.version
		st.version, st.due = version+1, now
		if item, err = st.item(teamID, id); err != nil {
			return err
		}
		work := st.work(teamID, id)
		err = s.Table.Write(ctx, table.Put{Item: item, If: table.VersionIs(version)}, table.Delete{Key: before.Key()}, work.Promise())
		if table.AsConditionFailed(err) != nil {
			continue
		}
		if err != nil {
			return fmt.Errorf("schedule the sync: %w", err)
		}
		s.send(ctx, work, 0)
		return nil
	}
}

func millisToTime(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
