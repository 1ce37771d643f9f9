package document

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"docent/shared/access"
	"docent/shared/memory"
	"docent/shared/pending"
	"docent/shared/search/text"
	"docent/shared/table"
)

// Get returns a document of a collection. If the caller may not read it, the document is missing.
// Get returns an error if the caller's key may not use the collection.
func (s *Service) Get(ctx context.Context, teamID, id string, who Who) (Document, error) {
	return s.GetBodyIf(ctx, teamID, id, who, func(int64) bool { return true })
}

// GetBodyIf is Get for a caller who needs the body of a version only if needed is true of it. Otherwise the body that it returns
// may be empty, and that of a damaged document is not missed.
func (s *Service) GetBodyIf(ctx context.Context, teamID, id string, who Who, needed func(version int64) bool) (Document, error) {
	start := func(version int64) int {
		if needed(version) {
			return wholeBody
		}
		return 0
	}
	return s.read(ctx, teamID, id, who, func(e Entry) bool { return e.Facts == nil }, start)
}

// GetOriginal returns the document, without its body, whose original file a caller asks for. It returns the errors of Get,
// and that of a missing document for one that was put as text.
func (s *Service) GetOriginal(ctx context.Context, teamID, id string, who Who) (Entry, error) {
	if !isID(id) {
		return Entry{}, Missing()
	}
	d, err := s.get(ctx, teamID, id, who, func(e Entry) bool { return e.Facts == nil && e.Original != nil }, bytesOfAll(0))
	return d.Entry, err
}

// Read is Get of a document or an item.
func (s *Service) Read(ctx context.Context, teamID, id string, who Who) (Document, error) {
	return s.ReadStart(ctx, teamID, id, who, wholeBody)
}

// ReadStart is Read for a caller who needs only the first bytes of the body, as many as start. The body that it returns has at least
// these, or is complete.
func (s *Service) ReadStart(ctx context.Context, teamID, id string, who Who, start int) (Document, error) {
	return s.read(ctx, teamID, id, who, func(Entry) bool { return true }, bytesOfAll(start))
}

// wholeBody is more than any body has.
const wholeBody = math.MaxInt

// bytesOfAll returns the same start of a body for all versions.
func bytesOfAll(start int) func(version int64) int { return func(int64) int { return start } }

func (s *Service) read(ctx context.Context, teamID, id string, who Who, wanted func(Entry) bool, startOf func(version int64) int) (Document, error) {
	if !isID(id) {
		return Document{}, Missing()
	}
	// The chunks of a replaced body may be removed during the read. The record then
	// has another version and is read again. Otherwise they are lost.
	incomplete := int64(0)
	for range readAttempts {
		d, err := s.get(ctx, teamID, id, who, wanted, startOf)
		switch {
		case !errors.Is(err, errRaced):
			return d, err
		case d.Version == incomplete:
			return Document{}, Damaged(errors.New("chunks of its body are missing"))
		}
		incomplete = d.Version
	}
	return Document{}, fmt.Errorf("read document %s: it is replaced again and again: %w", id, table.ErrUnavailable)
}

// readAttempts bounds the attempts to read a document that is being replaced.
const readAttempts = 10

// get reads a document once, with as many bytes of its body as startOf says, as ReadStart. It returns errRaced and the version if
// a part of that is missing.
func (s *Service) get(ctx context.Context, teamID, id string, who Who, wanted func(Entry) bool, startOf func(version int64) int) (Document, error) {
	r, failures, err := s.recordFor(ctx, teamID, id, who, wanted)
	if err != nil {
		return Document{}, err
	}
	d := Document{Entry: r.Entry, Body: r.body, Version: r.version}
	work, source := indexing(teamID, id, r.version).Key(), s.SourceKey(teamID, r.CollectionID)
	start := startOf(r.version)
	chunks := r.chunksOf(start)
	size := min(r.bytes, chunks*text.ChunkBytes)
	if chunks > 0 {
		d.reserved = readCost(size)
		if err := memory.Reserve(ctx, d.reserved); err != nil {
			return Document{}, err
		}
	}
	// After the wait for memory: many requests wait, and a long document has thousands of keys.
	keys := append([]table.Key{source, work}, chunkKeys(teamID, id, r.version, chunks)...)
	items, err := s.Table.BatchGet(ctx, keys)
	damaged := table.AsDamaged(err)
	if err != nil && (damaged == nil || slices.Contains(damaged.Keys, source)) {
		return Document{}, fmt.Errorf("read document: %w", err)
	}
	if len(items) == 0 || items[0].Key != source {
		return Document{}, Missing()
	}
	if !who.uses(r.CollectionID) {
		return Document{}, sourceNotAllowed()
	}
	if damaged != nil {
		return Document{}, Damaged(damaged)
	}
	items = items[1:]
	var works []table.Item
	if len(items) > 0 && items[0].Key == work {
		works, items = items[:1], items[1:]
	}
	d.Indexing = s.indexingOf(r, failures, works)
	if len(items) != chunks {
		d.Release(ctx)
		return Document{Version: r.version}, errRaced
	}
	if chunks > 0 {
		d.Body = joinChunks(items, size)
	}
	if len(d.Body) < start && 0 < chunks && chunks < r.chunks { // its first chunks are shorter than others
		d.Release(ctx)
		return s.get(ctx, teamID, id, who, wanted, bytesOfAll(wholeBody))
	}
	return d, nil
}

