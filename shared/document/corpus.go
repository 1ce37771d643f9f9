package document

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/extract"
	"docent/shared/pending"
	"docent/shared/search"
	"docent/shared/search/text"
	"docent/shared/table"
)

// Corpus gives search access to documents.
type Corpus struct{ *Service }

var _ search.Corpus = Corpus{}

// Texts returns the current texts of refs; see search.Corpus. It reads the records, and the chunks
// that are not in memory.
func (c Corpus) Texts(ctx context.Context, teamID string, refs []search.Ref) (map[search.Ref]search.Text, error) {
	const inMemory = -1
	keys := make([]table.Key, 0, 2*len(refs))
	recordAt := make(map[uuid.UUID]int, len(refs)) // indexes of keys
	chunkAt := make([]int, len(refs))
	chunks := make([]chunk, len(refs))
	for i, ref := range refs {
		at, known := recordAt[ref.Document]
		if !known {
			at = len(keys)
			recordAt[ref.Document] = at
			keys = append(keys, recordKey(teamID, ref.Document.String()))
		}
		kept, ok := c.chunks.get(ref)
		switch {
		case ok:
			chunks[i], chunkAt[i] = kept, inMemory
		case ref.Chunk == 0:
			chunkAt[i] = at
		default:
			chunkAt[i] = len(keys)
			keys = append(keys, chunkKey(teamID, ref.Document.String(), ref.Version, ref.Chunk-1))
		}
	}
	items, err := c.undamaged().BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read passages: %w", err)
	}
	found := inOrder(keys, items)
	entries := make([]any, len(keys)) // of the records, decoded once
	texts := make(map[search.Ref]search.Text, len(refs))
	for i, ref := range refs {
		at := recordAt[ref.Document]
		item := found[at]
		if item == nil || item.Version != ref.Version {
			continue
		}
		if entries[at] == nil {
			entries[at] = entryFrom(*item)
		}
		e := entries[at].(Entry)
		if chunkAt[i] != inMemory {
			if ref.Chunk == 0 != (item.Numbers["chunks"] == 0) || found[chunkAt[i]] == nil {
				continue
			}
			if chunks[i], err = chunkOf(ref, *found[chunkAt[i]]); err != nil {
				c.damaged(ctx, table.AsDamaged(err))
				continue
			}
			c.chunks.put(ref, chunks[i])
		}
		texts[ref] = search.Text{Document: ref.Document, Version: ref.Version, Source: e.CollectionID, Title: e.Title, URI: e.URI,
			Access: e.Access, Attributes: e.Attributes(), Body: chunks[i].body, Passages: chunks[i].passages, Paged: e.MediaType == extract.PDF, Record: entries[at]}
	}
	return texts, nil
}

// inOrder returns the item of each key; nil: it has none. items must be in the order of keys.
func inOrder(keys []table.Key, items []table.Item) []*table.Item {
	found := make([]*table.Item, len(keys))
	for i, k := range keys {
		if len(items) > 0 && items[0].Key == k {
			found[i], items = &items[0], items[1:]
		}
	}
	return found
}

// chunkOf returns the chunk of ref from its item, or from the record that has the body.
func chunkOf(ref search.Ref, item table.Item) (chunk, error) {
	if ref.Chunk == 0 {
		body := string(item.Body)
		return chunk{body, text.Cut(body)[0].Passages}, nil
	}
	body, passages, err := wholeChunk(item)
	return chunk{body, passages}, err
}

// Current returns the current versions of documents; see search.Corpus.
func (c Corpus) Current(ctx context.Context, teamID string, ids []uuid.UUID) (map[uuid.UUID]int64, error) {
	keys := make([]table.Key, len(ids))
	for i, id := range ids {
		keys[i] = recordKey(teamID, id.String())
	}
	items, err := c.undamaged().BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read versions: %w", err)
	}
	versions := make(map[uuid.UUID]int64, len(items))
	for _, item := range items {
		id, err := uuid.Parse(item.Strings["id"])
		if err != nil {
			return nil, fmt.Errorf("document %s: %w", item.Partition, err)
		}
		versions[id] = item.Version
	}
	return versions, nil
}

// Sources returns the team's sources with their default rules; see search.Corpus.
func (c Corpus) Sources(ctx context.Context, teamID string) (map[string]*access.Rule, error) {
	return c.Service.Sources(ctx, teamID)
}

// List returns documents of a source in the order of its list; see search.Corpus.
func (c Corpus) List(ctx context.Context, teamID, source string, space search.Space, after string, limit int) ([]search.Listed, error) {
	q := table.Query{Table: table.Documents, Partition: collectionList(teamID, source), From: after}
	if space != search.Documentation { // documents of collections are listed without a space, so this one is filtered below
		q.From, q.To = max(after, string(space)+"#"), string(space)+"#~"
	}
	var listed []search.Listed
	for item, err := range c.wholeList(ctx, teamID, q) {
		if err != nil {
			return nil, fmt.Errorf("list documents: %w", err)
		}
		if len(listed) == limit {
			break
		}
		entry := entryFrom(item)
		if item.Sort == after || entry.space() != space {
			continue
		}
		id, err := uuid.Parse(entry.ID)
		if err != nil {
			return nil, fmt.Errorf("document id: %w", err)
		}
		listed = append(listed, search.Listed{Document: id, Place: item.Sort})
	}
	return listed, nil
}

