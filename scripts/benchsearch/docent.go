package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/blob/dir"
	"docent/shared/embed"
	"docent/shared/search"
	"docent/shared/search/text"
	"docent/shared/table"
	"docent/shared/table/bolt"
)

// partsBytes is the limit of docent serve on a machine with 8 GB.
const partsBytes = 1 << 30

const teamID = "0b3f1d3e-0000-4000-8000-000000000001"

// library holds the documents of one set.
type library struct {
	source string
	docs   map[uuid.UUID]search.Document
	chunks map[uuid.UUID][]text.Chunk
}

func newLibrary(s *set) *library {
	l := &library{source: s.name, docs: map[uuid.UUID]search.Document{}, chunks: map[uuid.UUID][]text.Chunk{}}
	for _, d := range s.docs {
		l.docs[d.ID], l.chunks[d.ID] = d, text.Cut(d.Body)
	}
	return l
}

// Texts implements search.Corpus.
func (l *library) Texts(_ context.Context, _ string, refs []search.Ref) (map[search.Ref]search.Text, error) {
	texts := make(map[search.Ref]search.Text, len(refs))
	for _, ref := range refs {
		d, ok := l.docs[ref.Document]
		if !ok || d.Version != ref.Version {
			continue
		}
		n, chunks := ref.Chunk, l.chunks[ref.Document]
		if len(d.Body) > text.InlineBytes {
			n--
		}
		if n < 0 || n >= len(chunks) {
			return nil, fmt.Errorf("no chunk %d of %d", ref.Chunk, len(chunks))
		}
		c := chunks[n]
		t := search.Text{Document: d.ID, Version: d.Version, Source: d.Source, Title: d.Title, URI: "https://docs.example/" + d.ID.String(), Body: d.Body[c.Start:c.End]}
		for _, p := range c.Passages {
			p.Start, p.End = p.Start-c.Start, p.End-c.Start
			t.Passages = append(t.Passages, p)
		}
		texts[ref] = t
	}
	return texts, nil
}

// Current implements search.Corpus.
func (l *library) Current(_ context.Context, _ string, ids []uuid.UUID) (map[uuid.UUID]int64, error) {
	current := map[uuid.UUID]int64{}
	for _, id := range ids {
		if d, ok := l.docs[id]; ok {
			current[id] = d.Version
		}
	}
	return current, nil
}

// Sources implements search.Corpus.
func (l *library) Sources(context.Context, string) (map[string]*access.Rule, error) {
	return map[string]*access.Rule{l.source: nil}, nil
}

// List implements search.Corpus. Only a rebuild calls it, and none happens here.
func (l *library) List(context.Context, string, string, search.Space, string, int) ([]search.Listed, error) {
	return nil, errors.ErrUnsupported
}

// Read implements search.Corpus.
func (l *library) Read(_ context.Context, _ string, ids []uuid.UUID) iter.Seq2[search.Document, error] {
	return func(yield func(search.Document, error) bool) {
		for _, id := range ids {
			if d, ok := l.docs[id]; ok && !yield(d, nil) {
				return
			}
		}
	}
}

// Waiting is of search.Corpus.
func (l *library) Waiting(context.Context, string, map[uuid.UUID]int64, bool) (map[uuid.UUID]bool, error) {
	return nil, nil
}

// docent is the product's own engine over one set, as one segment of words and, with a model, one of vectors.
type docent struct {
	index *search.Index
	set   *set
	label string
	store *bolt.Store // nil: another docent closes it
}

// openDocent indexes a set. model may be nil.
func openDocent(ctx context.Context, s *set, folder string, model embed.Engine) (*docent, error) {
	store, err := bolt.Open(filepath.Join(folder, s.name+".db"), bolt.Options{Tables: table.Names, Now: time.Now, NoSync: true})
	if err != nil {
		return nil, err
	}
	blobs, err := dir.Open(filepath.Join(folder, s.name+"-blobs"))
	if err != nil {
		return nil, err
	}
	x := &search.Index{Table: store, Blobs: blobs, Corpus: newLibrary(s), Now: time.Now, PartsBytes: partsBytes,
		NewID: func() string { return uuid.Must(uuid.NewV7()).String() }}
	if err := x.Publish(ctx, teamID, s.docs, nil); err != nil {
		return nil, err
	}
	if model != nil {
		x.Embedder, x.Model = model, model.Model()
		if err := x.PublishMeaning(ctx, teamID, s.docs, nil); err != nil {
			return nil, err
		}
	}
	return &docent{x, s, own, store}, nil
}

// byWords returns an engine on the same index that ignores the vectors.
func (d *docent) byWords() *docent {
	x := &search.Index{Table: d.index.Table, Blobs: d.index.Blobs, Corpus: d.index.Corpus, Now: time.Now, PartsBytes: partsBytes, NewID: d.index.NewID}
	return &docent{x, d.set, words, nil}
}

func (d *docent) name() string { return d.label }

func (d *docent) close() error {
	if d.store == nil {
		return nil
	}
	return d.store.Close()
}

func (d *docent) rank(ctx context.Context, question string, limit int) ([]string, error) {
	r, err := d.index.Search(ctx, teamID, search.Query{Reader: access.Everything(), Text: question, Limit: limit})
	var ids []string
	for _, h := range r.Hits {
		ids = append(ids, d.set.idOf[h.Document])
	}
	return ids, err
}
