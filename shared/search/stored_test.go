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

func TestEveryFieldIsStored(t *testing.T) {
	t.Parallel()
	storedtest.KeepFields(t, map[string]storedtest.Record{
		"index: {team} | {source}#code#{number}#{segment}": storedtest.Fields(
			func(r record) (table.Item, error) {
				put, err := r.put("acme")
				return put.Item, err
			}, recordFrom,
			func(r *record) { r.space, r.blob, r.version = "code", blobName("acme", r.id), 1 }),
		"index: {team}/rebuild | {source}#{space}": storedtest.Fields(
			func(st rebuildState) (table.Item, error) { return st.item("acme", family{"wiki", "code"}) }, rebuildStateFrom),
	})
}
