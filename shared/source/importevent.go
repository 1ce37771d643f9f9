package source

import (
	"context"
	"sync"

	"docent/shared/audit"
	"docent/shared/table"
)

// writer writes an item to the table.
type writer func(ctx context.Context, ops ...table.Op) error

// importEvent records one event per import, in the Write of the first item that
// changes anything: the event exists exactly if something changed, even after a
// crash. So it counts items sent, not stored.
type importEvent struct {
	table  table.Store
	events *audit.Log
	teamID string
	event  audit.Event

	mu       sync.Mutex
	recorded bool
	err      error // of a Write that may have recorded the event
}

func (s *Service) newImportEvent(teamID string, d DataSource, groups [][]line, faults []LineError) *importEvent {
	items := 0
	for _, g := range groups {
		items += len(g)
	}
	e := &importEvent{table: s.Table, events: s.Events.OrSilent(s.Table), teamID: teamID, event: newEvent(audit.DataSourceItemsImported, d)}
	e.event.Counts = map[string]int64{"items": int64(items), "malformed": int64(len(faults))}
	return e
}

// write writes an item. All others wait for the first, because if it fails the next
// one has to record the event.
func (e *importEvent) write(ctx context.Context, ops ...table.Op) error {
	if first, err := e.writeFirst(ctx, ops); first || err != nil {
		return err
	}
	return e.table.Write(ctx, ops...)
}

func (e *importEvent) writeFirst(ctx context.Context, ops []table.Op) (first bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.recorded || e.err != nil {
		return false, e.err
	}
	err = e.events.Write(ctx, e.teamID, []audit.Event{e.event}, ops...)
	e.recorded = err == nil
	if table.AsConditionFailed(err) == nil {
		e.err = err // recording again could record a second event of this import
	}
	return true, err
}
