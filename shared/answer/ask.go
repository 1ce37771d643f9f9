package answer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"docent/shared/audit"
	"docent/shared/queue"
	"docent/shared/quota"
	"docent/shared/table"
	"docent/shared/usage"
)

// Question is a question of a client.
type Question struct {
	ID, Text  string
	RequestID string
}

// Ask accepts a question, once per id, and returns the team's quota of the day. Answer,
// count and pending work are one Write, so a repeated call neither counts nor asks
// again. If the quota is used up, it returns a *quota.ExceededError.
func (s *Service) Ask(ctx context.Context, teamID string, asker Asker, q Question) (quota.State, error) {
	now := s.Now().UTC().Truncate(time.Millisecond)
	day := quota.Day(now)
	a := Answer{QuestionID: q.ID, Fields: Fields{Question: q.Text, Sources: asker.Sources}, State: Processing, AskedAt: now,
		TeamID: teamID, UserID: asker.UserID, origin: audit.OriginFrom(ctx)}
	item, err := toItem(a)
	if err != nil {
		return quota.State{}, err
	}
	work := answerWork(a)
	work.RequestID = q.RequestID
	ops := []table.Op{
		table.Put{Item: item, If: table.Absent()},
		quota.Step(quota.AnswersKey(teamID, day), day, quota.AnswersPerDay),
		work.Promise(),
	}
	for _, entry := range listEntries(a) {
		ops = append(ops, table.Put{Item: entry})
	}
	used := make(chan int64, 1)
	go func() { used <- s.used(ctx, teamID, day) }()
	err = s.Table.Write(ctx, ops...)
	state := quota.Answers(day, <-used)
	switch failed := table.AsConditionFailed(err); {
	case err == nil:
	case failed == nil:
		return state, fmt.Errorf("accept question: %w", err)
	case failed.Key == item.Key:
		err := repeated(failed.Item, asker, a)
		if err == nil {
			usage.Note(ctx, usage.Replayed, 1)
		}
		return state, err
	default:
		return state.Exhausted(), quota.Exceeded(state)
	}
	usage.Note(ctx, usage.Accepted, 1)
	usage.OutcomeKnown(ctx)
	if err := s.Work.Send(ctx, queue.Outgoing{Body: work.Message()}); err != nil {
		s.Warn(work, err)
	}
	return state, nil
}

// used reads the count of the day. It is for a header only, so it returns 0 if the read
// fails.
func (s *Service) used(ctx context.Context, teamID string, day quota.Window) int64 {
	item, err := s.Table.Get(ctx, quota.AnswersKey(teamID, day), table.Eventual)
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return 0
	}
	return quota.Used(item)
}

// repeated returns the result of asking a question whose id is taken by first: success
// if it is the same question and the caller may read it.
func repeated(first *table.Item, asker Asker, again Answer) error {
	if first == nil {
		return conflict()
	}
	before, err := fromItem(*first)
	if err != nil {
		return err
	}
	if before.State == deleted || !asker.mayRead(again.TeamID, before) || before.Question != again.Question {
		return conflict()
	}
	return nil
}
