package audit

import (
	"strings"
	"testing"

	"docent/shared/storedtest"
	"docent/shared/table"
)

func TestStoredFormsRoundTrip(t *testing.T) {
	t.Parallel()
	storedtest.RoundTrip(t, map[string]func(table.Item) (table.Item, error){
		"events: {team}/{number} | {number}": func(item table.Item) (table.Item, error) {
			s, err := slotFrom(item)
			if err != nil {
				return item, err
			}
			teamID, _, _ := strings.Cut(item.Partition, "/")
			if s.isTombstone() {
				return tombstone(teamID, s.number, s.at).Item, nil
			}
			e, err := s.event(teamID)
			if err != nil {
				return item, err
			}
			return e.item()
		},
	})
}

func TestEveryFieldIsStored(t *testing.T) {
	t.Parallel()
	storedtest.KeepFields(t, map[string]storedtest.Record{
		"events: {team}/{number} | {number}": storedtest.Fields(
			Event.item,
			func(item table.Item) (Event, error) {
				s, err := slotFrom(item)
				if err != nil {
					return Event{}, err
				}
				return s.event("acme")
			},
			func(e *Event) { e.TeamID = "acme" }),
	})
}
