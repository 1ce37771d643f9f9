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

// Rebuilder makes outdated segments anew from the documents, one family at a time and
// one slice after the other. A slice is saved in one Write, so that a rebuild continues
// where it was stopped in any way. Outdated segments answer until the Write that
// finishes their replacement.
type Rebuilder struct {
	*Index
	Log *slog.Logger
	// Turn is how long one family is rebuilt before another has its turn; 0: until it
	// is finished, or the context's deadline comes near.
	Turn time.Duration
	// Rest, when set, pauses after a slice that took worked, so that rebuilding leaves
	// others their share of the machine.
	Rest func(ctx context.Context, worked time.Duration) error

	slicePassages int // of one slice; 0 means the constant
}

const (
	rebuildHold    = 2 * time.Minute  // that a rebuild is left to who is at it, from its last save
	rebuildMargin  = 15 * time.Second // before the deadline: for the slice in hand to be built and saved
	releaseTimeout = 5 * time.Second
	passDocuments  = 20_000 // of several segments in one pass; one segment may have more
	passSegments   = 30     // in one pass or walk, so that the Write that replaces them keeps within table.MaxOps
)

var (
	// ErrHeld means that another worker is at the rebuild, or was stopped in the last
	// minutes while it was.
	ErrHeld = errors.New("another worker is at this rebuild")
	// ErrNewer means that the family is left to a newer program.
	ErrNewer = errors.New("a newer program wrote a segment of this family; it is left to that program")
	// errOvertaken: another worker has the rebuild now, or it was dropped with its source.
	errOvertaken = errors.New("another worker has taken this rebuild over")
	// errChanged: segments that were to be replaced have gone.
	errChanged = errors.New("the segments have changed")
)

// rebuilding is a turn at the rebuild of one family.
type rebuilding struct {
	*Rebuilder
	teamID string
	family family
	work   pending.Work
	state  rebuildState
	end    time.Time     // no slice begins after it; zero: there is none
	names  segment.Names // the documents sections of the pass's segments, read once a turn
	held   map[string]segment.Names
}

// Batch does a turn for each message of a batch and returns the ids of the messages that failed. It acts on the current
// state: a message that is delivered twice, late, or during another worker's turn changes nothing.
func (b *Rebuilder) Batch(ctx context.Context, batch []queue.Message) (failed []string) {
	return pending.Worker{Kind: pending.RebuildIndex, Do: b.do, Log: b.Log}.Batch(ctx, batch)
}

func (b *Rebuilder) do(ctx context.Context, work pending.Work) error {
	finished, err := b.Run(ctx, work)
	if errors.Is(err, ErrHeld) || errors.Is(err, ErrNewer) {
		return nil // the sweeper sends it again, in case that worker was stopped or that program is gone
	}
	if err == nil && !finished {
		b.send(ctx, work)
	}
	return err
}

// Run does one turn at the rebuild that work names. It returns false when the turn has
// ended before the rebuild. Work that is done, dropped or taken over counts as finished;
// ErrHeld and ErrNewer mean that nothing was done.
func (b *Rebuilder) Run(ctx context.Context, work pending.Work) (finished bool, err error) {
	f, err := familyNamed(work.ID)
	if err != nil {
		return false, err
	}
	r := &rebuilding{Rebuilder: b, teamID: work.TeamID, family: f, work: work, held: map[string]segment.Names{}}
	taken, err := r.take(ctx)
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
	case errors.Is(err, errOvertaken):
		return true, nil
	case err != nil:
		return false, errors.Join(err, r.release(ctx, err))
	case !finished:
		return false, r.release(ctx, nil)
	}
	return true, nil
}

// take takes the rebuild for this worker. It returns false when there is nothing to do.
func (r *rebuilding) take(ctx context.Context) (taken bool, err error) {
	if r.state, err = r.stateOf(ctx, r.teamID, r.family); errors.Is(err, table.ErrNotFound) {
		return false, r.forget(ctx) // finished, or dropped with its source
	} else if err != nil {
		return false, err
	}
	if r.state.Began != r.work.At {
		return false, r.forget(ctx) // of a rebuild before this one
	}
	if r.state.until > r.Now().UnixMilli() {
		return false, ErrHeld
	}
	live, err := r.Corpus.Sources(ctx, r.teamID)
	if err != nil {
		return false, fmt.Errorf("list the live sources: %w", err)
	}
	if !slices.Contains(live, r.family.source) {
		if err := r.finish(ctx); err != nil || r.state.Pass == nil {
			return false, err
		}
		r.removeStaged(ctx, r.state.Pass.Staged)
		return false, nil
	}
	err = r.save(ctx, r.state)
	if errors.Is(err, errOvertaken) {
		return false, nil
	}
	return err == nil, err
}

// forget ends pending work that no state belongs to.
func (r *rebuilding) forget(ctx context.Context) error {
	if err := r.Table.Write(ctx, table.Delete{Key: r.work.Key()}); err != nil {
		return fmt.Errorf("end a rebuild: %w", err)
	}
	return nil
}

// finish ends the rebuild.
func (r *rebuilding) finish(ctx context.Context) error {
	err := r.Table.Write(ctx, table.Delete{Key: rebuildKey(r.teamID, r.family), If: table.VersionIs(r.state.version)},
		table.Delete{Key: r.work.Key()})
	if table.AsConditionFailed(err) != nil {
		return errOvertaken
	}
	if err != nil {
		return fmt.Errorf("end a rebuild: %w", err)
	}
	return nil
}

// save stores next in place of the state, with ops, in one Write, and with it the hold on
// the rebuild. Nothing has changed when it returns errOvertaken or errChanged.
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
		return errOvertaken
	default:
		return errChanged
	}
}

// release lets whoever comes next continue at once, and records why this turn failed.
func (r *rebuilding) release(ctx context.Context, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	next := r.state
	next.until = 0
	if cause != nil {
		next.Error = saveError(r.Now(), cause)
	}
	if err := r.saveUntil(ctx, next); err != nil && !errors.Is(err, errOvertaken) {
		return fmt.Errorf("release a rebuild: %w", err)
	}
	return nil
}

// over reports whether the turn is.
func (r *rebuilding) over(ctx context.Context) bool {
	return ctx.Err() != nil || !r.end.IsZero() && !time.Now().Before(r.end)
}

// run makes slices until nothing is outdated, which it returns true for, or the turn is
// over. A turn makes at least one step, so that every turn brings the rebuild on.
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
				return false, nil // the turn was called off
			}
		}
	}
	return false, nil
}

// step makes the next slice of what is under way, or begins what is to be done next:
// first a walk, as it brings back what is not found at all.
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

// list lists the segments of the family; ErrNewer when one of them is a newer program's.
func (r *rebuilding) list(ctx context.Context) ([]record, error) {
	records, err := r.records(ctx, r.teamID, r.family.prefix())
	if err == nil && slices.ContainsFunc(records, record.newer) {
		err = ErrNewer
	}
	return records, err
}

// reconsider adapts the state to segments that have gone, which only another program
// or the end of the source takes away during a rebuild: a pass is begun anew, and a walk
// goes on for the rest.
func (r *rebuilding) reconsider(ctx context.Context) error {
	records, err := r.records(ctx, r.teamID, r.family.prefix())
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

// abandon gives the pass up; what is still outdated becomes another one.
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

// removeStaged removes the blobs of staged segments that no state names any more. What
// fails is found by Clean after a day.
func (r *rebuilding) removeStaged(ctx context.Context, staged []stagedSegment) {
	var blobs []string
	for _, s := range staged {
		blobs = append(blobs, blobName(r.teamID, s.ID))
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
