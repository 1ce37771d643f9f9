package search

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"docent/shared/blob"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/search/segment"
	"docent/shared/table"
)

// Rebuilder rebuilds outdated segments from the documents, one family and one slice at
// a time. A slice is saved in one Write, so a rebuild that was stopped in any way
// resumes there. Outdated segments answer until the Write that replaces them.
type Rebuilder struct {
	*Index
	Log *slog.Logger
	// Turn is how long one family is rebuilt before the next one has its turn. 0 means
	// until it is finished or the context's deadline is near.
	Turn time.Duration
	// Rest, if set, pauses after a slice that took worked, so that a rebuild leaves
	// part of the machine to others.
	Rest func(ctx context.Context, worked time.Duration) error

	slicePassages int // of one slice; 0 means the constant
}

const (
	rebuildHold    = 2 * time.Minute  // duration of the lease from the last save
	rebuildMargin  = 15 * time.Second // time before the deadline to build and save the current slice
	releaseTimeout = 5 * time.Second
	passDocuments  = 20_000 // of several segments in one pass; one segment may have more
	passSegments   = 30     // in one pass or full scan, so that the Write that replaces them has at most table.MaxOps
)

var (
	// ErrLeaseHeld means that another worker holds the lease of the rebuild, or held it when
	// it was stopped minutes ago.
	ErrLeaseHeld = errors.New("another worker holds the lease of this rebuild")
	// ErrNewer means that the family is left to a newer program.
	ErrNewer = errors.New("a newer program wrote a segment of this family; it is left to that program")
	// ErrNoEmbedder means that this program has no model to make vectors with.
	ErrNoEmbedder = errors.New("no model makes vectors here")
	// errLeaseLost means that another worker has the lease now, or that the rebuild was
	// dropped with its source.
	errLeaseLost = errors.New("lost the lease of this rebuild")
	// errChanged means that segments to be replaced no longer exist.
	errChanged = errors.New("the segments have changed")
)

// rebuilding is one turn of the rebuild of a family.
type rebuilding struct {
	*Rebuilder
	teamID string
	family family
	work   pending.Work
	state  rebuildState
	end    time.Time     // no slice begins after it; zero: no such time
	names  segment.Names // the documents sections of the pass's segments, read once per turn
	held   map[string]segment.Names
}

// Batch takes a turn for each message of a batch and returns the ids of those that
// failed. It acts on the current state, so a message that is delivered twice, late, or
// during another worker's turn changes nothing.
func (b *Rebuilder) Batch(ctx context.Context, batch []queue.Message) (failed []string) {
	return pending.Worker{Kind: pending.RebuildIndex, Do: b.do, Log: b.Log}.Batch(ctx, batch)
}

func (b *Rebuilder) do(ctx context.Context, work pending.Work) error {
	finished, err := b.Run(ctx, work)
	if errors.Is(err, ErrLeaseHeld) || errors.Is(err, ErrNewer) || errors.Is(err, ErrNoEmbedder) {
		return nil // the sweeper sends it again, in case that worker was stopped or that program is gone
	}
	if errors.Is(err, ErrNotEmbedded) {
		b.Log.WarnContext(ctx, "vectors are made again when the model answers", "team", work.TeamID, "id", work.ID, "err", err)
		return nil // the sweeper sends it again, less and less often
	}
	if err == nil && !finished {
		b.send(ctx, work)
	}
	return err
}

// Run takes one turn of the rebuild that work names. It returns false if the turn ends before
// the rebuild. It returns true also for work that is done, dropped or taken over. ErrLeaseHeld,
// ErrNewer and ErrNoEmbedder mean that nothing was done.
func (b *Rebuilder) Run(ctx context.Context, work pending.Work) (finished bool, err error) {
	f, err := familyNamed(work.ID)
	if err != nil {
		return false, err
	}
	r := &rebuilding{Rebuilder: b, teamID: work.TeamID, family: f, work: work, held: map[string]segment.Names{}}
	taken, err := r.acquireLease(ctx)
	if err != nil || !taken {
		return err == nil, err
	}
	if b.Turn > 0 {
		r.end = time.Now().Add(b.Turn)
	}
	if deadline, ok := ctx.Deadline(); ok && (r.end.IsZero() || deadline.Add(-rebuildMargin).Before(r.end)) {
		r.end = deadline.Add(-rebuildMargin)
	}
	finished, err = r.run(ctx)
	switch {
	case errors.Is(err, errLeaseLost):
		return true, nil
	case err != nil:
		return false, errors.Join(err, r.release(ctx, err))
	case !finished:
		return false, r.release(ctx, nil)
	}
	return true, nil
}

