package scim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/shared/memory"
	"docent/shared/scim/protocol"
	"docent/shared/table"
	"docent/shared/team"
)

const (
	// parallel limits the parallel reads or writes of one request.
	parallel = 8
	// stagingTime is how long a staged change may take before another change may
	// cancel it.
	stagingTime = time.Minute
	// Members per Write, which has at most 100 operations: a member is two, and its user's existence is a third.
	marksPerWrite  = 33
	clearsPerWrite = 50
)

// checkUsers returns an error unless all members are users of the team. It sets the display of
// those without one to the user's name.
func (s *Service) checkUsers(ctx context.Context, teamID string, added []member) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(parallel)
	for _, part := range batches(added, 500) {
		work.Go(func() error {
			ctx, end := memory.Part(ctx) // only names are kept of the users
			defer end()
			ids := make([]string, len(part))
			for i, m := range part {
				ids[i] = m.userID
			}
			users, err := s.Teams.Profiles(ctx, teamID, ids)
			if err != nil {
				return err
			}
			for i, m := range part {
				user, ok := users[m.userID]
				if !ok {
					return protocol.Bad(protocol.InvalidValue, "The member %q is not a user of this team.", protocol.Shorten(m.userID))
				}
				if m.display == "" {
					part[i].display = user.UserName
				}
			}
			return nil
		})
	}
	return work.Wait()
}

// applyStaged stores a change of many members: it marks them, makes the change count by one
// Write of the group, and clears the marks. What that Write would refuse is refused before any
// member is marked, so that a refused change costs little, however large the group is.
func (s *Service) applyStaged(ctx context.Context, teamID string, before, after group, c memberChange) error {
	if _, err := groupOps(teamID, before, after); err != nil {
		return err
	}
	if err := s.checkName(ctx, teamID, before, after); err != nil {
		return err
	}
	change := s.NewID()
	if before.ID != "" {
		before.Staging = &staging{change, s.moment()}
		put, err := before.put(teamID, table.VersionIs(before.stored))
		if err != nil {
			return err
		}
		if err := conflicting(s.Table.Write(ctx, put)); err != nil {
			return fmt.Errorf("start to change members: %w", err)
		}
		before.stored++
	}
	err := s.writeMarks(ctx, teamID, after.ID, change, c)
	if err == nil {
		after.Changes, after.Staging = []string{change}, nil
		var ops []table.Op
		if ops, err = groupOps(teamID, before, after); err == nil {
			err = s.writeGroup(ctx, teamID, after, groupEvents(before, after, c), ops)
		}
	}
	if err != nil {
		s.abandon(context.WithoutCancel(ctx), teamID, before, after.ID, change)
		return err
	}
	after.stored = before.stored + 1
	// The change counts. If clearing the marks fails, the next change clears them.
	if s.clearMarks(ctx, teamID, after.ID, change, c) == nil {
		_, _ = s.clearChanges(ctx, teamID, after)
	}
	return nil
}

// abandon gives up a staged change, so that others can change the group; for a group that was
// not created, it deletes the members' items. If it fails, others wait for stagingTime.
func (s *Service) abandon(ctx context.Context, teamID string, before group, groupID, change string) {
	if before.ID == "" {
		_ = s.emptyGroup(ctx, teamID, groupID)
		return
	}
	before.Staging, before.Stale = nil, append(slices.Clone(before.Stale), change)
	if put, err := before.put(teamID, table.VersionIs(before.stored)); err == nil {
		_ = s.Table.Write(ctx, put)
	}
}

// writeMarks marks the members of a change. It fails with table.ErrConflict if an item or a
// user has changed since it was read.
func (s *Service) writeMarks(ctx context.Context, teamID, groupID, change string, c memberChange) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(parallel)
	for _, part := range batches(c.added, marksPerWrite) {
		work.Go(func() error {
			var ops []table.Op
			for _, m := range part {
				when := markUnchanged(m)
				m.mark = "+" + change
				ops = append(ops, memberOps(teamID, groupID, m, when)...)
				ops = append(ops, team.UserExists(teamID, m.userID))
			}
			return conflicting(s.Table.Write(ctx, ops...))
		})
	}
	for _, part := range batches(c.removed, clearsPerWrite) {
		work.Go(func() error {
			var ops []table.Op
			for _, m := range part {
				when := markUnchanged(m)
				m.mark = "-" + change
				ops = append(ops, memberOps(teamID, groupID, m, when)...)
			}
			return conflicting(s.Table.Write(ctx, ops...))
		})
	}
	if err := work.Wait(); err != nil {
		return fmt.Errorf("mark members: %w", err)
	}
	return nil
}

