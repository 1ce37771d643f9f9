package team

import (
	"encoding/json"
	"testing"
	"time"

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
			m, err := samlFrom(item)
			if err != nil {
				return item, err
			}
			again, err := samlItem("", m)
			again.Version, again.Numbers = item.Version, map[string]int64{samlBytes: item.Numbers[samlBytes]}
			return again, err
		},
	})
}

func TestEveryFieldIsStored(t *testing.T) {
	t.Parallel()
	storedtest.KeepFields(t, map[string]storedtest.Record{
		"identities: {team} | team": storedtest.Fields(teamItem, teamFrom),
		"identities: {team}/users | {user}": storedtest.Fields(
			func(p Profile) (table.Item, error) { return p.item("acme") }, profileFrom,
			func(p *Profile) { // the user is read from the attributes
				given := p.User
				p.Attributes = json.RawMessage(`{"userName":"ada","displayName":"Ada","active":true,"roles":[{"value":"admin"}]}`)
				p.User = User{ID: given.ID, UserName: "ada", DisplayName: "Ada", Role: RoleAdmin, Active: true, CreatedAt: given.CreatedAt}
			}),
		"identities: key/{key} | key": storedtest.Fields(
			func(r record) (table.Item, error) { return r.item() }, recordFrom,
			func(r *record) { *r.RevokedAt = time.Now().Truncate(time.Second).UTC() }), // a revoked key expires
		"identities: link/{hash} | link": storedtest.Fields(
			func(i Invitation) (table.Item, error) { return i.item(hashSecret("code")) }, invitationFrom,
			func(i *Invitation) { i.ExpiresAt = time.Now().Add(time.Hour).Truncate(time.Second).UTC() }), // otherwise it has expired
		"identities: {team} | saml": storedtest.Fields(func(m SAMLMetadata) (table.Item, error) { return samlItem("acme", m) }, samlFrom),
	})
}
