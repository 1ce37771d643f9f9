package document

import (
	"testing"

	"docent/shared/search/text"
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
		"documents: {team}/{doc} | ruled":                          func(item table.Item) (table.Item, error) { return ruledFrom(item).item(item.Key), nil },
		"documents: {team}/{doc}/{hash}/{number} | {number}": func(item table.Item) (table.Item, error) {
			body, passages, err := wholeChunk(item)
			if err != nil {
				return item, err
			}
			return chunkItem("", "", 0, 0, body, text.Chunk{End: len(body), Passages: passages})
		},
	})
}

func TestEveryFieldIsStored(t *testing.T) {
	t.Parallel()
	listed := func(i int) func(Entry) (table.Item, error) {
		return func(e Entry) (table.Item, error) { return listPuts("acme", e)[i].(table.Put).Item, nil }
	}
	read := func(item table.Item) (Entry, error) { return entryFrom(item), nil }
	noItem := func(e *Entry) { e.Facts = nil }
	storedtest.KeepFields(t, map[string]storedtest.Record{
		"documents: {team}/{doc} | record": storedtest.Fields(
			func(r record) (table.Item, error) { return r.item("acme"), nil },
			func(item table.Item) (record, error) { return recordFrom(item), nil }),
		"documents: {team}/{doc} | ruled": storedtest.Fields(
			func(k ruled) (table.Item, error) { return k.item(ruledKey("acme", "doc")), nil },
			func(item table.Item) (ruled, error) { return ruledFrom(item), nil }),
		"documents: {team}/list/{source} | {space}#{number}#{doc}": storedtest.Fields(listed(0), read),
		"documents: {team}/list | {number}#{doc}":                  storedtest.Fields(listed(0), read, noItem),
		"documents: {team}/list/{source} | {number}#{doc}":         storedtest.Fields(listed(1), read, noItem),
		"documents: {team}/uploads | {number}": storedtest.Fields(
			func(u Upload) (table.Item, error) {
				return u.item(table.Key{Table: table.Documents, Partition: uploadsOf("acme"), Sort: "00"})
			},
			uploadFrom),
		"documents: {team}/{doc}/{hash}/{number} | {number}": storedtest.Fields(
			func(passages []text.Passage) (table.Item, error) {
				return chunkItem("acme", "doc", 1, 0, "body", text.Chunk{End: len("body"), Passages: passages})
			},
			func(item table.Item) ([]text.Passage, error) { return passagesFrom(item.Strings["passages"]) }),
	})
}