// readBytes bounds the long bodies that Read keeps in memory at a time.
const readBytes = 4 << 20

// Read yields documents with their bodies; see search.Corpus.
func (c Corpus) Read(ctx context.Context, teamID string, ids []uuid.UUID) iter.Seq2[search.Document, error] {
	return func(yield func(search.Document, error) bool) {
		keys := make([]table.Key, len(ids))
		for i, id := range ids {
			keys[i] = recordKey(teamID, id.String())
		}
		items, err := c.undamaged().BatchGet(ctx, keys)
		if err != nil {
			yield(search.Document{}, fmt.Errorf("read documents: %w", err))
			return
		}
		for len(items) > 0 {
			var records []record
			for bytes := 0; len(items) > 0; items = items[1:] {
				r := recordFrom(items[0])
				if r.chunks > 0 {
					bytes += r.bytes
				}
				if len(records) > 0 && bytes > readBytes {
					break
				}
				if !r.extracting { // there is nothing to index yet
					records = append(records, r)
				}
			}
			docs, err := c.whole(ctx, teamID, records)
			if err != nil {
				yield(search.Document{}, err)
				return
			}
			for _, r := range records {
				if d, ok := docs[r.ID]; ok && !yield(d, nil) {
					return
				}
			}
		}
	}
}

// Waiting returns the versions that are still to be indexed; see search.Corpus.
func (c Corpus) Waiting(ctx context.Context, teamID string, versions map[uuid.UUID]int64, meaning bool) (map[uuid.UUID]bool, error) {
	keys := make([]table.Key, 0, len(versions))
	ids := make(map[table.Key]uuid.UUID, len(versions))
	for id, version := range versions {
		key := indexing(teamID, id.String(), version).Key()
		keys, ids[key] = append(keys, key), id
	}
	items, err := c.undamaged().BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read pending work: %w", err)
	}
	waiting := make(map[uuid.UUID]bool, len(items))
	for _, item := range items {
		if meaning || !pending.AwaitsMeaning(item) {
			waiting[ids[item.Key]] = true
		}
	}
	return waiting, nil
}

// whole returns records with their bodies, by id, for indexing. It reads them in one
// round trip and leaves out records whose chunks are damaged, or were removed in the meantime.
func (s *Service) whole(ctx context.Context, teamID string, records []record) (map[string]search.Document, error) {
	var keys []table.Key
	for _, r := range records {
		keys = append(keys, chunkKeys(teamID, r.ID, r.version, r.chunks)...)
	}
	found := make(map[table.Key]table.Item, len(keys))
	if len(keys) > 0 {
		items, err := s.undamaged().BatchGet(ctx, keys)
		if err != nil {
			return nil, fmt.Errorf("read chunks: %w", err)
		}
		for _, item := range items {
			found[item.Key] = item
		}
	}
	docs := make(map[string]search.Document, len(records))
	for _, r := range records {
		d, ok, err := r.document(teamID, found)
		if damaged := table.AsDamaged(err); damaged != nil {
			s.damaged(ctx, damaged)
			continue
		}
		if err != nil {
			return nil, err
		}
		if ok {
			docs[r.ID] = d
		}
	}
	return docs, nil
}

// document returns r with its body, or false if one of its chunks is missing.
func (r record) document(teamID string, chunks map[table.Key]table.Item) (search.Document, bool, error) {
	id, err := uuid.Parse(r.ID)
	if err != nil {
		return search.Document{}, false, fmt.Errorf("document id: %w", err)
	}
	d := search.Document{ID: id, Version: r.version, Source: r.CollectionID,
		Space: r.space(), Title: r.Title, Body: r.body, Access: r.Access, Metadata: r.Metadata}
	if r.chunks == 0 {
		return d, true, nil
	}
	var whole strings.Builder
	whole.Grow(r.bytes)
	for _, k := range chunkKeys(teamID, r.ID, r.version, r.chunks) {
		item, ok := chunks[k]
		if !ok {
			return d, false, nil
		}
		body, passages, err := wholeChunk(item)
		if err != nil {
			return d, false, err
		}
		start := whole.Len()
		passages = slices.Clone(passages)
		for i := range passages {
			passages[i].Start += start
			passages[i].End += start
		}
		d.Chunks = append(d.Chunks, text.Chunk{Start: start, End: start + len(body), Passages: passages})
		whole.WriteString(body)
	}
	d.Body = whole.String()
	return d, true, nil
}
