package collection

import (
	"encoding/json"
	"testing"
	"time"

	"docent/shared/fieldtest"
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
			var asked Collection
			if err := json.Unmarshal(item.Body, &asked); err != nil {
				return item, err
			}
			c, err := replay(&item, asked.Fields, asked.DefaultAccess)
			if err != nil {
				return item, err
			}
			again, err := replyItem("", c, IdempotencyKey{}, time.Time{})
			return again, err
		},
	})
}

func TestEveryFieldIsStored(t *testing.T) {
	t.Parallel()
	storedtest.KeepFields(t, map[string]storedtest.Record{
		"collections: {team} | {source}": storedtest.Fields(
			func(c Collection) (table.Item, error) { return toItem("acme", c) }, fromItem),
		"collections: {team}/idempotency | {key}#{hash}": storedtest.Fields(
			func(f Fields) (table.Item, error) {
				return replyItem("acme", Collection{Fields: f}, IdempotencyKey{"key", "again"}, time.Now())
			},
			func(item table.Item) (Fields, error) {
				c, err := replay(&item, fieldtest.Fill[Fields](t), nil)
				return c.Fields, err
			}),
	})
}
