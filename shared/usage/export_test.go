package usage

import (
	"time"

	"docent/shared/table"
)

// Patient is a counter over store that waits for a busy machine, for tests to which
// each add matters.
func Patient(store table.Store) *Counter { return &Counter{Table: store, addTime: time.Minute} }
