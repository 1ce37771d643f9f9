package document

import "docent/shared/audit"

// events returns the log for a change. Changes of single items are not recorded.
func (s *Service) events(f *Facts) *audit.Log {
	if f != nil {
		return (*audit.Log)(nil).OrSilent(s.Table) // records nothing
	}
	return s.Events.OrSilent(s.Table)
}

// events returns the events for replacing old by entry. A change of its rule has one
// of its own, with numbers instead of names, and it alone if nothing else changes.
func (in Input) events(old current, entry Entry) []audit.Event {
	hidden := entry.isRestricted(old.targetDefault) || old.exists && old.isRestricted(old.byDefault)
	var events []audit.Event
	if !in.KeepContent || !old.equal(entry.Fields) {
		events = append(events, putEvent(old, entry, hidden))
	}
	if before := old.Access; old.exists && !before.Equal(entry.Access) || !old.exists && entry.Access != nil {
		if !old.exists {
			before = nil
		}
		changed := newEvent(audit.DocumentAccessChanged, entry, hidden)
		changed.Changes = []audit.Change{{Field: accessField, From: before.String(), To: entry.Access.String()}}
		events = append(events, changed)
	}
	return events
}

func putEvent(old current, entry Entry, hidden bool) audit.Event {
	e := newEvent(audit.DocumentCreated, entry, hidden)
	if !old.exists {
		e.Changes = []audit.Change{{Field: "collectionId", To: entry.CollectionID}}
		return e
	}
	e.Type, e.Changes = audit.DocumentReplaced, old.changes(entry.Fields, hidden)
	return e
}

// newEvent returns an event about a document, without the title of a hidden one: readers of the events may not be allowed to
// read the document.
func newEvent(kind audit.Type, e Entry, hidden bool) audit.Event {
	target := audit.Target{Type: audit.TargetDocument, ID: e.ID}
	if !hidden {
		target.DisplayName = e.Title
	}
	return audit.Event{Type: kind, Targets: []audit.Target{target}}
}
