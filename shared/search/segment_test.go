package search_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"docent/shared/search"
	"docent/shared/search/text"
)

// someDocs draws documents of few words, so that terms are shared, some of them
// longer than one chunk.
func someDocs(rt *rapid.T) []search.Document {
	words := strings.Fields("zebra lion grass water Stone parseHTTP run_time v1.2 é 日本語 north south the of")
	n := rapid.IntRange(1, 12).Draw(rt, "documents")
	docs := make([]search.Document, n)
	for i := range docs {
		body := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 20).Draw(rt, "words"), " ")
		if rapid.IntRange(0, 3).Draw(rt, "long") == 0 {
			body = strings.Repeat(body+" water\n\n## part\n\n", 150)
		}
		docs[i] = doc("wiki", fmt.Sprint("t", i), body, int64(i+1))
	}
	return docs
}

func TestSegmentKnowsWhereItsPassagesLie(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		docs := someDocs(rt)
		data, err := search.BuildSegment(search.Documentation, docs)
		if err != nil {
			rt.Fatal(err)
		}
		refs, within, err := search.Places(data)
		if err != nil {
			rt.Fatal(err)
		}
		i := 0
		for _, d := range docs {
			for n, c := range text.Cut(d.Body) {
				if len(d.Body) > text.InlineBytes {
					n++
				}
				for w := range c.Passages {
					if want := (search.Ref{Document: d.ID, Version: d.Version, Chunk: n}); refs[i] != want || within[i] != w {
						rt.Fatalf("passage %d is %d of %+v, want %d of %+v", i, within[i], refs[i], w, want)
					}
					i++
				}
			}
		}
		if i != len(refs) {
			rt.Fatalf("%d passages, want %d", len(refs), i)
		}
	})
}

func TestMergedSegmentEqualsOneBuiltWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		docs := someDocs(rt)
		keep := map[uuid.UUID]int64{}
		var kept []search.Document
		for _, d := range docs {
			switch rapid.IntRange(0, 3).Draw(rt, "fate") {
			case 0: // gone
			case 1:
				keep[d.ID] = d.Version + 1 // replaced
			default:
				keep[d.ID] = d.Version
				kept = append(kept, d)
			}
		}
		var files [][]byte
		for rest := docs; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "in one segment")
			data, err := search.BuildSegment(search.Code, rest[:n])
			if err != nil {
				rt.Fatal(err)
			}
			files = append(files, data)
			if rapid.Bool().Draw(rt, "again") {
				files = append(files, data)
			}
			rest = rest[n:]
		}
		got, err := search.CombineSegments(keep, files...)
		if err != nil {
			rt.Fatal(err)
		}
		want, err := search.BuildSegment(search.Code, kept)
		if err != nil {
			rt.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			rt.Fatalf("%d bytes merged, %d built whole", len(got), len(want))
		}
		if _, n, err := search.ReadSegment(got); err != nil || n != len(kept) {
			rt.Fatalf("read %d documents of %d: %v", n, len(kept), err)
		}
	})
}

// sampleSegment is a file with long lists, in pages and blocks.
func sampleSegment(t testing.TB) []byte {
	t.Helper()
	var docs []search.Document
	for i := range 300 {
		docs = append(docs, doc("wiki", fmt.Sprint("t", i), fmt.Sprintf("zebra %s word%d other%d", strings.Repeat("lion ", i%4), i, i/7), 1))
	}
	data, err := search.BuildSegment(search.Documentation, docs)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestEveryDamagedByteIsNoticed(t *testing.T) {
	t.Parallel()
	data := sampleSegment(t)
	if _, documents, err := search.ReadSegment(data); err != nil || documents != 300 {
		t.Fatalf("%d documents: %v", documents, err)
	}
	for i := range data {
		data[i] ^= 0x10
		if _, _, err := search.ReadSegment(data); err == nil {
			t.Errorf("byte %d of %d is changed and nobody notices", i, len(data))
		}
		data[i] ^= 0x10
	}
	for n := range len(data) {
		if _, _, err := search.ReadSegment(data[:n]); err == nil {
			t.Errorf("cut after byte %d of %d and nobody notices", n, len(data))
		}
	}
}

func FuzzSegment(f *testing.F) {
	small, err := search.BuildSegment(search.Documentation, []search.Document{doc("w", "t", "zebra lion zebra", 1), doc("w", "u", "lion", 2)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(small)
	f.Add(sampleSegment(f))
	f.Add([]byte("DSEG"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _, _ = search.ReadSegment(data) // must return
		data = search.Reseal(slices.Clone(data))
		if _, _, err := search.ReadSegment(data); err == nil {
			if _, err := search.CombineSegments(map[uuid.UUID]int64{}, data, data); err != nil {
				t.Errorf("reads well and does not merge: %v", err)
			}
		}
	})
}
