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

// Batch does the syncs of a batch of messages and returns the ids of the messages that failed. It acts on the current
// state: a message that is delivered twice, late or too early changes nothing.
func (s *Syncer) Batch(ctx context.Context, batch []queue.Message) (failed []string) {
	return pending.Worker{Kind: pending.SyncSource, Do: s.do, GiveUp: s.giveUp, Log: s.Log}.Batch(ctx, batch)
}

// giveUp records on the source that its sync failed and will not be tried again soon.
func (s *Syncer) giveUp(ctx context.Context, work pending.Work, _ error) error {
	return s.Fail(ctx, work.TeamID, work.ID, SyncFailure{Code: apierr.CodeInternal,
		Detail: "The source could not be read for a fault of this installation. It is tried again."})
}

func (s *Syncer) do(ctx context.Context, work pending.Work) error {
	current, err := s.due(ctx, work)
	if err != nil || !current {
		return err
	}
	_, err = s.Sync(ctx, work.TeamID, work.ID, nil)
	var held *LeaseHeldError
	switch {
	case errors.As(err, &held):
		// Who is at it may have been stopped: looked after once its hold is over.
		s.send(ctx, work, min(held.Until.Sub(s.Now())+time.Second, 15*time.Minute))
		return nil
	case errors.Is(err, ErrUnfinished):
		s.send(ctx, work, 0)
		return nil
	case errors.Is(err, errLeaseLost):
		return nil
	case apierr.IsCode(err, apierr.CodeNotFound):
		return s.Forget(ctx, work)
	default:
		return err
	}
}

// due tells whether work is what is pending of its source, and its time has come.
func (s *Syncer) due(ctx context.Context, work pending.Work) (bool, error) {
	item, err := s.Table.Get(ctx, syncKey(work.TeamID, work.ID))
	if errors.Is(err, table.ErrNotFound) {
		return true, nil // begun anew, or forgotten with its source
	}
	if err != nil {
		return false, fmt.Errorf("read the state of the sync: %w", err)
	}
	if item.Numbers[dueField] != work.At {
		return false, nil
	}
	return work.At <= s.Now().Add(time.Second).UnixMilli(), nil
}

// Forget removes what a sync has left of a source that is deleted.
func (s *Syncer) Forget(ctx context.Context, work pending.Work) error {
	_, err := s.get(ctx, work.TeamID, work.ID)
	if err == nil {
		return nil
	}
	if !apierr.IsCode(err, apierr.CodeNotFound) {
		return err
	}
	if err := s.deleteAll(ctx, work.TeamID, work.ID, func(string) bool { return true }); err != nil {
		return err
	}
	return s.Table.Write(ctx, table.Delete{Key: work.Key()})
}

// send sends the message of work that is pending.
func (s *Service) send(ctx context.Context, work pending.Work, delay time.Duration) {
	if s.Syncs == nil {
		return
	}
	if err := s.Syncs.Send(context.WithoutCancel(ctx), queue.Outgoing{Body: work.Message(), Delay: delay}); err != nil {
		s.Warn(work, err)
	}
}

// SyncSoon makes a sync of a source due now, or as soon as its provider lets it. To
// a source that no connector reads it does nothing.
func (s *Service) SyncSoon(ctx context.Context, teamID, id string) error {
	for asked := false; ; {
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
		switch running := st.leaseUntil > now; {
		case running && asked:
			return nil // the end of the one under way finds the request
		case running:
			// The one under way may have passed what has changed.
			err := s.Table.Write(ctx, table.Put{Item: table.Item{Key: anotherSyncKey(teamID, id), Version: 1, Expires: s.Now().Add(longestWait)}})
			if err != nil {
				return fmt.Errorf("ask for another sync: %w", err)
			}
			asked = true
			continue
		case st.due <= now || st.NotBefore > now:
			return nil // it is due already, or must wait
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
			return fmt.Errorf("make the sync due: %w", err)
		}
		s.send(ctx, work, 0)
		return nil
	}
}

func millisToTime(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
