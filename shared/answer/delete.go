package answer

import (
	"context"
	"fmt"

	"docent/shared/table"
)

// Delete erases question and answer for good. The id stays spent.
func (s *Service) Delete(ctx context.Context, teamID string, asker Asker, questionID string) error {
	for {
		a, err := s.Get(ctx, teamID, asker, questionID)
		if err != nil {
			return err
		}
		mark := table.Item{Key: answerKey(questionID),
			Strings: map[string]string{"team": teamID, "state": string(deleted)}}
		ops := []table.Op{
			table.Put{Item: mark, If: table.Is("state", string(a.State))},
			table.Delete{Key: answering(a).Key()},
		}
		for _, entry := range listEntries(a) {
			ops = append(ops, table.Delete{Key: entry.Key})
		}
		err = s.Table.Write(ctx, ops...)
		if table.Failed(err) != nil {
			continue // answered or deleted meanwhile
		}
		if err != nil {
			return fmt.Errorf("delete answer: %w", err)
		}
		return nil
	}
}
