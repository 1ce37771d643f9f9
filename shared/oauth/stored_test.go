package oauth

import (
	"testing"
	"time"

	"docent/shared/storedtest"
	"docent/shared/table"
)

func TestEveryFieldIsStored(t *testing.T) {
	t.Parallel()
	storedtest.KeepFields(t, map[string]storedtest.Record{
		"identities: oauth-code/{hash} | code": storedtest.Fields(
			func(c code) (table.Item, error) { return c.item("code", time.Now(), 1) }, codeFrom),
	})
}
