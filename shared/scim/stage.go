package scim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/shared/scim/protocol"
	"docent/shared/table"
	"docent/shared/team"
)

const (
	// parallel is how many writes or reads of one request run at a time.
	parallel = 8
	// stagingTime is how long a change of members may be made before another one
	// may take its place.
	stagingTime = time.Minute
	// members that one Write of a staged change marks, and clears
	marksPerWrite  = 33
	clearsPerWrite = 50
)

func userExists(teamID, userID string) table.Op { return team.UserExists(teamID, userID) }

// checkUsers makes sure that the members to add are users of the team, and gives
// those without a display their user's name.
func (s *Service) checkUsers(ctx context.Context, teamID string, added []member) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(parallel)
	for _, part := range batches(added, 500) {
		work.Go(func() error {
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
					return protocol.Bad(protocol.InvalidValue, "The member %q is no user of this team.", protocol.Shorten(m.userID))
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

// applyStaged is apply for a change of many members: it marks them, makes the
// change count in one Write of the group, and clears the marks.
func (s *Service) applyStaged(ctx context.Context, teamID string, before, after group, c memberChange) error {
	change := s.NewID()
	if before.ID != "" {
		before.Staging = &staging{change, s.moment()}
		put, err := before.put(teamID, table.VersionIs(before.stored))
		if err != nil {
			return err
		}
		if err := conflicting(s.Table.Write(ctx, put)); err != nil {
			return fmt.Errorf("begin to change members: %w", err)
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
	// The change counts. Marks that cannot be cleared now are cleared before the
	// next change.
	if s.clearMarks(ctx, teamID, after.ID, change, c) == nil {
		_, _ = s.clearChanges(ctx, teamID, after)
	}
	return nil
}

// abandon lets others change the group again; of a group that was not made it
// removes the items. When it fails, others may change the group after stagingTime.
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

// writeMarks writes the marks of a change. It fails with table.ErrConflict when an item
// or a user is not what was read any more.
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
				ops = append(ops, userExists(teamID, m.userID))
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

// clearMarks replaces the marks of a change that counts by what they say.
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

// settleMarks replaces the marks of members by whether they count in g. Items that
// are not as they were read stay as they are: someone else was there before.
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

// finishOldChanges finishes what earlier changes of g left, so that its items bear no marks
// that mean anything. table.ErrConflict while another change is being made.
func (s *Service) finishOldChanges(ctx context.Context, teamID string, g group) (group, error) {
	if g.Staging != nil {
		if s.Now().Sub(g.Staging.At) < stagingTime {
			return g, fmt.Errorf("another change of members is being made: %w", table.ErrConflict)
		}
		// From here on the other change cannot count any more.
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
	var left []member
	err := s.eachMember(ctx, teamID, g.ID, func(m member) {
		if len(m.mark) > 1 && (slices.Contains(g.Changes, m.mark[1:]) || slices.Contains(g.Stale, m.mark[1:])) {
			left = append(left, m)
		}
	})
	if err != nil {
		return g, err
	}
	if err := s.settleMarks(ctx, teamID, g, left); err != nil {
		return g, err
	}
	return s.clearChanges(ctx, teamID, g)
}

// clearChanges notes that no marks of changes are left.
func (s *Service) clearChanges(ctx context.Context, teamID string, g group) (group, error) {
	g.Changes, g.Stale = nil, nil
	put, err := g.put(teamID, table.VersionIs(g.stored))
	if err != nil {
		return g, err
	}
	if err := conflicting(s.Table.Write(ctx, put)); err != nil {
		return g, fmt.Errorf("note that a change of members is done: %w", err)
	}
	g.stored++
	return g, nil
}

// emptyGroup removes the items of all members of a group that is gone.
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
