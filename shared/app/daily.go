package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/pause"
	"docent/shared/quota"
	"docent/shared/search"
	"docent/shared/source"
	"docent/shared/table"
	"docent/shared/team"
	"docent/shared/usage"
)

// daily does the work that is due once per Pacific day for every team. It trims the feed of security events and records
// in it what each key did on the day before. It plans the first sync of sources that are older than their connector,
// and the rebuild of outdated segments. Each sweep does some teams, in the order of their ids, and continues where
// the last one stopped.
type daily struct {
	// parallel is how many teams are done at the same time; 0: one. pages is how many times
	// teamsPerSweep teams are done in a sweep, unless its time is over; 0: once.
	parallel, pages int

	// keep leaves the feeds as they are: the clock may be wrong; see jumpWatch.
	keep bool

	table   table.Store
	now     func() time.Time
	events  *audit.Log
	teams   *team.Service
	sources *source.Service
	index   *search.Index
	usage   *usage.Counter
	folding sync.Mutex // one team at a time, for the memory it takes
}

const (
	// foldTime bounds ordering the usage of one team by user, so that other teams get their turn. What it did not
	// reach is done on the next days.
	foldTime = 15 * time.Second

	teamsPerSweep = 100
	// settleFor is how long after midnight usage of the last day may still be counted.
	settleFor = 15 * time.Minute
	// daysBack is how many days are summed up, to make up for rounds that failed or
	// did not run.
	daysBack = 3
	// saveFor bounds saving how far a round is, after its time is over.
	saveFor = time.Second
)

const (
	dayField   = "day"   // the Pacific day on which the round runs
	afterField = "after" // the last team that was done
	doneField  = "done"
)

// run continues the day's round. It skips teams that fail, which are tried again on the
// next day, and returns their errors joined.
func (d *daily) run(ctx context.Context) error {
	if ctx.Err() != nil {
		return nil
	}
	today := quota.Day(d.now().Add(-settleFor))
	key := table.Key{Table: table.Events, Partition: "daily", Sort: "round"}
	round, err := d.table.Get(ctx, key)
	cond := table.VersionIs(round.Version)
	switch {
	case errors.Is(err, table.ErrNotFound):
		cond = table.Absent()
	case err != nil:
		return fmt.Errorf("read the day's round: %w", err)
	}
	after := round.Strings[afterField]
	if round.Strings[dayField] != today.Date {
		after = ""
	} else if round.Numbers[doneField] > 0 {
		return nil
	}
	done := int64(0)
	var failed []error
	for range max(d.pages, 1) {
		ids, err := d.teams.IDs(ctx, after, teamsPerSweep)
		if err != nil {
			failed = append(failed, err)
			break
		}
		n, err := d.some(ctx, ids, today)
		failed = append(failed, err)
		if n > 0 {
			after = ids[n-1]
		}
		if n < len(ids) {
			break // the time is over; the next run starts with the first team that was not done
		}
		if len(ids) < teamsPerSweep {
			done = 1
			break
		}
	}
	ctx, cancel := pause.WithGrace(ctx, saveFor)
	defer cancel()
	err = d.table.Write(ctx, table.Put{If: cond, Item: table.Item{Key: key, Version: round.Version + 1,
		Strings: map[string]string{dayField: today.Date, afterField: after}, Numbers: map[string]int64{doneField: done}}})
	if err != nil && table.AsConditionFailed(err) == nil { // another sweep may have saved its own
		failed = append(failed, fmt.Errorf("save how far the day's round is: %w", err))
	}
	return errors.Join(failed...)
}

// some does the day's work for teams, some at the same time. It returns how many, from the first,
// are done before ctx ends, and the joined errors of those that failed.
func (d *daily) some(ctx context.Context, ids []string, today quota.Window) (int, error) {
	done := make([]bool, len(ids))
	failed := make([]error, len(ids))
	var work errgroup.Group
	work.SetLimit(max(d.parallel, 1))
	for i, id := range ids {
		work.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			err := d.team(ctx, id, today)
			if done[i] = ctx.Err() == nil; done[i] {
				failed[i] = err
			}
			return nil
		})
	}
	_ = work.Wait() // failed has the errors
	n := slices.Index(done, false)
	if n < 0 {
		n = len(ids)
	}
	return n, errors.Join(failed...)
}

// team does the day's work for one team. It is idempotent.
func (d *daily) team(ctx context.Context, teamID string, today quota.Window) error {
	var trimmed error
	if !d.keep {
		trimmed = d.events.Trim(ctx, teamID)
	}
	if err := errors.Join(trimmed, d.sumUp(ctx, teamID, today),
		d.sources.PlanMissing(ctx, teamID), d.index.PlanRebuilds(ctx, teamID)); err != nil {
		return fmt.Errorf("daily work of team %s: %w", teamID, err)
	}
	return nil
}

// sumUp records what each key of the team did on the days before today, and orders their usage by user if it is much.
func (d *daily) sumUp(ctx context.Context, teamID string, today quota.Window) error {
	start := today.Start
	for range daysBack {
		start = quota.Day(start.Add(-time.Hour)).Start
	}
	days, _, err := d.usage.Report(ctx, teamID, d.now(), usage.Query{Start: start, End: today.Start,
		Granularity: usage.Day, Zone: quota.Zone(), GroupBy: []string{usage.ByAPIKey, usage.ByFeature}, Limit: daysBack})
	if err != nil {
		return fmt.Errorf("sum up the day: %w", err)
	}
	calls := int64(0)
	for _, day := range days {
		counts := map[string]map[string]int64{}
		for _, r := range day.Results {
			n := r.Metrics.Requests
			calls += n
			if *r.Feature == usage.Answers {
				n = r.Metrics.Accepted
			}
			if *r.APIKeyID == "" || n == 0 || *r.Feature != usage.Answers && !strings.HasPrefix(*r.Feature, "context.") {
				continue
			}
			if counts[*r.APIKeyID] == nil {
				counts[*r.APIKeyID] = map[string]int64{}
			}
			counts[*r.APIKeyID][*r.Feature] = n
		}
		for key, of := range counts {
			if err := d.record(ctx, teamID, key, quota.Day(day.Start).Date, day.End, of); err != nil {
				return err
			}
		}
	}
	if calls < usage.MinFolded {
		return nil
	}
	d.folding.Lock()
	defer d.folding.Unlock()
	ctx, cancel := context.WithTimeout(ctx, foldTime)
	defer cancel()
	return d.usage.Fold(ctx, teamID, today.Start.UTC().Truncate(24*time.Hour), daysBack)
}

// record records the counts of a key on a day, once.
func (d *daily) record(ctx context.Context, teamID, keyID, date string, end time.Time, counts map[string]int64) error {
	const remembered = (daysBack + 4) * 24 * time.Hour
	target := audit.Target{Type: audit.TargetAPIKey, ID: keyID}
	if k, err := d.teams.Key(ctx, teamID, keyID); err == nil {
		target.DisplayName = k.Name
	} else if !apierr.IsCode(err, apierr.CodeNotFound) {
		return fmt.Errorf("read key %s: %w", keyID, err)
	}
	_, err := d.events.Once(ctx, teamID, string(audit.DailySummary)+"#"+keyID+"#"+date, remembered,
		audit.Event{Type: audit.DailySummary, OccurredAt: end.Add(-time.Millisecond), Targets: []audit.Target{target}, Counts: counts})
	return err
}
