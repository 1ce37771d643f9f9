package source

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"docent/shared/table"
)

// Syncer brings data sources up to date with their providers. It saves a checkpoint
// after every page, so an interrupted sync resumes there. Reading a page twice
// changes nothing.
type Syncer struct {
	*Service
	Connections map[ProviderName]Connection
	Log         *slog.Logger
	// Turn is how long Batch reads one source before it turns to others. Before it has saved a page of the source it does not stop: one that
	// waits long for its first page, such as for the rest of an archive, is then read for as long again. 0: until the deadline of its context.
	Turn time.Duration
}

// Bounds of a sync.
const (
	leaseTime      = 2 * time.Minute  // each save renews the lease
	stopBefore     = 10 * time.Second // before the deadline
	longestWait    = 24 * time.Hour   // that a provider may ask for
	firstRetry     = time.Minute      // after a failed sync; doubles with each failure, up to SyncEvery
	parallelStores = 16
	askFor         = time.Hour        // in which the provider is asked again whether an item is deleted
	listLag        = 10 * time.Minute // for which a provider may list what was removed
)

// ErrUnfinished means that the deadline was near. The next call of Sync resumes the
// same sync.
var ErrUnfinished = errors.New("the sync is not finished")

// errLeaseLost means that another process has taken over the sync.
var errLeaseLost = errors.New("another process has taken over this sync")

// errPaused means that the source is paused.
var errPaused = errors.New("the data source is paused")

// syncRun is a running sync.
type syncRun struct {
	*Syncer
	Connection
	teamID, id string
	access     Access
	state      syncState
	parts      map[string]partState
	onProgress func(Progress)
	vain       time.Duration     // time that was spent on questions whether items are deleted, without an answer
	exist      map[string][]byte // ids of items that the provider has said exist, by part; see keepAnswers
	unsaid     map[string]bool   // parts whose Unsaid is not saved
	turn       time.Duration     // see Syncer.Turn
	waited     time.Duration     // time until the first page was saved
	begun      time.Time
	checksKept bool               // the part is read as if it were new: what it keeps is compared, too; see ReadAgain
	progressed bool               // this run has saved a page
	cancel     context.CancelFunc // ends the context of the run
	renewing   sync.Mutex         // the run and its connector may renew the lease at the same time; see hold
}

// Sync brings one data source up to date. It calls onProgress, if not nil, after
// every page. It returns ErrUnfinished if ctx's deadline stops it, and a
// *LeaseHeldError while another process runs the sync. A failure of the provider is
// no error; it is recorded on the source.
func (s *Syncer) Sync(ctx context.Context, teamID, id string, onProgress func(Progress)) (Progress, error) {
	return s.sync(ctx, teamID, id, onProgress, 0)
}

// sync is Sync that ends with ErrUnfinished after a turn, if that is not 0.
func (s *Syncer) sync(ctx context.Context, teamID, id string, onProgress func(Progress), turn time.Duration) (Progress, error) {
	r, err := s.begin(ctx, teamID, id, onProgress)
	if err != nil {
		return Progress{}, err
	}
	r.turn = turn
	run, cancel := context.WithCancel(ctx)
	defer cancel()
	r.cancel = cancel
	err = r.run(run)
	if err != nil && !errors.Is(err, errLeaseLost) {
		err = errors.Join(err, r.release(context.WithoutCancel(ctx)))
	}
	return r.state.progress(), err
}

// begin reads a source with its checkpoints and acquires its lease.
func (s *Syncer) begin(ctx context.Context, teamID, id string, onProgress func(Progress)) (*syncRun, error) {
	item, err := s.get(ctx, teamID, id)
	if err != nil {
		return nil, err
	}
	r := &syncRun{Syncer: s, teamID: teamID, id: id, onProgress: onProgress, parts: map[string]partState{}, exist: map[string][]byte{}, unsaid: map[string]bool{}, begun: time.Now()}
	var known bool
	if r.Connection, known = s.Connections[sourceFrom(item).Provider]; !known {
		return nil, &SyncError{Code: NoConnector, Detail: "This installation has no connector for this provider.", AllParts: true}
	}
	if err := r.acquireLease(ctx); err != nil {
		return nil, err
	}
	// Settings that change from here on end the lease.
	if err := r.readAccess(ctx); err != nil {
		return nil, errors.Join(err, r.release(context.WithoutCancel(ctx)))
	}
	return r, nil
}

// readAccess reads the settings, secrets and checkpoints of the source.
func (r *syncRun) readAccess(ctx context.Context) (err error) {
	if r.access, err = r.Syncer.access(ctx, r.teamID, r.id); err != nil {
		return err
	}
	for item, err := range table.All(ctx, r.Table, table.Query{Table: table.Collections, Partition: syncKey(r.teamID, r.id).Partition, Prefix: "part#"}) {
		if err != nil {
			return fmt.Errorf("read the checkpoints: %w", err)
		}
		if r.parts[item.Sort[len("part#"):]], err = partStateFrom(item); err != nil {
			return err
		}
	}
	return nil
}

// access reads the settings and secrets of a source.
func (s *Syncer) access(ctx context.Context, teamID, id string) (Access, error) {
	var a Access
	items, err := s.Table.BatchGet(ctx, []table.Key{settingsKey(teamID, id), secretsKey(id)})
	if err != nil {
		return a, fmt.Errorf("read settings: %w", err)
	}
	for _, item := range items {
		if item.Key == settingsKey(teamID, id) {
			if a.Settings, err = settingsFrom(item); err != nil {
				return a, err
			}
			continue
		}
		if a.Secrets, err = s.openSecrets(ctx, teamID, id, item); err != nil {
			return a, err
		}
	}
	return a, nil
}

// run reads every part, removes deleted items and finishes the sync.
func (r *syncRun) run(ctx context.Context) error {
	if err := r.applyChanges(ctx); err != nil {
		return err
	}
	named := r.Connector.Parts(r.access.Settings)
	stop, err := r.readParts(ctx, named)
	if err == nil && stop == nil {
		if err = r.removeUnlisted(ctx, named); err == nil {
			stop, err = r.readParts(ctx, r.listedParts(named))
		}
	}
	if err != nil {
		return err
	}
	if stop == nil {
		err := r.removeGone(ctx)
		switch {
		case err != nil && r.progressed && errors.Is(ctx.Err(), context.DeadlineExceeded):
			return ErrUnfinished // the next run gets further
		case errors.As(err, &stop):
			r.recordFailure(ctx, r.state.Part, stop)
		case err != nil:
			return err
		}
	}
	return r.finish(ctx, stop)
}

// readParts reads each of parts that this sync has not read before an interruption. stop is
// the failure that ended it, if the others would fail too.
func (r *syncRun) readParts(ctx context.Context, parts []string) (stop *SyncError, err error) {
	for _, part := range parts {
		p := r.parts[part]
		if p.LastReadBy == r.state.Began {
			continue
		}
		if p.PassedBy == r.state.Began {
			if r.state.Code == "" { // finish drops the failures before a rate limit; record this one again
				r.recordFailure(ctx, part, &SyncError{Code: Unreadable, Detail: "The provider did not return the next page in time."})
			}
			continue
		}
		err := r.readPart(ctx, part, p)
		if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, r.endTurn(context.WithoutCancel(ctx), part)
		}
		var failed *SyncError
		if errors.As(err, &failed) {
			r.recordFailure(ctx, part, failed)
			if failed.AllParts || !failed.RetryAt.IsZero() {
				return failed, nil
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		r.state.Finished++
		if r.outOfTime(ctx) {
			return nil, ErrUnfinished
		}
	}
	return nil, nil
}
