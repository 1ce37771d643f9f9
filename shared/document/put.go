package document

import (
	"cmp"
	"context"
	"crypto/sha256"
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
	"docent/shared/usage"
)

// Input is a request to create or replace a document or item.
type Input struct {
	Fields
	Body string
	File []byte // of MediaType, instead of Body
	// KeepContent keeps the body and the file of the document that in replaces, instead of Body and File. Put returns
	// ErrNoContent if there is none.
	KeepContent bool
	// CheckKept compares the content that KeepContent keeps with what was stored, although nothing changes. Put returns the error of
	// Damaged if it is another one.
	CheckKept bool
	// Upload is the id of an upload whose file is taken instead of File.
	Upload string
	// Match returns an error for a current version that the client did not expect;
	// 0 means that there is no document yet.
	Match     func(version int64) error
	Who       Who
	RequestID string
	// Access says who may read it; nil: the default rule of its source decides.
	Access *access.Rule
	// KeepAccess keeps the rule of the document that in replaces, if Access is nil.
	KeepAccess bool
	// Facts makes it an item of the connected source CollectionID. Created is the
	// item's creation time; zero: unknown.
	Facts   *Facts
	Created time.Time
	// Listed is a time at which the provider had the item as it is. It outranks what was stored or removed before that time.
	// Zero: only the time of the item's change decides.
	Listed time.Time
	// Write writes an item, possibly with an event in the same Write, and returns the
	// errors of table.Store.Write; nil: a Write without an event.
	Write func(ctx context.Context, ops ...table.Op) error

	uploaded  *uploaded // the file of Upload, once it is known
	byListing bool      // Listed decides about a removal, because the time of the change is before it
}

// ErrNoContent means that a document whose content is to be kept does not exist.
var ErrNoContent = errors.New("no document exists whose content could be kept")

// Put creates, replaces or moves the document of in.URI and returns its id and
// version. It writes nothing if nothing changes, or if an item is older than the
// stored version or its removal, and was not listed since. It returns ErrOtherSource
// for an item whose URI belongs to another source, and with the error of Damaged the
// version that is damaged; 0: its record is.
func (s *Service) Put(ctx context.Context, teamID string, in Input) (id string, version int64, err error) {
	if !in.Who.uses(in.CollectionID) {
		return "", 0, sourceNotAllowed()
	}
	if id, err = ID(teamID, in.URI); err != nil {
		return "", 0, fmt.Errorf("team id: %w", err)
	}
	if err := in.Metadata.Check("/metadata"); err != nil {
		return "", 0, err
	}
	if err := in.checkFile(); err != nil {
		return "", 0, err
	}
	in.Body = strings.TrimPrefix(in.Body, "\ufeff") // of programs of Windows; behind it the first heading is none
	event := s.events(in.Facts).Claim(ctx, teamID, 1)
	defer event.End(ctx)
	var madeRoom, droppedMark bool
	for {
		stored, err := s.put(ctx, teamID, id, in, event)
		// Anything else that is damaged on the way says nothing about the document, which stays.
		switch d := table.AsDamaged(err); {
		case d == nil:
		case !madeRoom && slices.Contains(d.Keys, recordKey(teamID, id)):
			madeRoom, err = true, cmp.Or(s.makeRoom(ctx, teamID, id, in, err), errRaced)
		case !droppedMark && slices.Contains(d.Keys, removedKey(teamID, id)):
			droppedMark, err = true, cmp.Or(s.dropMark(ctx, teamID, id, d), errRaced)
		}
		switch {
		case errors.Is(err, errRaced):
		case errors.Is(err, errRemoved) && !in.Listed.IsZero() && !in.byListing:
			in.byListing = true
		case errors.Is(err, errRemoved):
			return id, stored.version, nil
		default:
			return id, stored.version, err
		}
	}
}

func noCollection() error { return apierr.Missing("collection") }

// errRaced means that another write of the same document was first. The caller tries
// again.
var errRaced = errors.New("raced by another write")

// errRemoved means that the removal of the item is newer than what is put.
var errRemoved = errors.New("the item was removed later")

// put tries Put once. It has its own in, because what it adds depends on what it reads.
func (s *Service) put(ctx context.Context, teamID, id string, in Input, event *audit.Claim) (record, error) {
	// The upload is read before the document. So a put that finds it used by another one finds the document of that, too.
	upload, err := s.offered(ctx, teamID, in.Upload)
	if err != nil {
		return record{}, err
	}
	old, err := s.currentFor(ctx, teamID, id, in)
	if err != nil {
		return record{}, err
	}
	refused := in.checkReplace(old)
	if refused != nil && !apierr.IsCode(refused, apierr.CodeAccessDenied) {
		return record{}, refused
	}
	if in.KeepContent && !old.exists {
		return record{}, ErrNoContent
	}
	if err := s.takeUpload(ctx, teamID, &in, upload, old); err != nil {
		return record{}, err // also where the caller may not write, as where there is nothing
	}
	if refused != nil {
		return record{}, refused
	}
	return s.replace(ctx, teamID, id, in, old, event)
}

