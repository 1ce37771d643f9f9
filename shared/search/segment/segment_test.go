package segment_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"docent/shared/search/segment"
	"docent/shared/search/segment/segmenttest"
)

// document is a document whose passages are lists of terms.
type document struct {
	id       uuid.UUID
	version  int64
	passages []string
	sets     [2][]string // by kind; nil: none
}

// begin begins a document with its sets.
func (d document) begin(w *segment.Writer) {
	w.Document(d.id, d.version)
	for k, entries := range d.sets {
		w.Set(segment.Kind(k), entries)
	}
}

// build returns the file of a segment of documents.
func build(t fataler, docs []document) []byte {
	w := segment.NewWriter(segment.Prose)
	lists := map[string][]segment.Posting{}
	for _, d := range docs {
		d.begin(w)
		starts := byte(segment.StartsDocument)
		for _, p := range d.passages {
			counts := map[string]uint32{}
			for _, term := range strings.Fields(p) {
				counts[term]++
			}
			for term, n := range counts {
				lists[term] = append(lists[term], segment.Posting{Passage: uint32(w.Count()), Frequency: n})
			}
			w.Passage(len(strings.Fields(p)), starts)
			starts = segment.StartsChunk
		}
	}
	for _, term := range slices.Sorted(maps.Keys(lists)) {
		w.Term(term, lists[term])
	}
	f, err := w.Finish()
	if err != nil {
		t.Fatalf("finish: %v", err)
	}
	return f.Data
}

type fataler interface {
	Fatalf(format string, args ...any)
	Context() context.Context
}

// readAll opens a file and reads all of it.
func readAll(data []byte) (passages, documents int, err error) {
	s, err := segment.Open(data)
	if err != nil {
		return 0, 0, err
	}
	a, err := s.Admit(func(document int) bool { return document%2 == 0 })
	if err != nil {
		return 0, 0, err
	}
	for from, to := range s.Only(a).Stretches() {
		s.Only(a).Admits(from)
		s.Only(a).Admits(to - 1)
	}
	for i := range s.Passages {
		if _, _, err := s.Identify(s.Document(i)); err != nil {
			return 0, 0, err
		}
		s.Place(i)
		if s.Numbers == 0 {
			s.Length(i)
		}
	}
	return s.Passages, s.Documents, s.Check()
}

// combine merges files, keeping the documents of keep. It does so twice, the second time reading them in parts.
func combine(t fataler, keep map[uuid.UUID]int64, files ...[]byte) ([]byte, error) {
	var whole, parts []*segment.Segment
	for _, f := range files {
		s, err := segment.Open(f)
		if err != nil {
			return nil, err
		}
		whole = append(whole, s)
		if s, err = inOrder(t, f); err != nil {
			return nil, err
		}
		parts = append(parts, s)
	}
	f, err := segment.Combine(whole, maps.Clone(keep))
	if err != nil {
		return nil, err
	}
	again, err := segment.Combine(parts, maps.Clone(keep))
	if err == nil && !bytes.Equal(f.Data, again.Data) {
		err = errors.New("in parts another segment is made")
	}
	return f.Data, err
}

// someDocuments draws documents of few terms, so that they share some.
func someDocuments(rt *rapid.T) []document {
	terms := strings.Fields("zebra lion grass water stone parsehttp é 日本 north south")
	docs := make([]document, rapid.IntRange(1, 12).Draw(rt, "documents"))
	for i := range docs {
		docs[i] = document{id: uuid.New(), version: int64(i + 1)}
		for range rapid.IntRange(1, 40).Draw(rt, "passages") {
			docs[i].passages = append(docs[i].passages, strings.Join(rapid.SliceOfN(rapid.SampledFrom(terms), 0, 20).Draw(rt, "terms"), " "))
		}
	}
	if rapid.Bool().Draw(rt, "sets") {
		for i := range docs {
			docs[i].sets = someSets(rt)
		}
	}
	return docs
}

