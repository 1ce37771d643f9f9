package webhook

import (
	"strings"

	"docent/shared/moving"
	"docent/shared/table"
)

// SecretOf returns the encrypted part of the item of a webhook endpoint, nil for any other item.
func SecretOf(item table.Item) (*moving.Secret, error) {
	teamID, ok := strings.CutSuffix(item.Partition, "/webhooks")
	if !ok || item.Key != endpointKey(teamID, item.Sort) || item.Sort == allSort {
		return nil, nil
	}
	e, err := endpointFrom(item)
	if err != nil {
		return nil, err
	}
	return &moving.Secret{Sealed: e.sealed, About: about(teamID, e.ID), With: func(sealed []byte) (table.Item, error) {
		changed := item
		var err error
		changed.Body, err = moving.SetInJSON(item.Body, sealed, "sealed")
		return changed, err
	}}, nil
}
