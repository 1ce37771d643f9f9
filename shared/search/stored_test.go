package search

import (
	"testing"

	"docent/shared/embed"
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
			func(r *record) {
				r.space, r.meaning, r.version, r.wanted = "code", false, 1, embed.Model{}
				r.blob = r.family().blobName("acme", r.id)
			}),
		"index: {team}/meaning | {source}#code#{number}#{segment}": storedtest.Fields(
			func(r record) (table.Item, error) {
				put, err := r.put("acme")
				return put.Item, err
			}, recordFrom,
			func(r *record) {
				r.space, r.meaning, r.version, r.wanted = "code", true, 1, embed.Model{}
				r.blob = r.family().blobName("acme", r.id)
			}),
		"index: {team}/rebuild | {source}#{space}": storedtest.Fields(
			func(st rebuildState) (table.Item, error) {
				return st.item("acme", family{source: "wiki", space: "code"})
			}, rebuildStateFrom),
		"index: {team}/rebuild-meaning | {source}#{space}": storedtest.Fields(
			func(st rebuildState) (table.Item, error) { return st.item("acme", family{"wiki", "code", true}) }, rebuildStateFrom),
	})
}
