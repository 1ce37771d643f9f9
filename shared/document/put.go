package document

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/memory"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/search/text"
	"docent/shared/table"
	"docent/shared/usage"
)

// parallelChunks bounds the parallel chunk writes and deletes of one document.
const parallelChunks = 32

// Input is a request to create or replace a document or item.
type Input struct {
	Fields
	Body string
	// Match returns an error for a current version that the client did not expect;
	// 0 means that there is no document yet.
	Match func(version int64) error
	// Allowed reports whether the caller's key may use a collection.
	Allowed   func(collectionID string) bool
	RequestID string
	// Facts makes it an item of the connected source CollectionID. Created is the
	// item's creation time; zero: unknown.
	Facts   *Facts
	Created time.Time
	// Write writes an item, possibly with an event in the same Write, and returns the
	// errors of table.Store.Write; nil: a Write without an event.
	Write func(ctx context.Context, ops ...table.Op) error
}

// Put creates, replaces or moves the document of in.URI and returns its id and
// version. It writes nothing if nothing changes, or if an item is older than the
// stored version or its removal. It returns ErrOtherSource for an item whose uri
// belongs to another source.
func (s *Service) Put(ctx context.Context, teamID string, in Input) (id string, version int64, err error) {
	if !in.Allowed(in.CollectionID) {
		return "", 0, sourceNotAllowed()
	}
	if id, err = ID(teamID, in.URI); err != nil {
		return "", 0, fmt.Errorf("team id: %w", err)
	}
	event := s.events(in.Facts).Claim(ctx, teamID, 1)
	defer event.End(ctx)
	for {
		version, err = s.put(ctx, teamID, id, in, event)
		if !errors.Is(err, errRaced) {
			return id, version, err
		}
	}
}

func noCollection() error { return apierr.Missing("collection") }

// errRaced means that another write of the same document was first. The caller tries
// again.
var errRaced = errors.New("raced by another write")

func (s *Service) put(ctx context.Context, teamID, id string, in Input, event *audit.Claim) (int64, error) {
	old, err := s.currentFor(ctx, teamID, id, in)
	if err != nil {
		return 0, err
	}
	if err := in.checkReplace(old); err != nil {
		return 0, err
	}
	now := s.Now().UTC().Truncate(time.Millisecond)
	entry := in.entry(id, old, now)
	events := []audit.Event{putEvent(old, entry)}
	if old.exists && (old.same(entry, in.Body) || old.newer(entry)) {
		if failed, err := s.failed(ctx, teamID, old.record); err != nil || !failed {
			if err == nil {
				usage.Note(ctx, usage.Unchanged, 1)
			}
			return old.version, err
		}
		entry = old.Entry // only to index it again
		events = nil
	}
	chunks := text.Cut(in.Body)
	next := newRecord(entry, nextVersion(now, s.Random(), old.version), in.Body, chunks)
	intent, err := s.putChunks(ctx, teamID, next, in.Body, chunks)
	if err != nil {
		return 0, err
	}
	work := indexing(teamID, id, next.version)
	work.RequestID = in.RequestID
	if old.stored {
		work.Old = old.asVersion()
	}
	ops := s.replacing(teamID, old, next, work)
	if intent != nil {
		ops = append(ops, intent.Complete())
	}
	if in.Write != nil {
		err = in.Write(ctx, ops...)
	} else {
		err = event.Write(ctx, events, ops...)
	}
	if failed := table.AsConditionFailed(err); failed != nil && failed.Key == removedKey(teamID, id) {
		return old.version, nil // the removal is newer than this change
	}
	if err != nil {
		return 0, s.notWritten(teamID, next, err)
	}
	in.note(ctx, old)
	usage.OutcomeKnown(ctx)
	if err := s.Work.Send(ctx, queue.Outgoing{Body: work.Message()}); err != nil {
		s.Warn(work, err)
	}
	return next.version, nil
}

// checkReplace returns an error if in may not replace old.
func (in Input) checkReplace(old current) error {
	if old.live && !in.Allowed(old.CollectionID) {
		return sourceNotAllowed()
	}
	if in.Facts != nil && old.live && old.CollectionID != in.CollectionID {
		return ErrOtherSource
	}
	return in.Match(old.visibleVersion())
}

// entry returns the entry of the document after in replaces old.
func (in Input) entry(id string, old current, now time.Time) Entry {
	e := Entry{ID: id, Fields: in.Fields, CreatedAt: now, UpdatedAt: now, Facts: in.Facts}
	if old.exists {
		e.CreatedAt = old.CreatedAt
	}
	in.dates(&e)
	return e
}

