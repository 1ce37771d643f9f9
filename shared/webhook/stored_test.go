package webhook

import (
	"testing"
	"time"

	"docent/shared/storedtest"
	"docent/shared/table"
)

func TestStoredFormsRoundTrip(t *testing.T) {
	t.Parallel()
	storedtest.RoundTrip(t, map[string]func(table.Item) (table.Item, error){
		"events: {team}/webhooks | {endpoint}": func(item table.Item) (table.Item, error) {
			e, err := endpointFrom(item)
			if err != nil {
				return item, err
			}
			return endpointItem("acme", e)
		},
		"events: {team}/deliveries/{endpoint} | {delivery}": func(item table.Item) (table.Item, error) {
			d, err := deliveryFrom(item)
			if err != nil {
				return item, err
			}
			return d.item("acme", "endpoint")
		},
	})
}

func TestEveryFieldIsStored(t *testing.T) {
	t.Parallel()
	storedtest.KeepFields(t, map[string]storedtest.Record{
		"events: {team}/webhooks | {endpoint}": storedtest.Fields(
			func(e Endpoint) (table.Item, error) { return endpointItem("acme", e) }, endpointFrom, func(*Endpoint) {}),
		"events: {team}/deliveries/{endpoint} | {delivery}": storedtest.Fields(
			func(d Delivery) (table.Item, error) { return d.item("acme", "endpoint") }, deliveryFrom,
			func(d *Delivery) {
				d.Payload, d.At = []byte(`{"type":"t"}`), time.Now().UTC().Truncate(time.Millisecond) // not expired
			}),
	})
}