func TestTermsAreFoundWithTheirPostings(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		docs := someDocuments(rt)
		want := map[string][]string{}
		at := 0
		for _, d := range docs {
			for _, p := range d.passages {
				terms := strings.Fields(p)
				for _, term := range slices.Compact(slices.Sorted(slices.Values(terms))) {
					n := len(slices.DeleteFunc(slices.Clone(terms), func(s string) bool { return s != term }))
					want[term] = append(want[term], fmt.Sprint(at, " ", n))
				}
				at++
			}
		}
		s, err := segment.Open(build(rt, docs))
		if err != nil {
			rt.Fatal(err)
		}
		for _, term := range append(slices.Sorted(maps.Keys(want)), "missing") {
			list, err := s.Find(term)
			if err != nil {
				rt.Fatal(err)
			}
			var got []string
			if err := list.Each(func(passage int, frequency uint32) { got = append(got, fmt.Sprint(passage, " ", frequency)) }); err != nil {
				rt.Fatal(err)
			}
			if list.DF != len(want[term]) || !slices.Equal(got, want[term]) {
				rt.Fatalf("%q: %d postings %v, want %v", term, list.DF, got, want[term])
			}
		}
	})
}

func TestMergedSegmentEqualsOneBuiltWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		docs := someDocuments(rt)
		keep := map[uuid.UUID]int64{}
		var kept []document
		for _, d := range docs {
			switch rapid.IntRange(0, 3).Draw(rt, "fate") {
			case 0: // deleted
			case 1:
				keep[d.id] = d.version + 1 // replaced
			default:
				keep[d.id] = d.version
				kept = append(kept, d)
			}
		}
		var files [][]byte
		for rest := docs; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "in one segment")
			data := build(rt, rest[:n])
			files = append(files, data)
			if rapid.Bool().Draw(rt, "again") {
				files = append(files, data)
			}
			rest = rest[n:]
		}
		got, err := combine(rt, keep, files...)
		if err != nil {
			rt.Fatal(err)
		}
		if want := build(rt, kept); !bytes.Equal(got, want) {
			rt.Fatalf("%d bytes merged, %d built whole", len(got), len(want))
		}
		if _, n, err := readAll(got); err != nil || n != len(kept) {
			rt.Fatalf("read %d documents of %d: %v", n, len(kept), err)
		}
	})
}

// sample is a file with long lists, in pages and blocks.
func sample(t fataler) []byte {
	var docs []document
	for i := range 300 {
		docs = append(docs, document{id: uuid.UUID{byte(i >> 8), byte(i)}, version: 1,
			passages: []string{fmt.Sprintf("zebra %s word%d other%d", strings.Repeat("lion ", i%4), i, i/7)}})
	}
	return build(t, docs)
}

func TestEveryDamagedByteIsNoticed(t *testing.T) {
	t.Parallel()
	data := sample(t)
	if _, documents, err := readAll(data); err != nil || documents != 300 {
		t.Fatalf("%d documents: %v", documents, err)
	}
	for i := range data {
		data[i] ^= 0x10
		if _, _, err := readAll(data); err == nil {
			t.Errorf("byte %d of %d is changed without an error", i, len(data))
		}
		data[i] ^= 0x10
	}
	for n := range len(data) {
		if _, _, err := readAll(data[:n]); err == nil {
			t.Errorf("cut after byte %d of %d without an error", n, len(data))
		}
	}
}

func FuzzSegment(f *testing.F) {
	f.Add(build(f, []document{{id: uuid.UUID{1}, version: 1, passages: []string{"zebra lion zebra"}}, {id: uuid.UUID{2}, version: 2, passages: []string{"lion"}}}))
	f.Add(sample(f))
	f.Add(setSample(f))
	f.Add([]byte("DSEG"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _, _ = readAll(data) // must return
		data = segmenttest.Reseal(slices.Clone(data))
		if _, _, err := readAll(data); err == nil {
			if _, err := combine(t, map[uuid.UUID]int64{}, data, data); err != nil {
				t.Errorf("reads well and does not merge: %v", err)
			}
		}
	})
}
