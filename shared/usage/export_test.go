package usage

import (
	"time"

	"docent/shared/table"
)

// MaxGathered is the limit of rows.
const MaxGathered = maxGathered

// Patient returns a counter that waits for a busy machine, for tests that need every add.
func Patient(store table.Store) *Counter { return &Counter{Table: store, addTime: time.Minute} }
