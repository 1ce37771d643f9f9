package collection

import (
	"encoding/json"
	"testing"

	"docent/shared/storedtest"
	"docent/shared/table"
)

func TestStoredFormsRoundTrip(t *testing.T) {
	t.Parallel()
	storedtest.RoundTrip(t, map[string]func(table.Item) (table.Item, error){
		"collections: {team} | {source}": func(item table.Item) (table.Item, error) {
			if IsConnected(item) {
				delete(item.Numbers, storedtest.Unknown) // package source reads these
				delete(item.Strings, storedtest.Unknown)
				return item, nil
			}
			c, err := fromItem(item)
			if err != nil {
				return item, err
			}
			return toItem(item.Partition, c)
		},
		"collections: {team}/idempotency | {key}#{hash}": func(item table.Item) (table.Item, error) {
			c, err := replay(&item, item)
			if err != nil {
				return item, err
			}
			body, err := json.Marshal(c)
			return table.Item{Body: body, Strings: map[string]string{"request": item.Strings["request"]}}, err
		},
	})
}
