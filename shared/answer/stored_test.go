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

func TestEveryFieldIsStored(t *testing.T) {
	t.Parallel()
	storedtest.KeepFields(t, map[string]storedtest.Record{
		// Model is for the caller of Worker only.
		"answers: {question} | answer": storedtest.Fields(toItem, fromItem, func(a *Answer) { a.Model = nil }),
		"answers: {team}/list | {number}#{question}": storedtest.Fields(
			func(sources []string) (table.Item, error) {
				return listEntries(Answer{TeamID: "acme", QuestionID: "question", Fields: Fields{Sources: sources}})[0], nil
			},
			func(entry table.Item) ([]string, error) { return entrySources(entry), nil }),
	})
}
