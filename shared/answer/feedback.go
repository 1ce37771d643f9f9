package answer

import (
	"context"
	"fmt"
	"time"

	"docent/shared/apierr"
	"docent/shared/table"
)

// Rating says whether an answer helped.
type Rating string

// The ratings.
const (
	Up   Rating = "up"
	Down Rating = "down"
)

// Feedback is a reader's rating of an answer.
type Feedback struct {
	Rating  Rating `json:"rating" enum:"up,down"`
	Comment string `json:"comment,omitempty" maxLength:"2000"`
	At      int64  `json:"at"` // Unix milliseconds
}

// Rate stores feedback on an answer that the asker may read, in place of earlier feedback. What is
// withheld from the asker stays stored. It returns a conflict while the question is not answered.
func (s *Service) Rate(ctx context.Context, teamID string, asker Asker, questionID string, f Feedback) error {
	for {
		a, err := s.stored(ctx, teamID, asker, questionID)
		if err != nil {
			return err
		}
		if a.State == Processing {
			return apierr.New(apierr.Conflict, apierr.CodeAnswerConflict, "The question is not answered yet. Rate it when its state is no longer processing.")
		}
		f.At = s.Now().UTC().Truncate(time.Millisecond).UnixMilli()
		a.Feedback = &f
		item, err := toItem(a)
		if err != nil {
			return err
		}
		err = s.Table.Write(ctx, table.Put{Item: item, If: table.Is("state", string(a.State))})
		if table.AsConditionFailed(err) != nil {
			continue // it was deleted in the meantime
		}
		if err != nil {
			return fmt.Errorf("store feedback: %w", err)
		}
		return nil
	}
}
