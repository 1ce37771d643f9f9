package source

import (
	"context"
	"sync"

	"docent/shared/audit"
	"docent/shared/table"
)

// writer makes a Write of an item.
type writer func(ctx context.Context, ops ...table.Op) error

// importEvent records once that items come, in the Write of the first item that changes
// anything: there is an event if and only if something has changed, wherever the
// process ends. So its counts are of what was sent, not of what became of it.
type importEvent struct {
	table  table.Store
	events *audit.Log
	teamID string
	event  audit.Event

	mu       sync.Mutex
	recorded bool
	err      error // of a Write of which it is not known whether it told
}

// newImportEvent is the news of an import.
func (s *Service) newImportEvent(teamID string, d DataSource, groups [][]line, faults []LineError) *importEvent {
	items := 0
	for _, g := range groups {
		items += len(g)
	}
	n := &importEvent{table: s.Table, events: s.Events.OrSilent(s.Table), teamID: teamID, event: newEvent(audit.DataSourceItemsImported, d)}
	n.event.Counts = map[string]int64{"items": int64(items), "malformed": int64(len(faults))}
	return n
}

// write makes the Write of an item. While the first one is under way the others
// wait for it: it is known only then whether they have to tell.
func (n *importEvent) write(ctx context.Context, ops ...table.Op) error {
	if first, err := n.writeFirst(ctx, ops); first || err != nil {
		return err
	}
	return n.table.Write(ctx, ops...)
}

func (n *importEvent) writeFirst(ctx context.Context, ops []table.Op) (first bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.recorded || n.err != nil {
		return false, n.err
	}
	err = n.events.Write(ctx, n.teamID, []audit.Event{n.event}, ops...)
	n.recorded = err == nil
	if table.AsConditionFailed(err) == nil {
		n.err = err // another event could be a second one of the same import
	}
	return true, err
}