// replace puts in in place of old, unless nothing changes, and returns the record that is current then. It returns errRemoved, or
// errRaced if old is not current any more.
func (s *Service) replace(ctx context.Context, teamID, id string, in Input, old current, event *audit.Claim) (record, error) {
	now := s.Now().UTC().Truncate(time.Millisecond)
	entry := in.entry(id, old, now)
	events := in.events(old, entry)
	same := old.exists && (old.same(entry, in) || old.newer(entry, in.Listed))
	if same {
		stays, err := s.stays(ctx, teamID, in, old, entry)
		if stays || err != nil {
			return old.record, err
		}
		original := entry.Original
		if !old.same(entry, in) { // in is older than what is stored
			in.KeepContent, original = true, old.Original
		}
		entry = old.Entry // only to index it again, or to store it again
		entry.Original = original
		events = nil
	}
	next, intent, err := s.putContent(ctx, teamID, entry, nextVersion(now, s.Random(), old.version), in, old.record)
	if err != nil {
		return old.record, err
	}
	works := s.workOf(teamID, old, next, in.RequestID)
	kept, err := s.keepEnded(ctx, teamID, in, old, next)
	if err != nil {
		return old.record, err
	}
	ops := append(s.replacing(teamID, in, old, next, works), kept...)
	if intent != nil {
		ops = append(ops, intent.Complete())
	}
	if in.uploaded != nil {
		ops = append(ops, in.uploaded.use(teamID)...)
	}
	if in.Write != nil {
		err = in.Write(ctx, ops...)
	} else {
		err = event.Write(ctx, events, ops...)
	}
	if failed := table.AsConditionFailed(err); failed != nil && failed.Key == removedKey(teamID, id) {
		return old.record, errRemoved
	}
	if refused := in.uploaded.refusal(teamID, err); refused != nil {
		return record{}, refused
	}
	if err != nil {
		return record{}, s.notWritten(teamID, next, err)
	}
	in.note(ctx, old)
	usage.OutcomeKnown(ctx)
	s.send(ctx, works...)
	return next, nil
}

// workOf returns the work that is pending when next has replaced old.
func (s *Service) workOf(teamID string, old current, next record, requestID string) []pending.Work {
	work := indexing(teamID, next.ID, next.version)
	if next.extracting {
		work = extraction(teamID, next.ID, next.version)
	}
	work.RequestID = requestID
	works := []pending.Work{work}
	gone := old.asVersion()
	if next.Original != nil && next.Original.Blob == gone.Original {
		gone.Original = "" // it is kept
	}
	switch {
	case !old.stored:
	case next.extracting: // the worker that reads files does not know the index
		works = append(works, pending.Work{Kind: pending.RemoveDocument, TeamID: teamID, ID: next.ID, Version: old.version,
			Old: gone, At: millisOf(next.version), RequestID: requestID})
	default:
		works[0].Old = gone
	}
	return works
}

// send sends the messages of works, which are pending.
func (s *Service) send(ctx context.Context, works ...pending.Work) {
	for _, work := range works {
		to := s.Work
		if work.Kind == pending.ExtractDocument {
			to = s.Extractions
		}
		if to == nil {
			continue
		}
		if err := to.Send(ctx, work.Outgoing(0)); err != nil {
			s.Warn(work, err)
		}
	}
}

// checkReplace returns an error if in may not replace old.
func (in Input) checkReplace(old current) error {
	// A person takes no item out of its source, because no sync would bring it back. A team key may.
	takesItem := in.Facts == nil && old.Facts != nil && !in.Who.Reader.All()
	if old.live && (takesItem || !in.Who.reads(old.Entry, old.byDefault)) {
		// A condition that a missing document would fail says nothing of this one.
		return cmp.Or[error](in.Match(0), notWritable())
	}
	if old.live && !in.Who.uses(old.CollectionID) {
		return sourceNotAllowed()
	}
	if in.Facts != nil && old.live && old.CollectionID != in.CollectionID {
		return ErrOtherSource
	}
	return old.matched(in.Match)
}

// entry returns the entry of the document after in replaces old.
func (in Input) entry(id string, old current, now time.Time) Entry {
	e := Entry{ID: id, Fields: in.Fields, CreatedAt: now, UpdatedAt: now, Facts: in.Facts, Access: in.Access}
	if old.exists {
		e.CreatedAt, e.Access = old.CreatedAt, in.Access.Repeating(old.Access)
		if in.KeepAccess && in.Access == nil {
			e.Access = old.Access
		}
	}
	switch {
	case in.KeepContent:
		e.MediaType, e.Original = old.MediaType, old.Original
	case in.uploaded != nil:
		original := in.uploaded.original
		e.Original = &original
	case in.MediaType != "":
		hash := sha256.Sum256(in.File)
		e.Original = &Original{Bytes: int64(len(in.File)), Hash: encodeHash(hash[:])}
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
	size := int64(len(in.Body) + len(in.File))
	if in.uploaded != nil {
		size = in.uploaded.Size
	}
	usage.Note(ctx, usage.Bytes, size)
	usage.NoteSource(ctx, in.CollectionID)
}

// replacing returns the operations that replace old by next, which is of in, and leave works pending.
func (s *Service) replacing(teamID string, in Input, old current, next record, works []pending.Work) []table.Op {
	unchanged := table.Absent()
	if old.stored {
		unchanged = table.VersionIs(old.version)
	}
	ops := append(make([]table.Op, 0, 12),
		table.Check{Key: s.SourceKey(teamID, next.CollectionID), If: table.Exists()},
		table.Put{Item: next.item(teamID), If: unchanged})
	ops = append(ops, promises(works)...)
	ops = append(ops, listPuts(teamID, next.Entry)...)
	if old.stored {
		ops = append(ops, table.Delete{Key: failureKey(teamID, next.ID)})
		ops = append(ops, staleLists(teamID, old.Entry, next.Entry)...)
	}
	if next.Facts != nil && !next.Facts.Changed.IsZero() {
		ops = append(ops, in.afterRemoval(teamID, next.Entry))
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
