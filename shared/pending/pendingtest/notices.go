// Package pendingtest reads pending work in tests.
package pendingtest

import (
	"testing"

	"docent/shared/pending"
	"docent/shared/table"
)

// Notices returns the notices that are still to be announced to webhook endpoints.
func Notices(t testing.TB, store table.Store) (notices []pending.Notice) {
	t.Helper()
	for _, partition := range pending.Partitions(table.Events) {
		for item, err := range table.All(t.Context(), store, table.Query{Table: table.Events, Partition: partition}) {
			if err != nil {
				t.Fatal(err)
			}
			w, err := pending.Decode(item.Body)
			if err != nil {
				t.Fatal(err)
			}
			notices = append(notices, w.Notices...)
		}
	}
	return notices
}