// acquireLease acquires the lease of the rebuild for this worker. It returns false if there is
// nothing to do.
func (r *rebuilding) acquireLease(ctx context.Context) (taken bool, err error) {
	if r.state, err = r.stateOf(ctx, r.teamID, r.family); errors.Is(err, table.ErrNotFound) {
		return false, r.forget(ctx) // finished, or dropped with its source
	} else if err != nil {
		return false, err
	}
	if r.state.Began != r.work.At {
		return false, r.forget(ctx) // of an earlier rebuild
	}
	// A lease that ends later than one can was made by a clock that was ahead. If its worker works on, only one of the two can save.
	if left := time.UnixMilli(r.state.until).Sub(r.Now()); left > 0 && left <= 2*rebuildHold {
		return false, ErrLeaseHeld
	}
	live, err := r.Corpus.Sources(ctx, r.teamID)
	if err != nil {
		return false, fmt.Errorf("list the live sources: %w", err)
	}
	if _, ok := live[r.family.source]; !ok {
		r.state.Walked = ""
		if err := r.finish(ctx); err != nil || r.state.Pass == nil {
			return false, err
		}
		r.removeStaged(ctx, r.state.Pass.Staged)
		return false, nil
	}
	if r.family.meaning && r.Embedder == nil {
		return false, ErrNoEmbedder
	}
	err = r.save(ctx, r.state)
	if errors.Is(err, errLeaseLost) {
		return false, nil
	}
	return err == nil, err
}

// forget deletes pending work that has no state.
func (r *rebuilding) forget(ctx context.Context) error {
	if err := r.Table.Write(ctx, table.Delete{Key: r.work.Key()}); err != nil {
		return fmt.Errorf("end a rebuild: %w", err)
	}
	return nil
}

// finish ends the rebuild.
func (r *rebuilding) finish(ctx context.Context) error {
	ops := []table.Op{table.Delete{Key: rebuildKey(r.teamID, r.family), If: table.VersionIs(r.state.version)},
		table.Delete{Key: r.work.Key()}}
	if r.family.meaning && r.state.Walked != "" {
		ops = append(ops, embeddedBy(r.teamID, r.family, r.state.Walked))
	}
	err := r.Table.Write(ctx, ops...)
	if table.AsConditionFailed(err) != nil {
		return errLeaseLost
	}
	if err != nil {
		return fmt.Errorf("end a rebuild: %w", err)
	}
	return nil
}

// save stores next in place of the state, together with ops, in one Write that also
// extends the lease. If it returns errLeaseLost or errChanged, nothing has changed.
func (r *rebuilding) save(ctx context.Context, next rebuildState, ops ...table.Op) error {
	next.until = r.Now().Add(rebuildHold).UnixMilli()
	return r.saveUntil(ctx, next, ops...)
}

func (r *rebuilding) saveUntil(ctx context.Context, next rebuildState, ops ...table.Op) error {
	next.count()
	next.version = r.state.version + 1
	next.Saved = r.Now().UnixMilli()
	item, err := next.item(r.teamID, r.family)
	if err != nil {
		return err
	}
	until := time.UnixMilli(max(next.until, next.Saved))
	err = r.Table.Write(ctx, append([]table.Op{table.Put{Item: item, If: table.VersionIs(r.state.version)},
		r.work.Extend(next.left(), until)}, ops...)...)
	switch failed := table.AsConditionFailed(err); {
	case err == nil:
		r.state = next
		return nil
	case failed == nil:
		return fmt.Errorf("save a rebuild: %w", err)
	case failed.Key == item.Key || failed.Key == r.work.Key():
		return errLeaseLost
	default:
		return errChanged
	}
}

// release ends the lease, so that the next worker can continue at once, and records why
// this turn failed.
func (r *rebuilding) release(ctx context.Context, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	next := r.state
	next.until = 0
	if cause != nil {
		next.Error = saveError(r.Now(), cause)
	}
	if err := r.saveUntil(ctx, next); err != nil && !errors.Is(err, errLeaseLost) {
		return fmt.Errorf("release a rebuild: %w", err)
	}
	return nil
}

// over reports whether the turn has ended.
func (r *rebuilding) over(ctx context.Context) bool {
	return ctx.Err() != nil || !r.end.IsZero() && !time.Now().Before(r.end)
}

