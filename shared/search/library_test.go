package search_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/blob"
	"docent/shared/blob/dir"
	"docent/shared/clocktest"
	"docent/shared/filter"
	"docent/shared/search"
	"docent/shared/search/text"
	"docent/shared/table/bolt/bolttest"
)

const team = "0b3f1d3e-0000-4000-8000-000000000001"

// library is the truth about the documents of one team.
type library struct {
	mu      sync.Mutex
	docs    map[uuid.UUID]search.Document
	sources []string
	rules   map[string]*access.Rule // default rules by source
	facts   map[uuid.UUID]filter.Facts
	calls   int                         // of Texts
	reads   int                         // of Read
	waiting map[uuid.UUID]int64         // versions that others are about to index
	failing func(search.Document) error // of Read; nil: none
}

func (l *library) put(d search.Document) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.docs[d.ID] = d
}

func (l *library) remove(id uuid.UUID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.docs, id)
}

// live replaces the live sources.
func (l *library) live(sources ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sources = sources
}

func (l *library) Texts(_ context.Context, _ string, refs []search.Ref) (map[search.Ref]search.Text, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	texts := map[search.Ref]search.Text{}
	for _, ref := range refs {
		d, ok := l.docs[ref.Document]
		if !ok || d.Version != ref.Version || !slices.Contains(l.sources, d.Source) {
			continue
		}
		chunks := text.Cut(d.Body)
		n := ref.Chunk
		if len(d.Body) > text.InlineBytes {
			n--
		}
		if n < 0 || n >= len(chunks) {
			return nil, fmt.Errorf("no chunk %d of %d in a body of %d bytes", ref.Chunk, len(chunks), len(d.Body))
		}
		c := chunks[n]
		t := search.Text{Document: d.ID, Version: d.Version, Source: d.Source, Title: d.Title,
			URI: "https://docs.example/" + d.Title, Body: d.Body[c.Start:c.End], Access: d.Access,
			Attributes: filter.Attributes{Metadata: d.Metadata, Facts: l.facts[d.ID]}}
		for _, p := range c.Passages {
			p.Start, p.End = p.Start-c.Start, p.End-c.Start
			t.Passages = append(t.Passages, p)
		}
		texts[ref] = t
	}
	return texts, nil
}

func (l *library) Current(_ context.Context, _ string, ids []uuid.UUID) (map[uuid.UUID]int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	current := map[uuid.UUID]int64{}
	for _, id := range ids {
		if d, ok := l.docs[id]; ok {
			current[id] = d.Version
		}
	}
	return current, nil
}

func (l *library) Sources(context.Context, string) (map[string]*access.Rule, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	live := map[string]*access.Rule{}
	for _, source := range l.sources {
		live[source] = l.rules[source]
	}
	return live, nil
}

// List lists by id.
func (l *library) List(_ context.Context, _, source string, space search.Space, after string, limit int) ([]search.Listed, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var listed []search.Listed
	for id, d := range l.docs {
		if d.Source == source && d.Space == space && id.String() > after {
			listed = append(listed, search.Listed{Document: id, Place: id.String()})
		}
	}
	slices.SortFunc(listed, func(a, b search.Listed) int { return strings.Compare(a.Place, b.Place) })
	return listed[:min(limit, len(listed))], nil
}

func (l *library) Read(_ context.Context, _ string, ids []uuid.UUID) iter.Seq2[search.Document, error] {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads++
	var all []search.Document
	for _, id := range ids {
		if d, ok := l.docs[id]; ok {
			all = append(all, d)
		}
	}
	return func(yield func(search.Document, error) bool) {
		for _, d := range all {
			if l.failing != nil && l.failing(d) != nil {
				yield(search.Document{}, l.failing(d))
				return
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

func (l *library) Waiting(_ context.Context, _ string, versions map[uuid.UUID]int64, _ bool) (map[uuid.UUID]bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting := map[uuid.UUID]bool{}
	for id, version := range versions {
		if l.waiting[id] == version {
			waiting[id] = true
		}
	}
	return waiting, nil
}

// newIndex returns an index on a temporary file and folder, over an empty library with the sources
// "wiki" and "guide".
func newIndex(t testing.TB) (*search.Index, *library, *clocktest.Clock) {
	t.Helper()
	blobs, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := clocktest.New(time.Now())
	lib := &library{docs: map[uuid.UUID]search.Document{}, sources: []string{"wiki", "guide"}}
	return &search.Index{
		Table: bolttest.OpenAt(t, c.Now), Blobs: blobs, Corpus: lib, Now: c.Now,
		NewID:   func() string { return uuid.Must(uuid.NewV7()).String() },
		OnFault: func(_ context.Context, err error) { t.Errorf("left out: %v", err) },
	}, lib, c
}

func doc(source, title, body string, version int64) search.Document {
	return search.Document{ID: uuid.NewSHA1(uuid.NameSpaceURL, []byte(title)), Version: version, Source: source,
		Space: search.Documentation, Title: title, Body: body}
}

// publish puts documents into the library and the index.
func publish(t testing.TB, x *search.Index, lib *library, docs ...search.Document) {
	t.Helper()
	for _, d := range docs {
		lib.put(d)
	}
	if err := x.Publish(t.Context(), team, docs, nil); err != nil {
		t.Fatal(err)
	}
}

// ask searches and returns the titles of the hits.
func ask(t testing.TB, x *search.Index, q search.Query) (titles []string, r search.Result) {
	t.Helper()
	if !q.Reader.All() && q.Reader.UserID() == "" {
		q.Reader = access.Everything()
	}
	r, err := x.Search(t.Context(), team, q)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range r.Hits {
		titles = append(titles, h.Title)
	}
	return titles, r
}

// takenAway is a blob store that calls a function before the first read.
type takenAway struct {
	blob.Store
	once   sync.Once
	before func()
}

func (b *takenAway) Get(ctx context.Context, name string) ([]byte, error) {
	b.once.Do(b.before)
	return b.Store.Get(ctx, name)
}