// note records a put document in the usage of the caller. Items are not counted here.
func (in Input) note(ctx context.Context, old current) {
	if in.Facts != nil {
		return
	}
	number := usage.Created
	if old.exists {
		number = usage.Replaced
	}
	usage.Note(ctx, number, 1)
	usage.Note(ctx, usage.Bytes, int64(len(in.Body)))
	usage.NoteSource(ctx, in.CollectionID)
}

// replacing returns the operations that replace old by next and leave its indexing
// pending.
func (s *Service) replacing(teamID string, old current, next record, work pending.Work) []table.Op {
	unchanged := table.Absent()
	if old.stored {
		unchanged = table.VersionIs(old.version)
	}
	ops := append(make([]table.Op, 0, 12),
		table.Check{Key: s.SourceKey(teamID, next.CollectionID), If: table.Exists()},
		table.Put{Item: next.item(teamID), If: unchanged},
		work.Promise())
	ops = append(ops, listPuts(teamID, next.Entry)...)
	if old.stored {
		ops = append(ops, table.Delete{Key: failureKey(teamID, next.ID)})
		ops = append(ops, staleLists(teamID, old.Entry, next.Entry)...)
	}
	if next.Facts != nil && !next.Facts.Changed.IsZero() {
		ops = append(ops, afterRemoval(teamID, next.Entry))
	}
	return ops
}

// notWritten maps the error of the Write of next to the error for the caller.
func (s *Service) notWritten(teamID string, next record, err error) error {
	failed := table.AsConditionFailed(err)
	switch {
	case failed == nil:
		return fmt.Errorf("write document: %w", err)
	case failed.Key == s.SourceKey(teamID, next.CollectionID):
		return noCollection()
	case failed.Key == recordKey(teamID, next.ID):
		return errRaced
	default:
		return apierr.New(apierr.Unavailable, apierr.CodeUnavailable,
			"Storing the document took too long. Nothing was changed; send it again.")
	}
}

// failed reports whether the indexing of r was given up.
func (s *Service) failed(ctx context.Context, teamID string, r record) (bool, error) {
	item, err := s.Table.Get(ctx, failureKey(teamID, r.ID))
	if errors.Is(err, table.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read document: %w", err)
	}
	return item.Version == r.version, nil
}

// events returns the log for a change. Changes of single items are not recorded.
func (s *Service) events(f *Facts) *audit.Log {
	if f != nil {
		return (*audit.Log)(nil).OrSilent(s.Table)
	}
	return s.Events.OrSilent(s.Table)
}

// putEvent returns the event for replacing old by entry.
func putEvent(old current, entry Entry) audit.Event {
	e := newEvent(audit.DocumentCreated, entry)
	if !old.exists {
		e.Changes = []audit.Change{{Field: "collectionId", To: entry.CollectionID}}
		return e
	}
	e.Type, e.Changes = audit.DocumentReplaced, audit.Changes(old.Fields, entry.Fields)
	return e
}

func newEvent(kind audit.Type, e Entry) audit.Event {
	return audit.Event{Type: kind, Targets: []audit.Target{{Type: audit.TargetDocument, ID: e.ID, DisplayName: e.Title}}}
}

// staleLists returns the deletes of the list entries of before that after does not
// replace.
func staleLists(teamID string, before, after Entry) []table.Op {
	var ops []table.Op
	replaced := listKeys(teamID, after)
	for _, k := range listKeys(teamID, before) {
		if !slices.Contains(replaced, k) {
			ops = append(ops, table.Delete{Key: k})
		}
	}
	return ops
}

// longBody is the size in bytes above which a body waits for memory.WaitWrites.
const longBody = 1 << 20

// putChunks writes the chunks of a long body before a record refers to them. It first
// stores a pending intent that removes them if this version never becomes current; the
// Write that makes it current deletes the intent.
func (s *Service) putChunks(ctx context.Context, teamID string, r record, body string, chunks []text.Chunk) (*pending.Work, error) {
	if r.chunks == 0 {
		return nil, nil
	}
	if len(body) > longBody {
		if err := memory.WaitWrites(ctx); err != nil {
			return nil, err
		}
	}
	intent := &pending.Work{Kind: pending.RemoveChunks, TeamID: teamID, ID: r.ID, Version: r.version,
		Old: &pending.Version{Version: r.version, Chunks: r.chunks}, At: millisOf(r.version)}
	if err := s.Table.Write(ctx, intent.Promise()); err != nil {
		return nil, fmt.Errorf("store the intent to write chunks: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelChunks)
	for n, c := range chunks {
		group.Go(func() error {
			item, err := chunkItem(teamID, r.ID, r.version, n, body, c)
			if err != nil {
				return err
			}
			return s.Table.Write(ctx, table.Put{Item: item})
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("write chunks: %w", err)
	}
	return intent, nil
}
