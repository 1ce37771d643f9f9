package answer

import (
	"context"
	"fmt"

	"docent/shared/audit"
	"docent/shared/table"
)

// Delete permanently erases question and answer, also one that is withheld from the asker. The id stays taken.
func (s *Service) Delete(ctx context.Context, teamID string, asker Asker, questionID string) error {
	claim := s.Events.OrSilent(s.Table).Claim(ctx, teamID, 1)
	defer claim.End(ctx)
	for {
		a, err := s.stored(ctx, teamID, asker, questionID)
		if err != nil {
			return err
		}
		mark := table.Item{Key: answerKey(questionID),
			Strings: map[string]string{"team": teamID, "state": string(deleted)}}
		ops := []table.Op{
			table.Put{Item: mark, If: table.Is("state", string(a.State))},
			table.Delete{Key: answerWork(a).Key()},
		}
		for _, entry := range listEntries(a) {
			ops = append(ops, table.Delete{Key: entry.Key})
		}
		events := []audit.Event{newEvent(audit.AnswerDeleted, a)}
		if a.State == Processing {
			events = []audit.Event{askedEvent(a), events[0]}
		}
		err = claim.Write(ctx, events, ops...)
		if table.AsConditionFailed(err) != nil {
			continue // it was answered or deleted in the meantime
		}
		if err != nil {
			return fmt.Errorf("delete answer: %w", err)
		}
		return nil
	}
}
