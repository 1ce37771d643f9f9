package document

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"docent/shared/memory"
	"docent/shared/pending"
	"docent/shared/search/text"
	"docent/shared/table"
)

// Get returns a document of a collection. It returns an error if allowed rejects the
// collection.
func (s *Service) Get(ctx context.Context, teamID, id string, allowed func(collectionID string) bool) (Document, error) {
	return s.read(ctx, teamID, id, allowed, func(e Entry) bool { return e.Facts == nil })
}

// Read returns a document or an item. It returns an error if allowed rejects the
// source.
func (s *Service) Read(ctx context.Context, teamID, id string, allowed func(sourceID string) bool) (Document, error) {
	return s.read(ctx, teamID, id, allowed, func(Entry) bool { return true })
}

func (s *Service) read(ctx context.Context, teamID, id string, allowed func(string) bool, wanted func(Entry) bool) (Document, error) {
	if !isID(id) {
		return Document{}, Missing()
	}
	// The chunks of a replaced body may be removed during the read. The record then
	// has another version and is read again.
	for range readAttempts {
		d, err := s.get(ctx, teamID, id, allowed, wanted)
		if !errors.Is(err, errRaced) {
			return d, err
		}
	}
	return Document{}, fmt.Errorf("read document %s: chunks of its body are missing: %w", id, table.ErrUnavailable)
}

// readAttempts bounds the attempts to read a document that is being replaced.
const readAttempts = 10

func (s *Service) get(ctx context.Context, teamID, id string, allowed func(string) bool, wanted func(Entry) bool) (Document, error) {
	items, err := s.Table.BatchGet(ctx, []table.Key{recordKey(teamID, id), failureKey(teamID, id)})
	if err != nil {
		return Document{}, fmt.Errorf("read document: %w", err)
	}
	if len(items) == 0 || items[0].Sort != "record" {
		return Document{}, Missing()
	}
	r := recordFrom(items[0])
	if !wanted(r.Entry) {
		return Document{}, Missing()
	}
	d := Document{Entry: r.Entry, Body: r.body, Version: r.version, Indexing: Indexing{State: Indexed}}
	if len(items) == 2 && items[1].Version == r.version {
		d.Indexing = Indexing{State: Failed, Code: items[1].Strings["code"], Detail: items[1].Strings["detail"]}
	}
	work, source := indexing(teamID, id, r.version).Key(), s.SourceKey(teamID, r.CollectionID)
	keys := []table.Key{source, work}
	for n := range r.chunks {
		keys = append(keys, chunkKey(teamID, id, r.version, n))
	}
	if r.chunks > 0 {
		if err := memory.Reserve(ctx, readCost(r.bytes)); err != nil {
			return Document{}, err
		}
	}
	if items, err = s.Table.BatchGet(ctx, keys); err != nil {
		return Document{}, fmt.Errorf("read document: %w", err)
	}
	if len(items) == 0 || items[0].Key != source {
		return Document{}, Missing()
	}
	if !allowed(r.CollectionID) {
		return Document{}, sourceNotAllowed()
	}
	items = items[1:]
	d.Indexing.Meaning = MeaningDone
	if len(items) > 0 && items[0].Key == work {
		d.Indexing = Indexing{State: Pending, Meaning: MeaningPending}
		if pending.AwaitsMeaning(items[0]) {
			d.Indexing.State = Indexed
		}
		items = items[1:]
	}
	if !s.Meaning || d.Indexing.State == Failed {
		d.Indexing.Meaning = ""
	}
	if len(items) != r.chunks {
		return Document{}, errRaced
	}
	if r.chunks > 0 {
		d.Body = joinChunks(items, r.bytes)
	}
	return d, nil
}

// readCost returns the memory for a body of that many bytes: the chunks, the body,
// its compressed form and the reply.
func readCost(bytes int) int64 { return 4 * int64(bytes) }

// Release returns the memory reserved for reading d. The caller must keep no part of
// its body.
func (d Document) Release(ctx context.Context) {
	if len(d.Body) > text.InlineBytes {
		memory.Return(ctx, readCost(len(d.Body)))
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
	CollectionID string            // empty: every collection
	Sources      []string          // ids that the caller's key is restricted to; nil: all
	Allowed      func(string) bool // reports whether the key may use a source; agrees with Sources
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
	for _, id := range live {
		readable[id] = f.Allowed(id)
	}
	named, exists := readable[f.CollectionID]
	switch {
	case f.CollectionID != "" && !exists:
		return table.Slice[Entry]{}, nil
	case exists && !named:
		return table.Slice[Entry]{}, sourceNotAllowed()
	case f.CollectionID != "":
		partitions = []string{collectionList(teamID, f.CollectionID)}
	case f.Sources != nil:
		partitions = nil
		for id, ok := range readable {
			if ok {
				partitions = append(partitions, collectionList(teamID, id))
			}
		}
	}
	var slices []table.Slice[Entry]
	for _, partition := range partitions {
		slice, err := table.ReadWindow(ctx, s.Table, table.Documents, partition, w, func(item table.Item) (Entry, bool, error) {
			e := entryFrom(item)
			return e, readable[e.CollectionID], nil
		})
		if err != nil {
			return table.Slice[Entry]{}, fmt.Errorf("list documents: %w", err)
		}
		slices = append(slices, slice)
	}
	return table.MergeSlices(w, slices...), nil
}

func isID(id string) bool {
	_, err := uuid.Parse(id)
	return err == nil && len(id) == 36 && strings.ToLower(id) == id
}
