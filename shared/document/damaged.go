package document

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/pending"
	"docent/shared/table"
)

// undamaged returns the table for reads of several documents. They leave out a damaged one, and the log names it.
func (s *Service) undamaged() table.Store { return table.Undamaged(s.Table, s.damaged) }

// damageEvery is how long a damaged document is not reported again: searches may meet it many times a second.
const damageEvery = time.Hour

func (s *Service) damaged(ctx context.Context, d *table.DamagedError) {
	if s.OnDamage == nil {
		return
	}
	now, due := s.Now(), map[string]bool{} // by document
	keys := slices.DeleteFunc(slices.Clone(d.Keys), func(k table.Key) bool {
		of := documentOf(k)
		if _, asked := due[of]; !asked {
			due[of] = s.reported.Due(of, now, damageEvery)
		}
		return !due[of]
	})
	if len(keys) > 0 {
		s.OnDamage(ctx, &table.DamagedError{Keys: keys})
	}
}

// documentOf returns a name that all items of a document share, and those of no other.
func documentOf(k table.Key) string {
	teamID, rest, _ := strings.Cut(k.Partition, "/")
	of, _, _ := strings.Cut(rest, "/")
	switch {
	case of == "list":
		of = idInList(k)
	case !isID(of): // an upload, or pending work
		of = k.Sort
	}
	return teamID + "/" + of
}

// Damaged returns the error for a document that is stored and cannot be read, because of cause.
func Damaged(cause error) error {
	return apierr.New(apierr.Damaged, apierr.CodeDocumentDamaged,
		"The stored document is damaged. Put it again, or restore a backup.").WithCause(cause)
}

// orDamaged returns err of a read of one document, or the error for the caller if it says that the document is damaged.
func orDamaged(err error) error {
	if table.AsDamaged(err) != nil {
		return Damaged(err)
	}
	return err
}

// damagedRecord returns the error for a caller whose document has a damaged record. Only the record says who may read it, so
// that for everyone who may not read everything it is missing.
func (w Who) damagedRecord(cause error) error {
	if w.Reader.All() && w.Sources == nil {
		return Damaged(cause)
	}
	return Missing()
}

// listed returns the keys under which the lists of the team's live sources have a document, and the entry there; without an
// ID if it is damaged, too. It is for a document whose record cannot be read: it reads the lists whole.
func (s *Service) listed(ctx context.Context, teamID, id string) (e Entry, keys []table.Key, err error) {
	live, err := s.Sources(ctx, teamID)
	if err != nil {
		return Entry{}, nil, err
	}
	partitions := []string{teamList(teamID)}
	for sourceID := range live {
		partitions = append(partitions, collectionList(teamID, sourceID))
	}
	of := func(k table.Key) bool { return strings.HasSuffix(k.Sort, "#"+id) }
	for _, partition := range partitions {
		for item, err := range table.All(ctx, s.Table, table.Query{Table: table.Documents, Partition: partition}) {
			switch damaged := table.AsDamaged(err); {
			case damaged != nil:
				keys = append(keys, slices.DeleteFunc(damaged.Keys, func(k table.Key) bool { return !of(k) })...)
			case err != nil:
				return Entry{}, nil, fmt.Errorf("list documents: %w", err)
			case of(item.Key):
				e, keys = entryFrom(item), append(keys, item.Key)
			}
		}
	}
	return e, keys, nil
}

// dropDamaged removes a document whose record is damaged, with its entries in lists. It calls write with the operations and
// with the entry of the document in a list, which has only an ID if that is damaged, too. The chunks of a long body and an
// original file stay, because only the record names them. dropDamaged returns errRaced if the record is no longer damaged,
// or no longer exists.
func (s *Service) dropDamaged(ctx context.Context, teamID, id string, write func(e Entry, ops []table.Op) error) error {
	e, keys, err := s.listed(ctx, teamID, id)
	if err != nil {
		return err
	}
	rule := e.Access
	switch {
	case e.ID == "":
		rule = new(access.Rule) // unknown: what cites it is for those who may read everything
	case rule == nil:
		if rule, _, err = s.live(ctx, teamID, e.CollectionID); err != nil {
			return err
		}
	}
	e.ID = id
	ops := []table.Op{table.Delete{Key: recordKey(teamID, id)}, table.Delete{Key: failureKey(teamID, id)}}
	for _, k := range keys {
		ops = append(ops, table.Delete{Key: k})
	}
	// No condition holds for a damaged item, so the record is read again: listing took a while.
	switch _, err := s.Table.Get(ctx, recordKey(teamID, id)); {
	case err == nil || errors.Is(err, table.ErrNotFound):
		return errRaced
	case table.AsDamaged(err) == nil:
		return fmt.Errorf("read a damaged document again: %w", err)
	}
	kept, err := s.keepRule(ctx, teamID, id, rule, s.deletedNow(0), "")
	if err != nil {
		return err
	}
	if err := write(e, append(ops, kept...)); err != nil {
		return fmt.Errorf("remove a damaged document: %w", err)
	}
	return nil
}

