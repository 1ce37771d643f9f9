package document

import (
	"testing"

	"docent/shared/search"
	"docent/shared/storedtest"
	"docent/shared/table"
)

func TestStoredFormsRoundTrip(t *testing.T) {
	t.Parallel()
	entry := func(item table.Item) (table.Item, error) { return entryItem(item.Key, entryFrom(item)), nil }
	storedtest.RoundTrip(t, map[string]func(table.Item) (table.Item, error){
		"documents: {team}/{doc} | record":                         func(item table.Item) (table.Item, error) { return recordFrom(item).item(""), nil },
		"documents: {team}/list | {number}#{doc}":                  entry,
		"documents: {team}/list/{source} | {number}#{doc}":         entry,
		"documents: {team}/list/{source} | {space}#{number}#{doc}": entry,
		"documents: {team}/{doc}/{hash}/{number} | {number}": func(item table.Item) (table.Item, error) {
			body, passages, err := chunkFrom(item)
			if err != nil {
				return item, err
			}
			return chunkItem("", "", 0, 0, body, search.Chunk{End: len(body), Passages: passages})
		},
	})
}