// recordFor reads the record of a document that is wanted and that who may read; any other is missing. failures has the item that
// says why a version was not indexed, if there is one.
func (s *Service) recordFor(ctx context.Context, teamID, id string, who Who, wanted func(Entry) bool) (r record, failures []table.Item, err error) {
	defaults := s.defaultsFor(ctx, teamID, who)
	items, err := s.Table.BatchGet(ctx, []table.Key{recordKey(teamID, id), failureKey(teamID, id)})
	byDefault, failed := defaults()
	damaged := table.AsDamaged(err)
	switch {
	case failed != nil:
		return record{}, nil, fmt.Errorf("read document: %w", failed)
	case damaged != nil && slices.Contains(damaged.Keys, recordKey(teamID, id)):
		return record{}, nil, who.damagedRecord(damaged)
	case damaged != nil:
		s.damaged(ctx, damaged) // why it was not indexed
	case err != nil:
		return record{}, nil, fmt.Errorf("read document: %w", err)
	}
	if len(items) == 0 || items[0].Sort != "record" {
		return record{}, nil, Missing()
	}
	r = recordFrom(items[0])
	if !wanted(r.Entry) || !who.reads(r.Entry, byDefault[r.CollectionID]) {
		return record{}, nil, Missing()
	}
	return r, items[1:], nil
}

// chunksOf returns how many chunks have the first bytes of the body, as many as start, if all chunks are about as long.
func (r record) chunksOf(start int) int {
	switch {
	case start == 0:
		return 0
	case start >= r.bytes:
		return r.chunks
	}
	n := start * r.chunks / r.bytes
	return min(n+n/4+4, r.chunks)
}

// indexingOf returns whether search finds r. Of its failures and its work there is at most one each.
func (s *Service) indexingOf(r record, failures, works []table.Item) Indexing {
	state := Indexing{State: Indexed, Meaning: MeaningDone, Notes: r.notes}
	if r.extracting {
		state = Indexing{State: Extracting, Meaning: MeaningPending}
	}
	for _, failure := range failures {
		if failure.Version == r.version {
			state = Indexing{State: Failed, Code: failure.Strings["code"], Detail: failure.Strings["detail"]}
		}
	}
	for _, work := range works {
		state.State, state.Meaning = Pending, MeaningPending
		if pending.AwaitsMeaning(work) {
			state.State = Indexed
		}
	}
	if !s.Meaning || state.State == Failed {
		state.Meaning = ""
	}
	return state
}

// readCost returns the memory for a body of that many bytes: the chunks, the body,
// its compressed form and the reply.
func readCost(bytes int) int64 { return 4 * int64(bytes) }

// Release returns the memory reserved for reading d. The caller must keep no part of
// its body.
func (d Document) Release(ctx context.Context) {
	if d.reserved > 0 {
		memory.Return(ctx, d.reserved)
	}
}

func joinChunks(items []table.Item, size int) string {
	var body strings.Builder
	body.Grow(size)
	for _, item := range items {
		body.Write(item.Body)
	}
	return body.String()
}

// Filter selects the documents of a list.
type Filter struct {
	CollectionID string // empty: every collection
	Who          Who
}

// List returns the window w of the team's documents, newest first.
func (s *Service) List(ctx context.Context, teamID string, f Filter, w table.Window) (table.Slice[Entry], error) {
	if f.CollectionID != "" && !isID(f.CollectionID) {
		return table.Slice[Entry]{}, nil
	}
	live, err := s.Collections(ctx, teamID)
	if err != nil {
		return table.Slice[Entry]{}, err
	}
	partitions, readable := []string{teamList(teamID)}, map[string]bool{}
	for id := range live {
		readable[id] = f.Who.uses(id)
	}
	named, exists := readable[f.CollectionID]
	switch {
	case f.CollectionID != "" && !exists:
		return table.Slice[Entry]{}, nil
	case exists && !named:
		return table.Slice[Entry]{}, sourceNotAllowed()
	case f.CollectionID != "":
		partitions = []string{collectionList(teamID, f.CollectionID)}
	case f.Who.Sources != nil:
		partitions = nil
		for id, ok := range readable {
			if ok {
				partitions = append(partitions, collectionList(teamID, id))
			}
		}
	}
	var parts []table.Slice[Entry]
	for _, partition := range partitions {
		slice, err := table.ReadWindow(ctx, s.undamaged(), table.Documents, partition, w, func(item table.Item) (Entry, bool, error) {
			e := entryFrom(item)
			return e, readable[e.CollectionID] && f.Who.reads(e, live[e.CollectionID]), nil
		})
		if err != nil {
			return table.Slice[Entry]{}, fmt.Errorf("list documents: %w", err)
		}
		parts = append(parts, slice)
	}
	return table.MergeSlices(w, parts...), nil
}

// defaultsFor starts to read the default rules of the team's sources, and returns the function that waits for them. A caller
// who may read everything needs none. The rules are read in parallel with the record: a read takes the same time whether the
// document is missing or the caller may not read it.
func (s *Service) defaultsFor(ctx context.Context, teamID string, who Who) func() (map[string]*access.Rule, error) {
	if who.Reader.All() {
		return func() (map[string]*access.Rule, error) { return nil, nil }
	}
	var defaults map[string]*access.Rule
	group := new(errgroup.Group)
	group.Go(func() (err error) {
		defaults, err = s.Sources(ctx, teamID)
		return err
	})
	return func() (map[string]*access.Rule, error) {
		err := group.Wait()
		return defaults, err
	}
}

func isID(id string) bool {
	_, err := uuid.Parse(id)
	return err == nil && len(id) == 36 && strings.ToLower(id) == id
}