// clearMarks replaces the marks of a change that counts by its outcome.
func (s *Service) clearMarks(ctx context.Context, teamID, groupID, change string, c memberChange) error {
	var all []member
	for _, m := range c.added {
		m.mark = "+" + change
		all = append(all, m)
	}
	for _, m := range c.removed {
		m.mark = "-" + change
		all = append(all, m)
	}
	return s.settleMarks(ctx, teamID, group{ID: groupID, Changes: []string{change}}, all)
}

// settleMarks settles or deletes each marked member, as g counts it. Items that changed since
// they were read are skipped.
func (s *Service) settleMarks(ctx context.Context, teamID string, g group, members []member) error {
	ops := func(m member) []table.Op {
		when := markUnchanged(m)
		if g.isMember(m.mark) {
			m.mark = settledMark
		} else {
			m.mark = ""
		}
		return memberOps(teamID, g.ID, m, when)
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(parallel)
	for _, part := range batches(members, clearsPerWrite) {
		work.Go(func() error {
			var all []table.Op
			for _, m := range part {
				all = append(all, ops(m)...)
			}
			err := s.Table.Write(ctx, all...)
			if table.AsConditionFailed(err) == nil {
				return err
			}
			for _, m := range part {
				if err := s.Table.Write(ctx, ops(m)...); err != nil && table.AsConditionFailed(err) == nil {
					return err
				}
			}
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		return fmt.Errorf("clear marks of members: %w", err)
	}
	return nil
}

// finishOldChanges clears the marks that earlier changes of g left. It fails with
// table.ErrConflict while another change is in progress.
func (s *Service) finishOldChanges(ctx context.Context, teamID string, g group) (group, error) {
	if g.Staging != nil {
		if s.Now().Sub(g.Staging.At) < stagingTime {
			return g, fmt.Errorf("another change of members is in progress: %w", table.ErrConflict)
		}
		// After this write the other change can no longer count.
		g.Stale = append(slices.Clone(g.Stale), g.Staging.ID)
		g.Staging = nil
		put, err := g.put(teamID, table.VersionIs(g.stored))
		if err != nil {
			return g, err
		}
		if err := conflicting(s.Table.Write(ctx, put)); err != nil {
			return g, fmt.Errorf("end an unfinished change: %w", err)
		}
		g.stored++
	}
	if len(g.Changes)+len(g.Stale) == 0 {
		return g, nil
	}
	var marked []member
	err := s.eachMember(ctx, teamID, g.ID, func(m member) {
		if len(m.mark) > 1 && (slices.Contains(g.Changes, m.mark[1:]) || slices.Contains(g.Stale, m.mark[1:])) {
			marked = append(marked, m)
		}
	})
	if err != nil {
		return g, err
	}
	if err := s.settleMarks(ctx, teamID, g, marked); err != nil {
		return g, err
	}
	return s.clearChanges(ctx, teamID, g)
}

// clearChanges records that g has no marked members.
func (s *Service) clearChanges(ctx context.Context, teamID string, g group) (group, error) {
	g.Changes, g.Stale = nil, nil
	put, err := g.put(teamID, table.VersionIs(g.stored))
	if err != nil {
		return g, err
	}
	if err := conflicting(s.Table.Write(ctx, put)); err != nil {
		return g, fmt.Errorf("record the end of a change of members: %w", err)
	}
	g.stored++
	return g, nil
}

// emptyGroup deletes the items of all members of a deleted group.
func (s *Service) emptyGroup(ctx context.Context, teamID, groupID string) error {
	var all []member
	if err := s.eachMember(ctx, teamID, groupID, func(m member) { all = append(all, m) }); err != nil {
		return err
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(parallel)
	for _, part := range batches(all, clearsPerWrite) {
		work.Go(func() error {
			var ops []table.Op
			for _, m := range part {
				m.mark = ""
				ops = append(ops, memberOps(teamID, groupID, m, table.Condition{})...)
			}
			return s.Table.Write(ctx, ops...)
		})
	}
	if err := work.Wait(); err != nil {
		return errors.Join(fmt.Errorf("remove members of group %s", groupID), err)
	}
	return nil
}
