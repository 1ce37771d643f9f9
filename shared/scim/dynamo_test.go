package scim_test

import (
	"testing"
	"time"

	"docent/shared/table"
	"docent/shared/table/dynamo/dynamotest"
)

// onBothEngines runs test on bolt and on DynamoDB's protocol.
func onBothEngines(t *testing.T, test func(t *testing.T, s *server)) {
	t.Run("bolt", func(t *testing.T) {
		t.Parallel()
		test(t, newServer(t))
	})
	t.Run("dynamo", func(t *testing.T) {
		t.Parallel()
		test(t, newServerOn(t, func(table.Store) table.Store { return dynamotest.OpenAt(t, time.Now) }))
	})
}
