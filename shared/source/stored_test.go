package source

import (
	"encoding/json"
	"strings"
	"testing"

	"docent/shared/collection"
	"docent/shared/storedtest"
	"docent/shared/table"
)

func TestStoredFormsRoundTrip(t *testing.T) {
	t.Parallel()
	storedtest.RoundTrip(t, map[string]func(table.Item) (table.Item, error){
		"collections: {team} | {source}": func(item table.Item) (table.Item, error) {
			if !collection.IsConnected(item) {
				delete(item.Numbers, storedtest.Unknown) // package collection reads these
				delete(item.Strings, storedtest.Unknown)
				var c map[string]any
				if err := json.Unmarshal(item.Body, &c); err != nil {
					return item, err
				}
				delete(c, storedtest.Unknown)
				body, err := json.Marshal(c)
				item.Body = body
				return item, err
			}
			d := sourceFrom(item)
			again := sourceItem(item.Partition, d)
			// What syncs tell is added to the item later.
			if d.LastSync != nil {
				again.Numbers[syncField] = d.LastSync.UnixMilli()
			}
			if d.LastError != nil {
				again.Strings[codeField], again.Strings[detailField] = d.LastError.Code, d.LastError.Detail
				again.Numbers[errorTimeField] = d.LastError.At.UnixMilli()
			} else if _, synced := item.Strings[codeField]; synced {
				again.Strings[codeField], again.Strings[detailField] = "", ""
			}
			return again, nil
		},
		"collections: {team}/source/{source} | settings": func(item table.Item) (table.Item, error) {
			var d DataSource
			if err := json.Unmarshal(item.Body, &d.Settings); err != nil {
				return item, err
			}
			return settingsItem("", d)
		},
		"collections: {team}/source/{source} | sync": func(item table.Item) (table.Item, error) {
			st, err := syncStateFrom(item)
			if err != nil {
				return item, err
			}
			return st.item("", "")
		},
		"collections: {team}/source/{source} | part#{text}": func(item table.Item) (table.Item, error) {
			p, err := partStateFrom(item)
			if err != nil {
				return item, err
			}
			return p.item("", "", strings.TrimPrefix(item.Sort, "part#"))
		},
	})
}
