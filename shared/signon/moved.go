package signon

import (
	"docent/shared/moving"
	"docent/shared/table"
)

// SecretOf returns the encrypted part of the item with the settings of single sign-on: the
// secret of a client. It returns nil for any other item, and without a secret. A test that the
// settings have passed stays valid for the same secret, encrypted with another key.
func SecretOf(item table.Item) (*moving.Secret, error) {
	if item.Key != settingsKey(item.Partition) {
		return nil, nil
	}
	settings, err := bodyFrom[Settings](item)
	if err != nil || settings.OIDC == nil || len(settings.OIDC.Secret) == 0 {
		return nil, err
	}
	tested := settings.Method == OIDC && settings.Test != nil && settings.Test.Config == Party{Settings: settings}.config()
	return &moving.Secret{Sealed: settings.OIDC.Secret, About: secretOf(item.Partition), With: func(sealed []byte) (table.Item, error) {
		changed := item
		var err error
		if changed.Body, err = moving.SetInJSON(item.Body, sealed, "oidc", "secret"); err != nil || !tested {
			return changed, err
		}
		client := *settings.OIDC
		client.Secret = sealed
		after := settings
		after.OIDC = &client
		changed.Body, err = moving.SetInJSON(changed.Body, Party{Settings: after}.config(), "test", "config")
		return changed, err
	}}, nil
}
