package answer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"docent/shared/audit"
	"docent/shared/filter"
	"docent/shared/pending"
	"docent/shared/quota"
	"docent/shared/table"
	"docent/shared/usage"
)

// Question is a question of a client.
type Question struct {
	ID, Text  string
	Filter    *filter.Filter // nil: none
	Previous  string         // the id of the question that it follows; empty: none
	Context   []string       // questions before it and after Previous, oldest first
	RequestID string
}

// Ask accepts a question, once per id, and returns the team's quota of the day. Answer,
// count and pending work are one Write, so a repeated call neither counts nor asks
// again. If the quota is used up, it returns a *quota.ExceededError.
func (s *Service) Ask(ctx context.Context, teamID string, asker Asker, q Question) (quota.State, error) {
	state, work, err := s.Accept(ctx, teamID, asker, q)
	if work != nil {
		s.Hand(ctx, *work)
	}
	return state, err
}

// Hand gives an accepted question to the queue's workers. If the message cannot be sent, the
// sweeper sends it later.
func (s *Service) Hand(ctx context.Context, work pending.Work) {
	if err := s.Work.Send(ctx, work.Outgoing(0)); err != nil {
		s.Warn(work, err)
	}
}

// Accept is Ask that leaves a new question to the caller, who gives its work to Worker.Run or to
// Hand. If neither happens, the sweeper gives it to the queue after pending.Grace. The work is
// nil for a repeated question and for a refused one.
func (s *Service) Accept(ctx context.Context, teamID string, asker Asker, q Question) (quota.State, *pending.Work, error) {
	now := s.Now().UTC().Truncate(time.Millisecond)
	day := quota.Day(now)
	a := Answer{QuestionID: q.ID, Fields: Fields{Question: q.Text, Sources: asker.Sources}, State: Processing, AskedAt: now,
		TeamID: teamID, UserID: asker.UserID, origin: audit.OriginFrom(ctx)}
	if q.Filter != nil {
		a.FilterJSON = json.RawMessage(q.Filter.String())
	}
	repeats, err := s.followUp(ctx, teamID, asker, q, &a)
	if err != nil {
		return quota.State{}, nil, err
	}
	if repeats {
		usage.Note(ctx, usage.Replayed, 1)
		return quota.Answers(day, s.used(ctx, teamID, day)), nil, nil
	}
	item, err := toItem(a)
	if err != nil {
		return quota.State{}, nil, err
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
		return state, nil, fmt.Errorf("accept question: %w", err)
	case failed.Key == item.Key:
		err := repeated(failed.Item, asker, a)
		if err == nil {
			usage.Note(ctx, usage.Replayed, 1)
		}
		return state, nil, err
	default:
		return state.Exhausted(), nil, quota.Exceeded(state)
	}
	usage.Note(ctx, usage.Accepted, 1)
	usage.OutcomeKnown(ctx)
	return state, &work, nil
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
	if before.State == deleted || !asker.mayRead(again.TeamID, before) || !sameQuestion(before, again) {
		return conflict()
	}
	return nil
}

// sameQuestion reports whether again asks the same as stored, after the same questions.
func sameQuestion(stored, again Answer) bool {
	return stored.Question == again.Question && stored.Previous == again.Previous && sameContext(stored, again) && sameFilter(stored, again)
}

// sameContext reports whether two questions have the same context. If the answer that again follows was deleted since stored
// was asked, the context of again has only the end of that of stored.
func sameContext(stored, again Answer) bool {
	if again.Previous == "" || stored.Context == again.Context {
		return stored.Context == again.Context
	}
	return again.Context == "" || strings.HasSuffix(stored.Context, "\n"+again.Context)
}

// sameFilter reports whether two questions have the same filter.
func sameFilter(a, b Answer) bool {
	x, err := a.Filter()
	if err != nil {
		return false
	}
	y, err := b.Filter()
	return err == nil && x.String() == y.String()
}
