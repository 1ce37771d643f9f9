package bolt_test

import (
	"testing"
	"time"

	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
	"docent/shared/table/tabletest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	tabletest.Run(t, func(t *testing.T, now func() time.Time) table.Store { return bolttest.OpenAt(t, now) }, tabletest.Options{})
}

func TestWholeStores(t *testing.T) {
	t.Parallel()
	tabletest.RunWhole(t, func(t *testing.T, now func() time.Time) tabletest.Whole { return bolttest.OpenAt(t, now) })
}
