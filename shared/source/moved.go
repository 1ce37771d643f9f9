package source

import (
	"strings"

	"docent/shared/moving"
	"docent/shared/table"
)

// SecretOf returns the encrypted part of the item with the secrets of a data source, nil for
// any other item.
func SecretOf(item table.Item) (*moving.Secret, error) {
	id, ok := strings.CutPrefix(item.Partition, secretsPrefix)
	if item.Key != secretsKey(id) || !ok {
		return nil, nil
	}
	return &moving.Secret{Sealed: item.Body, About: about(item.Strings[teamField], id), With: func(sealed []byte) (table.Item, error) {
		item.Body = sealed
		return item, nil
	}}, nil
}
