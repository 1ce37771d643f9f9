package answer

import (
	"testing"

	"docent/shared/storedtest"
	"docent/shared/table"
)

func TestStoredFormsRoundTrip(t *testing.T) {
	t.Parallel()
	storedtest.RoundTrip(t, map[string]func(table.Item) (table.Item, error){
		"answers: {question} | answer": func(item table.Item) (table.Item, error) {
			a, err := fromItem(item)
			if err != nil {
				return item, err
			}
			if a.State == deleted {
				return table.Item{Strings: map[string]string{"team": a.TeamID, "state": string(deleted)}}, nil
			}
			return toItem(a)
		},
	})
}
