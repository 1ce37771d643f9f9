package signon

import (
	"testing"
	"time"

	"docent/shared/storedtest"
	"docent/shared/table"
)

func TestStoredFormsRoundTrip(t *testing.T) {
	t.Parallel()
	storedtest.RoundTrip(t, map[string]func(table.Item) (table.Item, error){
		"identities: {team} | signon": again[Settings],
	})
}

// again reads an item and writes it.
func again[T any](item table.Item) (table.Item, error) {
	body, err := bodyFrom[T](item)
	if err != nil {
		return item, err
	}
	out, err := itemOf(item.Key, body, item.Expires)
	out.Version = item.Version
	return out, err
}

func TestEveryFieldIsStored(t *testing.T) {
	t.Parallel()
	soon := func(at *time.Time) { *at = time.Now().Add(time.Hour).Truncate(time.Second).UTC() } // otherwise it has expired
	storedtest.KeepFields(t, map[string]storedtest.Record{
		"identities: {team} | signon": storedtest.Fields(
			func(s Settings) (table.Item, error) { return itemOf(settingsKey("acme"), s, time.Time{}) }, bodyFrom[Settings]),
		"identities: signon/{hash} | request": storedtest.Fields(
			func(r Request) (table.Item, error) { return itemOf(requestKey(hash("state")), r, r.ExpiresAt) }, bodyFrom[Request],
			func(r *Request) { soon(&r.ExpiresAt) }),
		"identities: signon/{hash} | ticket": storedtest.Fields(
			func(t Ticket) (table.Item, error) { return itemOf(ticketKey(hash("ticket")), t, t.ExpiresAt) }, bodyFrom[Ticket],
			func(t *Ticket) { soon(&t.ExpiresAt) }),
	})
}