// run makes slices until nothing is outdated, and then returns true, or until the turn
// has ended. Every turn makes at least one step.
func (r *rebuilding) run(ctx context.Context) (finished bool, err error) {
	for first := true; first || !r.over(ctx); first = false {
		began := time.Now()
		finished, err := r.step(ctx)
		if errors.Is(err, errChanged) {
			finished, err = false, r.reconsider(ctx)
		}
		if err != nil || finished {
			return finished, err
		}
		if r.Rest != nil {
			if err := r.Rest(ctx, time.Since(began)); err != nil {
				return false, nil // the turn was cancelled
			}
		}
	}
	return false, nil
}

// step makes the next slice of the pass or full scan in progress, or starts the next one. Full
// scans come first, because they find documents that no search can find.
func (r *rebuilding) step(ctx context.Context) (finished bool, err error) {
	switch {
	case r.state.Walk != nil:
		return false, r.walkSlice(ctx)
	case r.state.Pass != nil && foldable(r.state.Pass.Staged) != nil:
		return false, r.fold(ctx)
	case r.state.Pass != nil:
		return false, r.passSlice(ctx)
	}
	records, err := r.list(ctx)
	if err != nil {
		return false, err
	}
	var named, nameless []record
	for _, s := range records {
		switch why := s.outdated(); {
		case why == "":
		case why.namesDocuments():
			named = append(named, s)
		default:
			nameless = append(nameless, s)
		}
	}
	next := &r.state
	next.Total = max(next.Total, next.Ended+toRebuild(records, next.Missing))
	switch {
	case next.Missing || len(nameless) > 0:
		next.Missing = false
		next.Walk = &rebuildWalk{Instead: namesOf(nameless[:min(len(nameless), passSegments)])}
		for _, s := range records {
			next.Walk.Of += s.content.Documents
		}
		if r.family.meaning {
			next.Walk.Of = int(next.left()) // it may have no segments yet
		}
		return false, r.walkSlice(ctx)
	case len(named) > 0:
		next.Pass = &rebuildPass{}
		for _, s := range named {
			if n := len(next.Pass.Segments); n == passSegments || n > 0 && next.Pass.Of+s.content.Documents > passDocuments {
				break
			}
			next.Pass.Segments = append(next.Pass.Segments, segmentName{s.level, s.id})
			next.Pass.Of += s.content.Documents
		}
		r.names = nil
		return false, r.passSlice(ctx)
	}
	return true, r.finish(ctx)
}

// list lists the segments of the family. It returns ErrNewer if a newer program wrote
// one of them.
func (r *rebuilding) list(ctx context.Context) ([]record, error) {
	records, err := r.recordsOf(ctx, r.teamID, r.family)
	if err == nil && slices.ContainsFunc(records, record.newer) {
		err = ErrNewer
	}
	return records, err
}

// reconsider adapts the state to segments that no longer exist. Only another program,
// or the end of the source, removes them during a rebuild. A pass starts again; a full
// scan continues for the rest.
func (r *rebuilding) reconsider(ctx context.Context) error {
	records, err := r.recordsOf(ctx, r.teamID, r.family)
	if err != nil {
		return err
	}
	if r.state.Pass != nil {
		return r.abandon(ctx)
	}
	next := r.state
	walk := *next.Walk
	walk.Instead = slices.DeleteFunc(slices.Clone(walk.Instead), func(n segmentName) bool {
		return !slices.ContainsFunc(records, func(s record) bool { return s.id == n.ID })
	})
	next.Walk = &walk
	return r.save(ctx, next)
}

// abandon gives the pass up. Segments that are still outdated become a new pass.
func (r *rebuilding) abandon(ctx context.Context) error {
	next := r.state
	staged := next.Pass.Staged
	next.Pass, r.names = nil, nil
	if err := r.save(ctx, next); err != nil {
		return err
	}
	r.removeStaged(ctx, staged)
	return nil
}

// removeStaged removes the blobs of staged segments that no state names any more. If
// that fails, Clean removes them after a day.
func (r *rebuilding) removeStaged(ctx context.Context, staged []stagedSegment) {
	var blobs []string
	for _, s := range staged {
		blobs = append(blobs, r.family.blobName(r.teamID, s.ID))
	}
	if len(blobs) == 0 {
		return
	}
	if err := r.Blobs.Delete(ctx, blobs...); err != nil {
		r.fault(ctx, fmt.Errorf("remove the blobs of a rebuild: %w", err))
	}
}

// isLost reports whether err says that a segment is damaged or missing.
func isLost(err error) bool {
	return errors.Is(err, segment.ErrDamaged) || errors.Is(err, blob.ErrNotFound)
}
