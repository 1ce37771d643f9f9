package team

import (
	"encoding/json"
	"testing"

	"docent/shared/storedtest"
	"docent/shared/table"
)

func TestStoredFormsRoundTrip(t *testing.T) {
	t.Parallel()
	storedtest.RoundTrip(t, map[string]func(table.Item) (table.Item, error){
		"identities: {team} | team": func(item table.Item) (table.Item, error) {
			read, err := teamFrom(item)
			if err != nil {
				return item, err
			}
			again, err := teamItem(read)
			again.Version = item.Version
			return again, err
		},
		"identities: {team}/users | {user}": func(item table.Item) (table.Item, error) {
			p, err := profileFrom(item)
			if err != nil {
				return item, err
			}
			return p.item(item.Partition)
		},
		"identities: key/{key} | key": func(item table.Item) (table.Item, error) {
			r, err := recordFrom(item)
			if err != nil {
				return item, err
			}
			return r.item()
		},
		"identities: {team} | saml": func(item table.Item) (table.Item, error) {
			var m SAMLMetadata
			if err := json.Unmarshal(item.Body, &m); err != nil {
				return item, err
			}
			body, err := json.Marshal(m)
			return table.Item{Version: item.Version, Body: body, Numbers: map[string]int64{samlBytes: item.Numbers[samlBytes]}}, err
		},
	})
}