// makeRoom removes the document that in replaces, whose record is damaged. The record has the rule of access, so a caller
// who may not read everything gets an error. makeRoom also returns one if in keeps the content, which is lost.
func (s *Service) makeRoom(ctx context.Context, teamID, id string, in Input, cause error) error {
	if !in.Who.Reader.All() || in.Who.Sources != nil {
		return cmp.Or[error](in.Match(0), notWritable())
	}
	if in.KeepContent {
		return Damaged(cause)
	}
	if err := in.Match(0); err != nil { // its version is unknown
		return err
	}
	s.damaged(ctx, table.AsDamaged(cause))
	return s.dropDamaged(ctx, teamID, id, func(e Entry, ops []table.Op) error {
		if in.Facts != nil && e.CollectionID != "" && e.CollectionID != in.CollectionID {
			return ErrOtherSource
		}
		return s.Table.Write(ctx, ops...)
	})
}

// dropDamagedItem removes a damaged item of a source, with the operations more in the same Write, and reports whether it
// did. An item of another source stays.
func (s *Service) dropDamagedItem(ctx context.Context, teamID, sourceID, id string, more ...table.Op) (dropped bool, err error) {
	err = s.dropDamaged(ctx, teamID, id, func(e Entry, ops []table.Op) error {
		if dropped = e.CollectionID == "" || e.CollectionID == sourceID; !dropped {
			return nil
		}
		return s.Table.Write(ctx, append(ops, more...)...)
	})
	return dropped && err == nil, err
}

// deleteDamaged is Delete for a document whose record is damaged.
func (s *Service) deleteDamaged(ctx context.Context, teamID, id string, who Who, match func(version int64) error, event *audit.Claim) error {
	if !who.Reader.All() || who.Sources != nil {
		return nil // as for what they may not read
	}
	if err := match(0); err != nil { // its version is unknown
		return err
	}
	return s.dropDamaged(ctx, teamID, id, func(e Entry, ops []table.Op) error {
		deleted := newEvent(audit.DocumentDeleted, e, true)
		deleted.Changes = []audit.Change{{Field: "collectionId", From: e.CollectionID}}
		return event.Write(ctx, []audit.Event{deleted}, ops...)
	})
}

// dropListed removes documents of a deleted collection with the default rule byDefault, whose entries in its list are damaged.
func (w *Worker) dropListed(ctx context.Context, work pending.Work, keys []table.Key, byDefault *access.Rule) error {
	for _, k := range keys {
		id := idInList(k)
		ops := []table.Op{table.Delete{Key: k}}
		item, err := w.Table.Get(ctx, recordKey(work.TeamID, id))
		switch {
		case err == nil:
			err = w.removeFrom(ctx, work, entryFrom(item), byDefault)
		case table.AsDamaged(err) != nil:
			inTeam := table.Key{Table: k.Table, Partition: teamList(work.TeamID), Sort: k.Sort}
			ops = append(ops, table.Delete{Key: recordKey(work.TeamID, id)}, table.Delete{Key: failureKey(work.TeamID, id)}, table.Delete{Key: inTeam})
			var kept []table.Op
			kept, err = w.keepRule(ctx, work.TeamID, id, new(access.Rule), w.deletedNow(0), "")
			ops = append(ops, kept...)
		case errors.Is(err, table.ErrNotFound):
			err = nil
		}
		if err != nil {
			return fmt.Errorf("remove a document with a damaged entry: %w", err)
		}
		if err := w.Table.Write(ctx, ops...); err != nil {
			return fmt.Errorf("remove a damaged entry: %w", err)
		}
	}
	return nil
}
