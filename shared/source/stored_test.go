package source

import (
	"context"
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
				delete(item.Numbers, storedtest.Unknown) // read by package collection
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
			// A sync adds its result to the item later.
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
			s, err := settingsFrom(item)
			if err != nil {
				return item, err
			}
			return settingsItem("", DataSource{Settings: s})
		},
		"collections: {team}/source/{source} | replaced#{number}": func(item table.Item) (table.Item, error) {
			old, err := replacedFrom(item)
			if err != nil {
				return item, err
			}
			return old.item("", "", 1)
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

func TestEveryFieldIsStored(t *testing.T) {
	t.Parallel()
	asIs := func(_ context.Context, text []byte, _ string) ([]byte, error) { return text, nil }
	service := &Service{Seal: asIs, Open: asIs}
	storedtest.KeepFields(t, map[string]storedtest.Record{
		// A sync or a change adds its result to the item later; ChangedAt and UpdatedAt follow from it.
		"collections: {team} | {source}": storedtest.Fields(
			func(d DataSource) (table.Item, error) { return sourceItem("acme", d), nil },
			func(item table.Item) (DataSource, error) { return sourceFrom(item), nil },
			func(d *DataSource) {
				d.Settings, d.Sync, d.LastSync, d.LastError, d.ChangedAt, d.UpdatedAt = Settings{}, nil, nil, nil, d.CreatedAt, d.CreatedAt
			}),
		"collections: {team}/source/{source} | settings": storedtest.Fields(
			func(s Settings) (table.Item, error) {
				return settingsItem("acme", DataSource{ID: "source", Settings: s})
			},
			settingsFrom),
		"collections: {team}/source/{source} | replaced#{number}": storedtest.Fields(
			func(old replacedSettings) (table.Item, error) { return old.item("acme", "source", 1) }, replacedFrom),
		"collections: source/{source} | secrets": storedtest.Fields(
			func(w webhookSource) (table.Item, error) {
				return service.secretsItem(t.Context(), w.teamID, DataSource{ID: w.id, Provider: w.provider, Paused: w.paused}, w.secrets)
			},
			func(item table.Item) (webhookSource, error) { return service.webhookSourceFrom(t.Context(), item) }),
		"collections: {team}/source/{source} | sync": storedtest.Fields(
			func(st syncState) (table.Item, error) { return st.item("acme", "source") }, syncStateFrom),
		"collections: {team}/source/{source} | part#{text}": storedtest.Fields(
			func(p partState) (table.Item, error) { return p.item("acme", "source", "part") }, partStateFrom),
	})
}
