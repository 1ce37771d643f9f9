package search

import (
	"testing"

	"docent/shared/storedtest"
	"docent/shared/table"
)

func TestStoredFormsRoundTrip(t *testing.T) {
	t.Parallel()
	forms := map[string]func(table.Item) (table.Item, error){}
	for _, space := range Spaces {
		forms["index: {team} | {source}#"+string(space)+"#{number}#{segment}"] = func(item table.Item) (table.Item, error) {
			r, err := recordFrom(item)
			if err != nil {
				return item, err
			}
			put, err := r.put(item.Partition)
			return put.Item, err
		}
	}
	storedtest.RoundTrip(t, forms)
}
